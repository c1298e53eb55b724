#pragma once
// `mirror sync`: a base index of dependencies, python-deps/, filled from another index. Resolve, check, then the pump
// of publishing: files, METADATA beside them, where each came from, a sealed set, pages, merged pages. Killed anywhere,
// the next run completes it; when all is there, nothing is transferred.
#include "base/result.hpp"
#include "mirror/names.hpp"
#include "mirror/upstream.hpp"
#include "pages/merged.hpp"
#include "publish/publish.hpp"
#include "store/object_store.hpp"
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace quarry::mirror {

/// Where the base index is in a store (docs/formats/run-layout.md).
constexpr std::string_view k_directory = pages::k_base_index;

/// What the store mirrors already, by file name.
Result<std::map<std::string, registry::FileRecord>> mirrored_files(store::ObjectReader& store);
/// Reads METADATA of those from the store, proven by its record.
KnownMetadata metadata_from(store::ObjectReader& store, std::map<std::string, registry::FileRecord> known);

struct TargetPlan {
  Target target;
  Resolution resolution;
};

struct SyncPlan {
  std::vector<TargetPlan> targets;
  std::map<std::string, index::PageFile> files; ///< all that is wanted, by file name
  std::vector<index::PageFile> missing;         ///< those that the store does not have, sorted by file name
  std::uint64_t bytes_missing() const;          ///< as far as the index says sizes
};

/// Nothing is written. already_exists U010 when the index has other bytes under a name that is mirrored.
Result<SyncPlan> plan_sync(Upstream& upstream, const std::map<std::string, registry::FileRecord>& known,
                           const std::vector<Asked>& asked, const std::vector<Target>& targets, const Guard& guard);

struct SyncOptions {
  sys::Timestamp now;
  std::string who, tool;
  std::string index; ///< URL, recorded as the origin
  unsigned transfers = 4;
  pages::PublicUrl public_url = {};                    ///< of the links in the receipt
  std::function<void(std::uint64_t)> on_progress = {}; ///< bytes fetched; from any one thread at a time
};

struct SyncReceipt {
  publish::Receipt published;
  std::size_t files_fetched = 0;
  std::uint64_t bytes_fetched = 0; ///< wheels that were read for their METADATA included
  std::uint64_t writes = 0;        ///< changes of the store
  pages::MergedAll merged;         ///< indexes of runs and channels that show the dependencies, too
};

Result<SyncReceipt> execute_sync(store::ObjectStore& store, Upstream& upstream,
                                 const std::map<std::string, registry::FileRecord>& known, const SyncPlan& plan,
                                 const SyncOptions& options);

} // namespace quarry::mirror
