#pragma once
// Under which URL readers find a store: a bucket behind a CDN is not read at its own address. Pure.
#include "base/result.hpp"
#include "store/object_store.hpp"
#include <string>
#include <vector>

namespace quarry::pages {

class PublicUrl {
public:
  PublicUrl() = default; ///< every store at its own address
  /// "https://cdn.example/x" stands for the root of whatever store is used; "s3://bucket/prefix=https://cdn.example/x"
  /// for that place and all below it. Several are separated by commas. invalid_argument P013: no URL, or one with a
  /// query.
  static Result<PublicUrl> parse(const std::string& text);

  /// The URL of a key, percent-encoded. The longest place that holds it decides, then the URL without a place, then the
  /// store.
  std::string of(const store::ObjectStore& store, const std::string& key) const;
  /// Whether readers find the store somewhere else than at its own address: a web server answers there, which gives the
  /// index.html of a path that ends in a slash (docs/guides/object-storage.md).
  bool covers(const store::ObjectStore& store) const { return row_of(store) != nullptr; }

private:
  struct Row {
    std::string place, url; ///< both without '/' at the end; no place: any store
  };
  const Row* row_of(const store::ObjectStore& store) const;
  std::vector<Row> rows_;
};

} // namespace quarry::pages
