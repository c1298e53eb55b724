#pragma once
// Maps keys of a store to the URLs under which readers find them: a bucket behind a CDN is not read at its own address.
// Pure, no I/O.
#include "base/result.hpp"
#include "store/object_store.hpp"
#include <string>
#include <vector>

namespace quarry::pages {

class PublicUrl {
public:
  PublicUrl() = default; ///< every store is read at its own address
  /// Parses a list separated by commas or spaces. "https://cdn.example/x" is the URL of the root of any store;
  /// "s3://bucket/prefix=https://cdn.example/x" is the URL of that place, for stores that are opened there or below it;
  /// one that is opened above it does not use it. A place is not checked, only compared with describe(). The first URL
  /// of a place counts. Fails with invalid_argument (P013) if a URL is not http(s), ends in "//", or has a query, a
  /// fragment or a character that is not printable ASCII, or if a place has a query.
  static Result<PublicUrl> parse(const std::string& text);

  /// Returns the URL of a key, percent-encoded: by the longest place that contains the store, else by the URL without a
  /// place, else the store's own.
  std::string of(const store::ObjectReader& store, const std::string& key) const;
  /// Whether a public URL applies to the store. A web server is then expected there, which answers a path that ends in
  /// a slash with its index.html (docs/guides/object-storage.md).
  bool covers(const store::ObjectReader& store) const { return row_of(store) != nullptr; }

private:
  struct Row {
    std::string place, url; ///< both without '/' at the end; an empty place applies to any store
  };
  const Row* row_of(const store::ObjectReader& store) const;
  std::vector<Row> rows_;
};

} // namespace quarry::pages
