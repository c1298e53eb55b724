#include "publish/verify.hpp"

#include "base/text.hpp"
#include "publish/refuse.hpp"
#include "publish/resolve.hpp"
#include "store/put_once.hpp"
#include "sys/path.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <map>
#include <mutex>
#include <set>

namespace quarry::publish {

using registry::FileRecord;
using store::ObjectStore;

namespace {

Finding sidecar_defect(const std::string& key, std::string message) {
  return {"P022", Severity::error, key, std::move(message), "`quarry index rebuild` makes it again from the wheel"};
}

Finding defect(const std::string& code, const std::string& key, std::string message) {
  return {code, Severity::error, key, std::move(message),
          code == "P020" ? "publish the run again, or restore the file from a copy"
                         : "restore the file from a copy: a published name never gets other bytes"};
}

/// From the bytes, or from what the store recorded when it checked them.
Result<std::optional<Sha256>> digest_at(ObjectStore& store, const std::string& key, bool recorded_is_enough,
                                        std::optional<std::uint64_t> size) {
  if (recorded_is_enough) {
    TRY(auto info, store.head(key));
    if (!info) return std::optional<Sha256>();
    if (auto recorded = store::recorded_at(*info, size)) return recorded;
  }
  return store::digest_of(store, key);
}

Result<Findings> verify_file(ObjectStore& store, const FileRecord& file, bool recorded_is_enough) {
  Findings found;
  TRY(auto digest, digest_at(store, file.key, recorded_is_enough, file.size));
  if (!digest)
    found.push_back(defect("P020", file.key, "is missing"));
  else if (*digest != file.sha256)
    found.push_back(
        defect("P021", file.key, fmt::format("has sha256 {}, sealed was {}", digest->hex(), file.sha256.hex())));
  if (!file.metadata_sha256) return found;
  TRY(auto sidecar, digest_at(store, file.key + ".metadata", recorded_is_enough, std::nullopt));
  if (!sidecar)
    found.push_back(sidecar_defect(file.key + ".metadata", "is missing"));
  else if (*sidecar != *file.metadata_sha256)
    found.push_back(sidecar_defect(file.key + ".metadata", "is not the METADATA of its wheel"));
  return found;
}

/// "{prefix}/python/g/dist/x.whl" -> "{prefix}/python/g"; a flat form's own directory.
std::string package_directory(const std::string& key) {
  auto directory = path::dirname(key);
  return path::basename(directory) == "dist" ? path::dirname(directory) : directory;
}

/// Only below python/, pytorch/ and jax/: a run holds other archives too.
bool in_package_area(const std::string& key) {
  auto parts = text::split(key, '/');
  return std::any_of(parts.begin(), parts.end() - 1,
                     [](const std::string& part) { return part == "python" || part == "pytorch" || part == "jax"; });
}

Result<std::map<std::string, std::vector<std::string>>> distributions_below(ObjectStore& store,
                                                                            const std::string& prefix) {
  std::map<std::string, std::vector<std::string>> directories;
  TRY(auto objects, store.list(prefix + "/"));
  for (const auto& object : objects)
    if (is_distribution(path::basename(object.key)) && in_package_area(object.key))
      directories[package_directory(object.key)].push_back(object.key);
  return directories;
}

registry::Origin origin_of(const std::string& directory, const std::string& tool) {
  registry::Origin origin;
  origin.tool = tool;
  auto parts = text::split(directory, '/');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto layout = run::Layout::parse(parts[i]);
    if (!layout) continue;
    origin.run_id = layout->run_id();
    origin.platform = layout->platform();
    if (i + 2 < parts.size()) origin.group = parts[i + 2];
    break;
  }
  return origin;
}

/// For a hint; the key itself for a store that is not on this machine.
std::string directory_on_disk(const ObjectStore& store, const std::string& key) {
  auto path = path_of_key(store, key);
  return std::string(path::dirname(path ? *path : key));
}

Result<Plan> plan_adoption_of(ObjectStore& store, const std::string& directory, const std::vector<std::string>& keys,
                              const AdoptOptions& options) {
  std::vector<std::string> names;
  for (const auto& key : keys) names.emplace_back(path::basename(key));
  TRY_DO(refuse_raw_beside_repaired(names, directory_on_disk(store, keys.front())));
  std::vector<PlannedFile> files(keys.size());
  std::vector<Findings> warnings(keys.size());
  std::mutex mutex;
  std::uint64_t done = 0;
  TRY_DO(parallel_for(keys.size(), options.workers, [&](std::size_t i) -> Result<void> {
    TRY(auto path, path_of_key(store, keys[i]));
    TRY(auto described, options.describe(path, 1));
    TRY_DO(refuse_libraries_without_library(described));
    warnings[i] = std::move(described.warnings);
    described.file.key = keys[i];
    described.file.tags = tags_of(described.file.filename);
    files[i] = {path, std::move(described.file), std::move(described.sidecar), true};
    std::lock_guard lock(mutex);
    done += files[i].file.size;
    if (options.on_progress) options.on_progress(done);
    return {};
  }));
  TRY(auto plan, plan_adoption(store, directory, origin_of(directory, options.tool), std::move(files), options.now));
  for (auto& of_one : warnings) std::ranges::move(of_one, std::back_inserter(plan.notes));
  return plan;
}

} // namespace

Result<Findings> verify_sets(ObjectStore& store, const std::vector<registry::SealedSet>& sets,
                             const VerifyOptions& options) {
  TRY(auto files, registry::union_of(sets));
  std::vector<Findings> found(files.size());
  std::mutex mutex;
  std::uint64_t done = 0;
  TRY_DO(parallel_for(files.size(), options.workers, [&](std::size_t i) -> Result<void> {
    TRY(found[i], verify_file(store, files[i], options.recorded_is_enough));
    std::lock_guard lock(mutex);
    done += files[i].size;
    if (options.on_progress) options.on_progress(done);
    return {};
  }));
  Findings all;
  for (auto& of_file : found) all.insert(all.end(), of_file.begin(), of_file.end());
  return all;
}

Result<std::vector<std::string>> package_directories(ObjectStore& store, const std::string& prefix) {
  TRY(auto directories, distributions_below(store, prefix));
  std::vector<std::string> names;
  for (const auto& [directory, keys] : directories) names.push_back(directory);
  return names;
}

Result<std::vector<Plan>> plan_adoptions(ObjectStore& store, const std::string& prefix, const AdoptOptions& options) {
  TRY(auto directories, distributions_below(store, prefix));
  if (directories.empty())
    return fail(ErrorKind::not_found, "P001",
                fmt::format("{} holds no wheel and no source distribution below {}", store.describe(), prefix),
                "packages are in python/, pytorch/ or jax/ of a run");
  std::vector<Plan> plans;
  for (const auto& [directory, keys] : directories) {
    TRY(auto plan, plan_adoption_of(store, directory, keys, options), "while adopting " + directory);
    plans.push_back(std::move(plan));
  }
  return plans;
}

} // namespace quarry::publish
