#include "publish/upkeep.hpp"

#include "index/site.hpp"
#include "pages/merged.hpp"
#include "pages/projection.hpp"
#include "publish/publish.hpp"
#include "publish/resolve.hpp"
#include "registry/bound.hpp"
#include "registry/distributions.hpp"
#include "registry/evidence_marks.hpp"
#include "run/layout.hpp"
#include "store/put_once.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <set>

namespace quarry::publish {

using registry::SealedSet;
using store::ObjectReader;
using store::ObjectStore;

namespace {

void add(Repaired& total, std::string place, const pages::Projected& projected) {
  total.places.push_back(std::move(place));
  total.pages_written += projected.pages_written;
  total.pages_removed += projected.pages_removed;
  std::ranges::move(pages::foreign_notes(projected), std::back_inserter(total.notes));
}

void add_merged(Repaired& total, const std::string& directory, pages::Merged merged) {
  if (!merged.exists) return;
  total.places.push_back(pages::merged_directory(directory));
  total.pages_written += merged.pages_written;
  total.pages_removed += merged.pages_removed;
  std::move(merged.notes.begin(), merged.notes.end(), std::back_inserter(total.notes));
}

std::set<std::string> directories_of(const std::vector<SealedSet>& sets) {
  std::set<std::string> directories;
  for (const auto& sealed : sets) directories.insert(sealed.set.directory);
  return directories;
}

/// An immutable record whose bytes are known: put back where it is missing or altered.
Result<std::uint64_t> restore(ObjectStore& store, const std::string& key, const std::string& bytes) {
  TRY(auto present, store.get(key, registry::k_record_bytes_max));
  if (present && *present == bytes) return std::uint64_t{0};
  store::PutOptions options;
  options.content_type = "application/json";
  options.cache_control = k_immutable;
  TRY_DO(store.put(key, content::Rope::literal(bytes), options));
  return std::uint64_t{1};
}

/// The file of a key: where it lies, or a copy that goes with the value.
Result<index::LocalFile> local_file(ObjectReader& store, const std::string& key, const std::string& temporary) {
  auto path = path_of_key(store, key);
  if (path) return index::LocalFile(std::move(*path));
  return index::fetched(store, key, temporary);
}

Result<std::uint64_t> restore_sidecar(ObjectStore& store, const registry::FileRecord& file, const Describe& describe,
                                      const std::string& temporary) {
  if (!file.metadata_sha256) return std::uint64_t{0};
  auto key = file.key + ".metadata";
  TRY(auto present, store.digest(key));
  if (present == file.metadata_sha256) return std::uint64_t{0};
  TRY(auto local, local_file(store, file.key, temporary));
  TRY(auto described, describe(local.path(), 1));
  if (described.file.sha256 != file.sha256)
    return fail(ErrorKind::corrupt, "P021", fmt::format("{} is not the wheel that was sealed", file.key),
                "restore the file from a copy: a published name never gets other bytes");
  store::PutOptions options;
  options.content_type = k_sidecar_type;
  options.cache_control = k_immutable;
  TRY_DO(store.put(key, content::Rope::literal(described.sidecar), options));
  return std::uint64_t{1};
}

enum class Place : std::uint8_t { run, distribution };

Result<void> repair_into(Repaired& done, ObjectStore& store, const std::string& directory, Place place) {
  auto projected = place == Place::distribution ? pages::project_distribution(store, directory)
                                                : pages::project_directory(store, directory);
  if (!projected) return fail(std::move(projected).error());
  add(done, directory, *projected);
  TRY(auto merged, pages::merge_directory(store, directory, {.thorough = true}));
  add_merged(done, directory, std::move(merged));
  return {};
}

Result<void> repair_runs(Repaired& done, ObjectStore& store, const std::set<std::string>& directories) {
  std::set<std::string> seen;
  for (const auto& directory : directories) {
    auto run = run::run_of(directory);
    if (run.empty() || !seen.insert(run).second) continue;
    TRY(auto merged, pages::merge_run_of(store, directory, {.thorough = true}));
    add_merged(done, run, std::move(merged));
    TRY(auto groups, pages::merge_groups_of(store, directory, {.thorough = true}));
    std::ranges::move(groups.directories, std::back_inserter(done.places));
    std::ranges::move(groups.notes, std::back_inserter(done.notes));
    done.pages_written += groups.pages_written;
    done.pages_removed += groups.pages_removed;
  }
  return {};
}

} // namespace

Result<Repaired> repair_channel(ObjectStore& store, const std::string& name) {
  Repaired done;
  TRY(auto channel, registry::require_channel(store, name));
  TRY(auto bound, registry::bound_by_moves(store, channel.record));
  // Pages of an edited record would show what no move brought. Nobody knows what a lost move left.
  if (bound.lost.empty()) TRY_DO(registry::check_bound(bound, name));
  TRY(auto projected, pages::project_channel(store, name, pages::Extent::whole));
  add(done, registry::channel_directory(name), projected);
  TRY(auto merged, pages::merge_channel(store, name, {.thorough = true}));
  add_merged(done, registry::channel_directory(name), std::move(merged));
  return done;
}

Result<std::optional<Repaired>> repair_distribution(ObjectStore& store, const std::string& directory) {
  TRY(auto pointer, store.head(registry::distribution_key(directory)));
  if (!pointer) return std::optional<Repaired>();
  Repaired done;
  TRY_DO(repair_into(done, store, directory, Place::distribution));
  return std::optional(std::move(done));
}

Result<Repaired> repair_directories(ObjectStore& store, const std::vector<SealedSet>& sets) {
  Repaired done;
  for (const auto& directory : directories_of(sets)) {
    TRY(auto pointer, store.head(registry::distribution_key(directory)));
    TRY_DO(repair_into(done, store, directory, pointer ? Place::distribution : Place::run));
  }
  TRY_DO(repair_runs(done, store, directories_of(sets)));
  return done;
}

Result<Repaired> rebuild_channel(ObjectStore& store, const std::string& name) {
  TRY(auto channel, registry::require_channel(store, name));
  TRY(auto record, registry::load_view(store, channel.record.view), "while rebuilding channel " + name);
  std::vector<SealedSet> sets;
  for (const auto& digest : record.sets) {
    TRY(auto sealed, registry::load_sealed(store, digest), "while rebuilding channel " + name);
    sets.push_back(std::move(sealed));
  }
  TRY(auto view, registry::make_view(sets));
  view.record.unknown = record.unknown; // what the sets do not say, such as empty extras: the digest covers it
  view.digest = registry::digest_of(view.record);
  if (view.digest != channel.record.view)
    return fail(ErrorKind::corrupt, "P030",
                fmt::format("the sets of channel {} do not give the view that it names", name),
                "compare the store with a copy; nothing was changed");
  std::uint64_t restored = 0;
  for (const auto& shard : view.shards) {
    TRY(auto written,
        restore(store, registry::shard_key(view.record.shards.at(shard.project)), registry::to_json(shard)));
    restored += written;
  }
  TRY(auto done, repair_channel(store, name));
  done.records_written = restored;
  TRY(done.evidence_marked, registry::mark_all_evidence(store));
  return done;
}

Result<Repaired> rebuild_directories(ObjectStore& store, const std::vector<SealedSet>& sets, const Describe& describe,
                                     const std::string& temporary) {
  std::uint64_t restored = 0;
  for (const auto& sealed : sets)
    for (const auto& file : sealed.set.files) {
      TRY(auto written, restore_sidecar(store, file, describe, temporary));
      restored += written;
    }
  TRY(auto done, repair_directories(store, sets));
  done.records_written = restored;
  TRY(done.evidence_marked, registry::mark_all_evidence(store));
  return done;
}

} // namespace quarry::publish
