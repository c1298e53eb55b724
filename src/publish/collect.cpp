#include "publish/collect.hpp"

#include "base/text.hpp"
#include "dist/family.hpp"
#include "dist/name.hpp"
#include "publish/refuse.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <map>
#include <mutex>
#include <set>

namespace quarry::publish {

bool is_distribution(std::string_view filename) {
  return !filename.starts_with('.') && (filename.ends_with(".whl") || filename.ends_with(".tar.gz"));
}

std::string tags_of(const std::string& filename) {
  if (!filename.ends_with(".whl")) return {};
  auto name = dist::WheelName::parse(filename);
  return name ? fmt::format("{}-{}-{}", name->tags.python, name->tags.abi, name->tags.platform) : std::string();
}

Result<std::string> identity_of(const std::string& filename) {
  TRY(auto name, dist::DistributionName::parse(filename));
  auto identity = fmt::format("{} {}", name.project.str(), name.version.str());
  if (name.kind == dist::DistributionKind::sdist) return identity;
  TRY(auto wheel, dist::WheelName::parse(filename));
  auto tags = wheel.tags.expanded();
  std::sort(tags.begin(), tags.end());
  for (const auto& tag : tags) identity += " " + tag;
  return identity + " " + wheel.raw_build;
}

namespace {

// Beside packages these are expected: pages and sidecars are made anew from the packages themselves.
bool is_by_product(std::string_view name) {
  return name.starts_with('.') || name.ends_with(".metadata") || name == "index.html";
}

Result<Listing> list(const std::string& directory) {
  Listing found{directory, {}, {}};
  if (sys::exists(path::join(directory, dist::k_being_built)))
    return fail(ErrorKind::outcome_unknown, "P014",
                fmt::format("the packages in {} are being built, or their build was interrupted", directory),
                "wait until it has finished, or run the same `quarry sdk build` again");
  TRY(auto entries, sys::list_directory(directory));
  for (const auto& entry : entries) {
    auto path = path::join(directory, entry.path);
    if (entry.type == sys::EntryType::directory || sys::is_directory(path)) continue;
    if (is_distribution(entry.path))
      found.names.push_back(entry.path);
    else if (!is_by_product(entry.path))
      found.notes.push_back(
          {"P003", Severity::note, path, "not a wheel and not a source distribution: not published", {}});
  }
  return found;
}

} // namespace

Result<Listing> list_distributions(const std::string& directory) {
  if (!sys::is_directory(directory))
    return fail(
        ErrorKind::not_found, "P001",
        fmt::format("{} {}", directory, sys::exists(directory) ? "is a file, not a directory" : "does not exist"),
        "name the directory that `quarry sdk build --dest-dir` wrote");
  auto dist = path::join(directory, "dist");
  TRY(auto here, list(directory));
  if (!sys::is_directory(dist)) return here;
  TRY(auto below, list(dist));
  if (!here.names.empty() && !below.names.empty())
    return fail(ErrorKind::invalid_argument, "P002", fmt::format("{} and {} both hold packages", directory, dist),
                "name one of them");
  return below.names.empty() ? here : below;
}

namespace {

Result<void> check_distinct(const std::vector<std::string>& names) {
  std::map<std::string, std::string> seen;
  for (const auto& name : names) {
    TRY(auto identity, identity_of(name));
    auto [it, fresh] = seen.emplace(identity, name);
    if (!fresh)
      return fail(ErrorKind::invalid_argument, "P002",
                  fmt::format("{} and {} are the same distribution under two names", it->second, name),
                  "keep the normalised one");
  }
  return {};
}

/// A platform tag names its system first: "linux_x86_64", "manylinux_2_28_x86_64", "win_amd64".
bool fits(const std::string& filename, const Platform& platform) {
  auto name = dist::WheelName::parse(filename);
  if (!name || name->tags.platform == "any") return true;
  bool windows = name->tags.platform.starts_with("win");
  return windows == (platform == Platform::windows);
}

Result<void> check_platform(const std::vector<std::string>& names, const Platform& platform) {
  for (const auto& name : names)
    if (!platform.empty() && !fits(name, platform))
      return fail(ErrorKind::invalid_argument, "P015", fmt::format("{} is not for {}", name, platform),
                  "name the platform that the packages were built for, and publish those of another on their own");
  return {};
}

Findings several_versions(const std::vector<std::string>& names) {
  std::map<std::string, std::set<std::string>> versions;
  for (const auto& name : names)
    if (auto parsed = dist::DistributionName::parse(name))
      versions[parsed->project.str()].insert(parsed->version.str());
  Findings found;
  for (const auto& [project, set] : versions)
    if (std::vector<std::string> each(set.begin(), set.end()); each.size() > 1)
      found.push_back({"P016", Severity::warning, project,
                       fmt::format("{} versions are published together: {}", each.size(), text::join(each, ", ")), ""});
  return found;
}

// Installers take the newest version, and evidence must cover every file of a set: older packages of an earlier build
// into the same directory make a set that can never be promoted.
Result<void> check_versions(const Listing& found, bool allowed) {
  if (allowed) return {};
  auto several = several_versions(found.names);
  if (several.empty()) return {};
  auto error =
      Error::of(ErrorKind::invalid_argument, "P016",
                fmt::format("{} holds several versions of {}", found.directory, several.front().place))
          .with_hint(
              "delete the packages of the earlier build and publish again; --several-versions publishes all of them");
  for (const auto& each : several) error.details.push_back(each.place + ": " + each.message);
  return fail(std::move(error));
}

// Wheels of one version for several machines or Pythons are as often intended as left over: whoever publishes is told.
Findings several_tags(const std::vector<std::string>& names) {
  std::map<std::string, std::set<std::string>> tags;
  for (const auto& name : names)
    if (auto parsed = dist::WheelName::parse(name))
      tags[fmt::format("{} {}", parsed->project.str(), parsed->version.str())].insert(tags_of(name));
  Findings found;
  for (const auto& [release, set] : tags)
    if (std::vector<std::string> each(set.begin(), set.end()); each.size() > 1)
      found.push_back({"P046", Severity::note, release,
                       fmt::format("{} wheels of it are published together: {}", each.size(), text::join(each, ", ")),
                       "one of them a leftover of an earlier build? `rm` it before you publish"});
  return found;
}

Findings several_families(const std::vector<std::string>& names) {
  std::set<std::string> families;
  for (const auto& name : names)
    if (auto parsed = dist::WheelName::parse(name)) families.insert(dist::family_of_libraries(parsed->project.str()));
  families.erase("");
  if (families.size() < 2) return {};
  std::vector<std::string> each(families.begin(), families.end());
  return {
      {"P046", Severity::note, text::replace_all(dist::k_libraries_project, "{family}", "*"),
       fmt::format("packages of {} families are published together: {}", each.size(), text::join(each, ", ")),
       "one set for several families is fine; if one is a leftover of an earlier build, `rm` it before you publish"}};
}

// Below this, starting threads for the members of one wheel gains nothing.
constexpr std::uint64_t k_large_bytes = 32u << 20;

Result<bool> is_large(const std::string& path) {
  TRY(auto file, sys::File::open_read(path));
  TRY(auto size, file.size());
  return size >= k_large_bytes;
}

} // namespace

Result<Collected> collect(const CollectOptions& options) {
  TRY(auto found, list_distributions(options.directory));
  if (found.names.empty())
    return fail(ErrorKind::not_found, "P001",
                fmt::format("{} holds no wheel and no source distribution", options.directory),
                "build some: `quarry sdk build --dest-dir DIR`");
  TRY_DO(check_distinct(found.names));
  TRY_DO(check_platform(found.names, options.platform));
  TRY_DO(refuse_raw_beside_repaired(found.names, found.directory));
  TRY_DO(check_versions(found, options.several_versions));
  for (const auto& several : {several_versions, several_tags, several_families})
    for (auto& told : several(found.names)) found.notes.push_back(std::move(told));
  Collected collected{std::vector<Candidate>(found.names.size()), std::move(found.notes)};
  std::vector<Findings> warnings(found.names.size());
  std::mutex mutex;
  std::uint64_t done = 0;
  auto take = [&](std::size_t i, unsigned workers) -> Result<void> {
    auto path = path::join(found.directory, found.names[i]);
    TRY(auto described, options.describe(path, workers));
    TRY_DO(refuse_libraries_without_library(described));
    warnings[i] = std::move(described.warnings);
    described.file.tags = tags_of(found.names[i]);
    collected.candidates[i] = {path, std::move(described.file), std::move(described.sidecar), described.hashed};
    std::lock_guard lock(mutex);
    done += collected.candidates[i].file.size;
    if (options.on_progress) options.on_progress(done);
    return {};
  };
  // Large ones one after another, their members side by side; of the small ones several at once.
  std::vector<std::size_t> small;
  for (std::size_t i = 0; i < found.names.size(); ++i) {
    TRY(auto large, is_large(path::join(found.directory, found.names[i])));
    if (!large) small.push_back(i);
    if (large) TRY_DO(take(i, options.workers));
  }
  TRY_DO(parallel_for(small.size(), options.workers, [&](std::size_t i) { return take(small[i], 1); }));
  for (auto& of_one : warnings) std::ranges::move(of_one, std::back_inserter(collected.notes));
  return collected;
}

} // namespace quarry::publish
