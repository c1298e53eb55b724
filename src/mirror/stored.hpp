#pragma once
// The base index of a store as something to choose from: what `mirror sync` put there, proven by its records.
#include "mirror/resolve.hpp"
#include "registry/records.hpp"
#include "store/object_store.hpp"
#include <map>
#include <string>

namespace quarry::mirror {

class StoredIndex final : public Candidates {
public:
  /// `known`: mirrored_files(store). The store outlives it.
  StoredIndex(store::ObjectReader& store, std::map<std::string, registry::FileRecord> known);
  /// not_found U003 for a project that is not mirrored. No request.
  Result<const index::IndexPage*> page(const std::string& project) override;
  /// One request; corrupt R011 if the bytes are not those of the record.
  Result<dist::Metadata> metadata(const index::PageFile& file) override;

private:
  store::ObjectReader& store_;
  std::map<std::string, registry::FileRecord> known_;
  std::map<std::string, index::IndexPage> pages_;
  std::map<std::string, dist::Metadata> read_;
};

} // namespace quarry::mirror
