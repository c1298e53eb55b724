#include "mirror/stored.hpp"

#include <fmt/core.h>
#include <utility>

namespace quarry::mirror {

StoredIndex::StoredIndex(store::ObjectReader& store, std::map<std::string, registry::FileRecord> known)
    : store_(store), known_(std::move(known)) {
  for (const auto& [filename, record] : known_) {
    index::PageFile file;
    file.filename = filename;
    file.hashes = {{"sha256", record.sha256.hex()}};
    file.requires_python = record.requires_python;
    file.yanked = !record.yanked.empty();
    file.size = record.size;
    pages_[record.project].files.push_back(std::move(file));
  }
}

Result<const index::IndexPage*> StoredIndex::page(const std::string& project) {
  if (auto found = pages_.find(project); found != pages_.end()) return &found->second;
  return fail(ErrorKind::not_found, "U003",
              fmt::format("the base index of {} has no project {}", store_.describe(), project),
              "add it to the requirements of `quarry mirror sync`");
}

Result<dist::Metadata> StoredIndex::metadata(const index::PageFile& file) {
  if (auto known = read_.find(file.filename); known != read_.end()) return known->second;
  const auto& record = known_.at(file.filename);
  TRY(auto text, store_.get(record.key + ".metadata", dist::k_metadata_bytes_max));
  if (!text || !record.metadata_sha256 || sha256(*text) != *record.metadata_sha256)
    return fail(ErrorKind::corrupt, "R011", fmt::format("METADATA of {} is not what its record says", record.key),
                "`quarry index rebuild python-deps` makes it again from the wheel");
  TRY(auto metadata, dist::Metadata::parse(*text), "while reading METADATA of " + file.filename);
  return read_.emplace(file.filename, std::move(metadata)).first->second;
}

} // namespace quarry::mirror
