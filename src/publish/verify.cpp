#include "publish/verify.hpp"

#include "base/text.hpp"
#include "publish/adoption.hpp"
#include "publish/distribute.hpp"
#include "publish/foreign.hpp"
#include "publish/history.hpp"
#include "publish/placement.hpp"
#include "publish/read_whole.hpp"
#include "publish/refuse.hpp"
#include "publish/resolve.hpp"
#include "publish/shown.hpp"
#include "registry/history.hpp"
#include "registry/sidecars.hpp"
#include "registry/union.hpp"
#include "run/locator.hpp"
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
using store::ObjectReader;
using store::ObjectStore;

namespace {

Finding sidecar_defect(const std::string& key, std::string message) {
  return {"P022", Severity::error, key, std::move(message), registry::rebuild_hint(key)};
}

Finding defect(const std::string& code, const std::string& key, std::string message) {
  return {code, Severity::error, key, std::move(message),
          code == "P020" ? "publish the run again, or restore the file from a copy"
                         : "restore the file from a copy: a published name never gets other bytes"};
}

/// From the bytes, or from what the store recorded when it checked them.
Result<std::optional<Sha256>> digest_at(ObjectReader& store, const std::string& key, const VerifyOptions& options,
                                        std::optional<std::uint64_t> size) {
  if (!options.recorded_is_enough && !options.hashed) return store.digest(key);
  TRY(auto info, store.head(key));
  if (!info) return std::optional<Sha256>();
  auto known = options.hashed ? options.hashed->find(*info) : std::nullopt;
  if (!known && options.recorded_is_enough) known = store::recorded_at(*info, size);
  if (known) return known;
  TRY(auto digest, store.digest(key));
  if (digest && options.hashed) options.hashed->add(*info, *digest);
  return digest;
}

Result<Findings> verify_file(ObjectReader& store, const FileRecord& file, const VerifyOptions& options) {
  Findings found;
  TRY(auto digest, digest_at(store, file.key, options, file.size));
  if (!digest)
    found.push_back(defect("P020", file.key, "is missing"));
  else if (*digest != file.sha256)
    found.push_back(
        defect("P021", file.key, fmt::format("has sha256 {}, sealed was {}", digest->hex(), file.sha256.hex())));
  if (!file.metadata_sha256) return found;
  TRY(auto sidecar, digest_at(store, file.key + ".metadata", options, std::nullopt));
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

/// Only below python/, pytorch/ and jax/ of a run: a run holds other archives too, and a bucket has directories of
/// these names that are not a run's.
bool in_package_area(const std::string& key) {
  auto parts = text::split(key, '/');
  auto run = std::find_if(parts.begin(), parts.end() - 1, run::is_run_place);
  return std::any_of(run, parts.end() - 1,
                     [](const std::string& part) { return part == "python" || part == "pytorch" || part == "jax"; });
}

using Objects = std::vector<store::ObjectInfo>;

Result<std::map<std::string, Objects>> distributions_below(ObjectReader& store, const std::string& prefix) {
  std::map<std::string, Objects> directories;
  TRY(auto objects, store.list(prefix + "/"));
  for (auto& object : objects)
    if (is_distribution(path::basename(object.key)) && in_package_area(object.key))
      directories[package_directory(object.key)].push_back(std::move(object));
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
std::string directory_on_disk(const ObjectReader& store, const std::string& key) {
  auto path = path_of_key(store, key);
  return std::string(path::dirname(path ? *path : key));
}

/// What will be read, over all directories.
struct Amount {
  std::uint64_t files = 0, bytes = 0;
  void add(const Objects& objects, const AdoptNotes& notes) {
    for (const auto& object : objects)
      if (must_be_read(object, notes)) ++files, bytes += object.size;
  }
};

Result<AdoptNotes> notes_in(ObjectReader& store, const std::string& directory) {
  if (path_of_key(store, "x")) return AdoptNotes(); // reading a disk again is cheap
  return read_adopt_notes(store, directory);
}

/// A run's notes lie in the directory of the files, which may be below the package directory.
Result<AdoptNotes> notes_of(ObjectReader& store, const Objects& objects) {
  return notes_in(store, std::string(path::dirname(objects.front().key)));
}

/// Whether the key is a package of the repository in the directory, which is flat or has a directory for each project.
bool is_package_below(const std::string& directory, const std::string& key) {
  auto rest = std::string_view(key).substr(directory.size() + 1);
  return is_distribution(path::basename(key)) && (rest.find('/') == rest.npos || !package_at(rest).empty());
}

struct Adopting {
  std::string directory;
  Objects objects;
  AdoptNotes notes;
  registry::Origin origin;
  std::map<std::string, std::string> yanked = {}; ///< why, by file name
  std::vector<std::string> given_up = {};         ///< names that an earlier move was allowed to leave out
};

/// The packages of a directory outside a run that were yanked there: by what was taken over, and by the pages of
/// another tool, which ours replace.
Result<std::map<std::string, std::string>> yanked_in(ObjectReader& store, const std::string& directory, Objects all,
                                                     const registry::History& history, unsigned transfers) {
  std::map<std::string, std::string> yanked;
  for (const auto& file : history.files)
    if (!file.yanked.empty()) yanked.emplace(file.filename, file.yanked);
  TRY(auto unshown, unshown_packages(store, {directory, std::move(all), {}}, transfers));
  for (const auto& [name, one] : unshown)
    if (one.said.yanked) yanked.emplace(name, one.said.yank_reason.empty() ? "yanked" : one.said.yank_reason);
  return yanked;
}

/// Leaves out what cannot be sealed and was given up by name; its links are lost.
Result<void> give_up(std::vector<ReadWhole>& read, Objects& objects, const GivenUp& given_up, Findings& notes,
                     std::set<std::string>& used) {
  std::vector<ReadWhole> kept;
  Objects kept_objects;
  for (std::size_t i = 0; i < read.size(); ++i) {
    auto& defect = read[i].defect;
    auto name = std::string(path::basename(objects[i].key));
    if (!defect) {
      kept.push_back(std::move(read[i]));
      kept_objects.push_back(std::move(objects[i]));
      continue;
    }
    if (!given_up.is_now(name, used) && !given_up.was_earlier(name)) {
      defect->hint += fmt::format("{}give it up with `--replace {}`, or restore it; no file was changed",
                                  defect->hint.empty() ? "" : "; ", name);
      return fail(std::move(*defect));
    }
    notes.push_back({"P123", Severity::warning, objects[i].key,
                     "is left out, and our pages do not show it: " + defect->message, ""});
  }
  read = std::move(kept);
  objects = std::move(kept_objects);
  return {};
}

Result<void> refuse_unsealed(const AdoptOptions& options, const std::set<std::string>& used, const std::string& place) {
  for (const auto& wanted : options.let_go)
    if (!used.contains(wanted))
      return fail(ErrorKind::invalid_argument, "P110",
                  fmt::format("--replace {}: no package of {} that cannot be sealed is called so", wanted, place),
                  "leave it out; without it the command says what cannot be sealed");
  return {};
}

Result<Plan> plan_adoption_of(ObjectStore& store, const Adopting& adopting, const AdoptOptions& options,
                              std::set<std::string>& used) {
  auto objects = adopting.objects;
  std::vector<std::string> names;
  for (const auto& object : objects) names.emplace_back(path::basename(object.key));
  TRY_DO(refuse_raw_beside_repaired(names, directory_on_disk(store, objects.front().key)));
  std::vector<ReadWhole> read(objects.size());
  std::mutex mutex;
  std::uint64_t done = 0;
  TRY_DO(parallel_for(objects.size(), options.workers, [&](std::size_t i) -> Result<void> {
    TRY(read[i], read_whole(store, objects[i], adopting.notes, options));
    std::lock_guard lock(mutex);
    done += objects[i].size;
    if (options.on_progress) options.on_progress(done);
    return {};
  }));
  std::vector<PlannedFile> files;
  Findings warnings;
  TRY_DO(give_up(read, objects, {options.let_go, adopting.given_up}, warnings, used));
  for (auto& one : read) {
    if (auto why = adopting.yanked.find(one.planned.file.filename); why != adopting.yanked.end())
      one.planned.file.yanked = why->second;
    files.push_back(std::move(one.planned));
    std::ranges::move(one.warnings, std::back_inserter(warnings));
  }
  TRY(auto plan, plan_adoption(store, adopting.directory, adopting.origin, std::move(files), options.now));
  std::ranges::move(warnings, std::back_inserter(plan.notes));
  plan.seen = std::move(objects);
  return plan;
}

} // namespace

Result<void> still_as_read(ObjectReader& store, const Plan& plan) {
  std::set<std::string> directories;
  for (const auto& seen : plan.seen) directories.emplace(path::dirname(seen.key));
  std::map<std::string, store::ObjectInfo> now;
  for (const auto& directory : directories) {
    TRY(auto listed, store.children(directory + "/"));
    for (auto& object : listed.objects) now.emplace(object.key, std::move(object));
  }
  for (const auto& seen : plan.seen) {
    auto at = now.find(seen.key);
    if (at == now.end() || at->second.etag != seen.etag || at->second.size != seen.size ||
        at->second.modified_us != seen.modified_us)
      return changed_since(seen.key);
  }
  return {};
}

std::optional<Sha256> Hashed::find(const store::ObjectInfo& object) const {
  std::lock_guard lock(mutex_);
  auto found = known_.find({object.key, object.etag});
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

void Hashed::add(const store::ObjectInfo& object, const Sha256& digest) {
  if (object.etag.empty()) return; // the file store's head() does not say which version it is
  std::lock_guard lock(mutex_);
  known_.insert_or_assign({object.key, object.etag}, digest);
}

Result<Findings> verify_sets(ObjectReader& store, const std::vector<registry::SealedSet>& sets,
                             const VerifyOptions& options) {
  std::vector<registry::FileList> lists;
  for (const auto& sealed : sets) lists.push_back(&sealed.set.files);
  TRY(auto files, registry::union_of(lists));
  auto asked = options;
  if (path_of_key(store, "x")) asked.recorded_is_enough = false, asked.hashed = nullptr; // a disk records no digests
  std::vector<Findings> found(files.size());
  std::mutex mutex;
  std::uint64_t done = 0;
  TRY_DO(parallel_for(files.size(), options.workers, [&](std::size_t i) -> Result<void> {
    TRY(found[i], verify_file(store, *files[i], asked));
    if (!options.on_progress) return {};
    std::lock_guard lock(mutex);
    done += files[i]->size;
    options.on_progress(done);
    return {};
  }));
  Findings all;
  for (auto& of_file : found) all.insert(all.end(), of_file.begin(), of_file.end());
  return all;
}

Result<std::vector<std::string>> package_directories(ObjectReader& store, const std::string& prefix) {
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
                "packages are in python/, pytorch/ or jax/ of a run; of an index name the directory that holds its "
                "packages, or the directories of its projects: v4/whl, v5/rocm/core/whl-next");
  std::vector<Adopting> all;
  Amount amount;
  for (auto& [directory, objects] : directories) {
    TRY(auto notes, notes_of(store, objects));
    amount.add(objects, notes);
    all.push_back({directory, std::move(objects), std::move(notes), origin_of(directory, options.tool)});
  }
  if (options.on_start) options.on_start(amount.files, amount.bytes);
  std::vector<Plan> plans;
  std::set<std::string> used;
  for (const auto& adopting : all) {
    TRY(auto plan, plan_adoption_of(store, adopting, options, used), "while adopting " + adopting.directory);
    plans.push_back(std::move(plan));
  }
  TRY_DO(refuse_unsealed(options, used, prefix));
  return plans;
}

Result<std::optional<Plan>> plan_sealing(ObjectStore& store, const std::string& directory,
                                         const AdoptOptions& options) {
  TRY(auto all, check_place(store, directory));
  TRY(auto sets, registry::sealed_sets_below(store, directory));
  std::set<std::string> sealed;
  for (const auto& set : sets)
    for (const auto& file : set.set.files) sealed.insert(file.key);
  Objects objects;
  for (const auto& object : all)
    if (is_package_below(directory, object.key) && !sealed.contains(object.key)) objects.push_back(object);
  if (objects.empty()) {
    TRY_DO(refuse_unsealed(options, {}, directory));
    return std::optional<Plan>();
  }
  TRY(auto notes, notes_in(store, directory));
  Amount amount;
  amount.add(objects, notes);
  if (options.on_start) options.on_start(amount.files, amount.bytes);
  registry::Origin origin;
  origin.tool = options.tool;
  TRY(auto history, registry::history_of(store, directory));
  TRY(auto yanked, yanked_in(store, directory, std::move(all), history, options.workers));
  std::set<std::string> used;
  Adopting adopting{directory, std::move(objects), std::move(notes),
                    origin,    std::move(yanked),  std::move(history.given_up)};
  TRY(auto plan, plan_adoption_of(store, adopting, options, used), "while sealing what is in " + directory);
  TRY_DO(refuse_unsealed(options, used, directory));
  return plan.files.empty() ? std::nullopt : std::optional(std::move(plan));
}

Result<void> forget_notes(ObjectStore& store, const Plan& plan) {
  if (path_of_key(store, "x")) return {}; // none were written
  std::set<std::string> directories;
  for (const auto& file : plan.files) directories.emplace(path::dirname(file.file.key));
  for (const auto& directory : directories) TRY_DO(remove_adopt_notes(store, directory));
  return {};
}

Result<Findings> seal_in_place(ObjectStore& store, const Plan& plan, const Sealing& sealing) {
  TRY_DO(still_as_read(store, plan));
  for (const auto& file : plan.files)
    if (file.file.metadata_sha256) TRY_DO(store_metadata_file(store, file.file.key, file.sidecar));
  TRY(auto digest, registry::put_set(store, plan.set));
  TRY_DO(registry::claim_distribution(store, plan.directory));
  registry::DistributionMove move{registry::Action::read("adopt"), {}, sealing.who, sealing.now, sealing.why};
  // Before the seal: what is not sealed does not count, and a run that is killed in between leaves files that the next
  // one still finds unsealed.
  TRY_DO(show_sets(store, plan.directory, {{digest, {}}}, move, {.key = sealing.completion.key}));
  TRY_DO(still_as_read(store, plan)); // again: all of this took its time
  TRY_DO(registry::seal(store, digest, sealing.now));
  return complete_adoption(store, plan.directory, sealing.completion);
}

} // namespace quarry::publish
