#include "derive/finalize.hpp"

#include "base/text.hpp"
#include "derive/occurrences.hpp"
#include "derive/sealed_bytes.hpp"
#include "dist/family.hpp"
#include "dist/name.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <mutex>
#include <optional>
#include <set>

namespace quarry::derive {

using registry::FileRecord;
using store::ObjectReader;

namespace {

Result<std::string> candidate_version_of(const FinalizeRequest& request) {
  if (!request.candidate_version.empty()) return request.candidate_version;
  std::set<std::string> versions;
  for (const auto& sealed : request.sets)
    for (const auto& file : sealed.set.files)
      if (file.project == dist::k_sdk_project) versions.insert(file.version);
  if (versions.size() == 1) return *versions.begin();
  auto names = std::vector<std::string>(versions.begin(), versions.end());
  return fail(ErrorKind::invalid_argument, "O100",
              versions.empty() ? "no set holds the package `rocm`, whose version is the candidate's"
                               : fmt::format("the sets hold several versions of `rocm`: {}", text::join(names, ", ")),
              "name the version that is to be replaced with `--candidate VERSION`");
}

/// "42-linux/pytorch/gfx94X-dcgpu" -> "pytorch"
std::string area_of(const std::string& directory) {
  for (const auto& part : text::split(directory, '/'))
    if (part == "pytorch" || part == "jax") return part;
  return "python";
}

std::string free_name(const registry::SealedSet& sealed, std::set<std::string>& taken) {
  const auto& origin = sealed.set.origin;
  auto name = fmt::format("{}-{}{}", origin.platform.empty() ? "any" : origin.platform.text(),
                          area_of(sealed.set.directory), origin.group.empty() ? "" : "-" + origin.group);
  auto numbered = name;
  for (int i = 2; !taken.insert(numbered).second; ++i) numbered = fmt::format("{}-{}", name, i);
  return numbered;
}

PlannedSet planned_set(const registry::SealedSet& sealed, const dist::VersionChange& change) {
  PlannedSet planned{sealed, {}, area_of(sealed.set.directory), {}};
  for (const auto& file : sealed.set.files) {
    auto version = change.of(file.version);
    planned.packages.push_back({file, version.value_or(file.version), !version});
  }
  return planned;
}

/// The record of the packages that lie in `path`, if they were made of this set for this version.
std::optional<registry::DerivationRecord> record_in(const std::string& path, const PlannedSet& planned,
                                                    const dist::VersionChange& change) {
  auto text = sys::read_file(path::join(path, k_derivation_file), registry::k_record_bytes_max);
  auto record = text ? registry::parse_derivation(*text) : Result<registry::DerivationRecord>(fail(text.error()));
  bool same = record && record->candidate == planned.candidate.digest && record->version == change.release().str() &&
              record->candidate_version == change.candidate().str();
  return same ? std::optional(std::move(*record)) : std::nullopt;
}

Unexpected in_the_way(const std::string& dist, const std::string& what) {
  return fail(ErrorKind::already_exists, "O103", fmt::format("{} holds {} already", dist, what),
              "name another --output-dir, or remove what is there");
}

/// The packages that are in the way of a set's new ones. What a run that was killed has left or made is not.
Result<void> check_free(const std::string& path, const PlannedSet& planned, const FinalizePlan& plan,
                        const registry::ReleaseDigest& release) {
  auto dist = path::join(path, "dist");
  if (!sys::exists(dist)) return {};
  TRY(auto present, sys::list_directory(dist));
  std::erase_if(present, [](const auto& entry) { return entry.path == dist::k_being_built; });
  if (present.empty()) return {};
  if (auto record = record_in(path, planned, plan.change)) {
    if (record->release == release) return {}; // made_before() looks at the packages
    return in_the_way(dist, record->release.empty() ? "packages that were made for no release"
                                                    : "packages of release:" + record->release.short_hex());
  }
  if (sys::exists(path::join(dist, dist::k_being_built))) return {};
  return in_the_way(dist, present.front().path);
}

/// The directory of a set's packages, empty and marked as being built.
class Workshop {
public:
  static Result<Workshop> open(const std::string& path) {
    Workshop shop(path);
    auto marker = path::join(shop.dist(), dist::k_being_built);
    bool was_marked = sys::exists(marker);
    TRY_DO(sys::make_directories(shop.dist()));
    auto lock = sys::FileLock::try_acquire(marker);
    if (!lock) return fail(std::move(lock).error());
    if (!*lock)
      return fail(ErrorKind::precondition_failed, "O103", fmt::format("another run writes to {}", path),
                  "wait until it has finished, or name another --output-dir");
    shop.lock_.emplace(std::move(**lock));
    // The run that set the marker may have finished before the lock was free. It writes the record last, so packages
    // with a record are whole and stay.
    auto record = path::join(path, k_derivation_file);
    bool leftover = was_marked && !sys::exists(record);
    TRY(auto present, sys::list_directory(shop.dist()));
    for (const auto& entry : present) {
      if (entry.path == dist::k_being_built) continue;
      if (!leftover) {
        TRY_DO(sys::remove_file(marker));
        return in_the_way(shop.dist(), entry.path);
      }
      TRY_DO(sys::remove_file(path::join(shop.dist(), entry.path))); // of a run that was killed
    }
    if (sys::exists(record)) TRY_DO(sys::remove_file(record)); // somebody removed the packages that it was about
    return shop;
  }
  std::string dist() const { return path::join(path_, "dist"); }
  /// The last step: what `publish` looks for, then the directory is no longer being built.
  Result<void> close(const registry::DerivationRecord& record) {
    TRY_DO(sys::write_file(path::join(path_, k_derivation_file), registry::to_json(record)));
    return sys::remove_file(path::join(dist(), dist::k_being_built));
  }

private:
  explicit Workshop(std::string path) : path_(std::move(path)) {}
  std::string path_;
  std::optional<sys::FileLock> lock_;
};

Result<void> copy_bytes(const Package& package, const std::string& path) {
  TRY(auto file, sys::AtomicFile::create(path));
  std::uint64_t at = 0;
  TRY_DO(content::pump(package.bytes, [&](std::span<const std::byte> part) -> Result<void> {
    TRY_DO(sys::check_interrupted());
    TRY_DO(file.file().write_at(at, part));
    at += part.size();
    return {};
  }));
  return file.commit_replace();
}

struct Job {
  const PlannedPackage& package;
  std::string dist;
  const dist::VersionChange& change;
};
struct Done {
  registry::DerivedFile file;
  Findings findings;
};

Result<Done> copy_package(const Job& job, const Package& old) {
  const auto& candidate = job.package.candidate;
  TRY(bool pins, metadata_changes(old, job.change));
  if (pins)
    return fail(ErrorKind::invalid_argument, "O101",
                fmt::format("{} requires {}, and its own version does not name it", old.file_name,
                            job.change.candidate().str()),
                "build the package for the release: its name would stay, and a published name never gets other bytes");
  TRY_DO(copy_bytes(old, path::join(job.dist, old.file_name)), "while copying " + old.file_name);
  return Done{{candidate.filename, candidate.filename, candidate.sha256, candidate.sha256, {}, {}}, {}};
}

Result<Done> make_package(const Job& job, const Package& old, unsigned workers) {
  const auto& candidate = job.package.candidate;
  TRY(auto made, renew_package(old, job.change, job.dist), "while making the release of " + old.file_name);
  TRY(auto bytes, content::Rope::file(made.path));
  Package fresh{made.file_name, std::move(bytes)};
  TRY_DO(prove_package({fresh, old}, job.change));
  Done done;
  TRY(auto digest, content::sha256_of(fresh.bytes));
  TRY(done.findings, find_occurrences(fresh, {job.change.candidate().str(), workers}));
  done.file = {made.file_name, candidate.filename, digest, candidate.sha256, std::move(made.changed), {}};
  return done;
}

Result<Done> make_one(ObjectReader& store, const Job& job, unsigned workers) {
  TRY(auto old, sealed_bytes(store, job.package.candidate));
  return job.package.copied ? copy_package(job, old) : make_package(job, old, workers);
}

/// Whether `dist` holds exactly the files of the record.
Result<bool> holds(const std::string& dist, const registry::DerivationRecord& record) {
  if (!sys::exists(dist)) return false;
  TRY(auto present, sys::list_directory(dist));
  std::erase_if(present, [](const auto& entry) { return entry.path == dist::k_being_built; });
  if (present.size() != record.files.size()) return false;
  for (const auto& file : record.files) {
    auto path = path::join(dist, file.filename);
    if (!sys::exists(path)) return false;
    TRY(auto bytes, content::Rope::file(path));
    TRY(auto digest, content::sha256_of(bytes));
    if (digest != file.sha256) return false;
  }
  return true;
}

/// The record says what lies in `dist`, and it is not that: nothing is in the way only if nothing is there.
Result<std::optional<MadeSet>> altered(const std::string& dist) {
  if (!sys::exists(dist)) return std::optional<MadeSet>();
  TRY(auto present, sys::list_directory(dist));
  std::erase_if(present, [](const auto& entry) { return entry.path == dist::k_being_built; });
  if (present.empty()) return std::optional<MadeSet>();
  return in_the_way(dist, "other packages than its record says");
}

/// What an earlier run has made of this set; the record was written last. nullopt: it has not. already_exists O103 if
/// the packages are others.
Result<std::optional<MadeSet>> made_before(const std::string& path, const PlannedSet& planned, const FinalizePlan& plan,
                                           const Execution& execution) {
  auto record = record_in(path, planned, plan.change);
  if (!record || record->release != execution.release) return std::optional<MadeSet>();
  auto dist = path::join(path, "dist");
  TRY(bool whole, holds(dist, *record));
  if (!whole) return altered(dist);
  MadeSet made{path, std::move(*record), {}, true};
  for (const auto& file : made.record.files) {
    if (file.filename == file.candidate) continue; // a copy
    TRY(auto bytes, content::Rope::file(path::join(dist, file.filename)));
    TRY(auto findings,
        find_occurrences({file.filename, std::move(bytes)}, {plan.change.candidate().str(), execution.workers}));
    made.findings.insert(made.findings.end(), findings.begin(), findings.end());
  }
  auto marker = path::join(dist, dist::k_being_built);
  if (!sys::exists(marker)) return std::optional(std::move(made));
  TRY(auto lock, sys::FileLock::try_acquire(marker));
  if (lock) TRY_DO(sys::remove_file(marker)); // it was killed before it could
  return std::optional(std::move(made));
}

Result<MadeSet> make_set(ObjectReader& store, const PlannedSet& planned, const FinalizePlan& plan,
                         const Execution& execution) {
  MadeSet made{path::join(execution.output_dir, planned.directory), {}, {}, false};
  TRY(auto shop, Workshop::open(made.path));
  made.record.candidate = planned.candidate.digest;
  made.record.release = execution.release;
  made.record.candidate_version = plan.change.candidate().str();
  made.record.version = plan.change.release().str();
  auto inside = std::max(1u, execution.workers / static_cast<unsigned>(planned.packages.size()));
  std::vector<Done> done(planned.packages.size());
  std::mutex mutex;
  TRY_DO(parallel_for(planned.packages.size(), execution.workers, [&](std::size_t i) -> Result<void> {
    TRY(done[i], make_one(store, {planned.packages[i], shop.dist(), plan.change}, inside));
    std::lock_guard lock(mutex);
    if (execution.on_progress) execution.on_progress(planned.packages[i].candidate.size);
    return {};
  }));
  for (auto& one : done) {
    made.record.files.push_back(std::move(one.file));
    made.findings.insert(made.findings.end(), one.findings.begin(), one.findings.end());
  }
  std::sort(made.record.files.begin(), made.record.files.end(),
            [](const auto& a, const auto& b) { return a.filename < b.filename; });
  TRY_DO(shop.close(made.record));
  return made;
}

} // namespace

Result<FinalizePlan> plan_finalize(const FinalizeRequest& request) {
  TRY(auto candidate, candidate_version_of(request));
  TRY(auto change, dist::VersionChange::create({candidate, request.version}));
  FinalizePlan plan{std::move(change), {}, {}};
  std::set<std::string> taken;
  for (const auto& sealed : request.sets) {
    auto planned = planned_set(sealed, plan.change);
    bool changes =
        std::any_of(planned.packages.begin(), planned.packages.end(), [](const auto& p) { return !p.copied; });
    if (!changes) {
      plan.unchanged.push_back(sealed.digest);
      continue;
    }
    planned.directory = free_name(sealed, taken);
    plan.sets.push_back(std::move(planned));
  }
  if (!plan.sets.empty()) return plan;
  return fail(ErrorKind::invalid_argument, "O106",
              fmt::format("no package of these sets has a version that names {}", plan.change.candidate().str()),
              "`quarry release show` lists the packages with their versions");
}

Result<void> check_output(const FinalizePlan& plan, const Execution& execution) {
  for (const auto& planned : plan.sets)
    TRY_DO(check_free(path::join(execution.output_dir, planned.directory), planned, plan, execution.release));
  return {};
}

Result<std::vector<MadeSet>> finalize(ObjectReader& store, const FinalizePlan& plan, const Execution& execution) {
  TRY_DO(check_output(plan, execution)); // all of them before the first is written
  std::vector<std::optional<MadeSet>> finished(plan.sets.size());
  for (std::size_t i = 0; i < plan.sets.size(); ++i) {
    TRY(finished[i],
        made_before(path::join(execution.output_dir, plan.sets[i].directory), plan.sets[i], plan, execution));
  }
  std::vector<MadeSet> made;
  std::uint64_t total = 0;
  auto counted = execution;
  counted.on_progress = [&](std::uint64_t bytes) {
    total += bytes;
    if (execution.on_progress) execution.on_progress(total);
  };
  for (std::size_t i = 0; i < plan.sets.size(); ++i) {
    if (finished[i]) {
      made.push_back(std::move(*finished[i]));
      continue;
    }
    TRY(auto one, make_set(store, plan.sets[i], plan, counted), "while making " + plan.sets[i].directory);
    made.push_back(std::move(one));
  }
  return made;
}

} // namespace quarry::derive
