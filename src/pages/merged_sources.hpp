#pragma once
// The two that a merged index is made from, project by project. Private to the room.
#include "base/finding.hpp"
#include "registry/registry.hpp"
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace quarry::pages {

/// One project's files, by the digest of their shard; of a channel, which may be large, read when they are needed.
struct Project {
  registry::ShardDigest shard;
  std::optional<registry::ShardRecord> record;
};
using Projects = std::map<std::string, Project>;

struct Source {
  std::string place;
  std::function<Result<std::string>()> token; ///< changes with what it shows; "": it shows nothing
  std::function<Result<Projects>(const std::string& token)> projects; ///< called after token(), with what it said
};

Source directory_source(store::ObjectStore& store, const std::string& directory);
Source channel_source(store::ObjectStore& store, const std::string& name);
/// The same, read once for as long as its token stays. Thread-safe.
Source read_once(Source source);

Result<std::vector<registry::FileRecord>> files_of(store::ObjectStore& store, const Project& project);

/// Takes out of `base` what `own`, shown in `place`, has, too: P050 each.
Result<Findings> give_one_owner(store::ObjectStore& store, const std::string& place, const Projects& own,
                                Projects& base);

} // namespace quarry::pages
