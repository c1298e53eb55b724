#include "cli/artifacts.hpp"

#include "base/codes.hpp"
#include "base/text.hpp"
#include "cli/families.hpp"
#include "cli/find.hpp"
#include "cli/records.hpp"
#include "cli/tarballs.hpp"
#include "net/url.hpp"
#include "run/find_runs.hpp"
#include "store/object_store.hpp"
#include "sys/file.hpp"
#include "sys/tree.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <nlohmann/json.hpp>

namespace quarry::cli {

using artifact::Source;
using artifact::SourceItem;

namespace {
constexpr unsigned k_transfers = 4;      // archives, each decoded on a thread of its own: they share what is read ahead
constexpr unsigned k_transfers_max = 64; // each holds up to three ranges of 2 MiB and its window
constexpr unsigned k_lookups = 8;        // small requests, which wait more than they work
/// What TheRock's workflows call the group of a run that builds every family; the variant of the build follows.
constexpr std::string_view k_every_family = "multi-arch-";
} // namespace

bool is_remote_place(const std::string& place) {
  return place.starts_with("s3:") || place.starts_with("http:") || place.starts_with("https:");
}

std::vector<Flag> joined(const std::vector<std::vector<Flag>>& lists) {
  std::vector<Flag> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

Result<void> refuse_same_directory(const std::string& from, const std::string& output) {
  auto source = sys::real_path(from), target = sys::real_path(output);
  if (!source || !target || *source != *target) return {};
  return fail(ErrorKind::invalid_argument, "A090", fmt::format("{} is both read and written", output),
              "name another --output-dir");
}

std::vector<Flag> artifact_source_flags() {
  return {{.name = "--store",
           .value = "LOCATOR",
           .help = "the store that `run:ID` is looked for in",
           .environment = "QUARRY_STORE"},
          {.name = "--repo",
           .value = "OWNER/NAME",
           .help = "with `commit:SHA`: the repository (default: as `artifact find`)"},
          {.name = "--platform",
           .value = "P",
           .help = "with `commit:SHA` and `pr:…`: the run's platform",
           .choices = {"linux", "windows"},
           .fallback = "linux"},
          {.name = "--tarballs",
           .value = "",
           .help = "tarballs of whole SDKs: the run's, or those that lie in a place of releases"},
          {.name = "--newest", .value = "", .help = "of the tarballs, the newest version of each family"},
          {.name = "--sdk-version", .value = "GLOB", .help = "only tarballs of these versions, such as 7.10.*"},
          {.name = "--date", .value = "YYYYMMDD", .help = "only tarballs whose version holds this date"},
          {.name = "--transfers",
           .value = "N",
           .help = "archives on their way at the same time (default: 4 from a network, as --jobs from a directory)"}};
}

bool means_every_family(std::string_view group) { return group.starts_with(k_every_family); }

std::vector<std::string> families_of_group(std::string_view group) {
  return means_every_family(group) ? std::vector<std::string>() : text::split_any(group, ",; ");
}

std::vector<Flag> artifact_selection_flags() {
  return {
      {.name = "--exclude", .value = "REGEX", .help = "omit artifacts whose name matches this", .repeats = true},
      {.name = "--artifact-group",
       .value = "G",
       .help = "only artifacts of this family, and the generic ones; `A;B`: of several; `multi-arch-release`: of all"},
      {.name = "--amdgpu-targets", .value = "A,B", .help = "also those of these GPU targets (and the generic ones)"}};
}

Flag include_flag() {
  return {
      .name = "--include", .value = "REGEX", .help = "only artifacts whose name matches one of these", .repeats = true};
}

std::vector<Flag> artifact_trust_flags() {
  return {{.name = "--allow-unverified", .value = "", .help = "accept archives that have no checksum file"},
          {.name = "--max-ratio",
           .value = "N",
           .help = "refuse archives that unpack to more than 1 GiB + N times their size",
           .fallback = "60"}};
}

namespace {
using run::LocatorKind;

bool is_web(const std::string& place) { return place.starts_with("http:") || place.starts_with("https:"); }

/// The prefix of a run in a store that cannot be listed: only a name in full leads there.
Result<run::Layout> named_run(const run::Locator& locator) {
  if (!locator.platform.empty() && locator.repository.empty())
    return run::Layout::create({locator.external_repo, locator.run_id, locator.platform});
  return fail(ErrorKind::invalid_argument, "A030",
              fmt::format("{} cannot be looked for on a web server, which has no listing", locator.text),
              "name the run in full: `run:ID-PLATFORM` or `run:OWNER-REPO/ID-PLATFORM`");
}

Result<artifact::RunRoot> root_in_store(store::ObjectReader& store, const std::string& place,
                                        const run::Locator& locator) {
  TRY_DO(run::refuse_group(locator));
  bool web = is_web(place);
  TRY(auto found, web ? named_run(locator) : run::find_run(store, locator));
  auto prefix = found.prefix();
  return artifact::RunRoot{prefix, fmt::format("run:{} in {}", prefix.substr(0, prefix.size() - 1), store.describe())};
}

/// The groups whose pages may list what is wanted.
std::vector<std::string> groups_of(const Arguments& arguments) {
  if (!arguments.fallbacks.contains("--artifact-group")) return {};
  return families_of_group(arguments.get("--artifact-group"));
}

/// An address as the directory and the last name in it.
struct SplitAddress {
  std::string directory, name;
};
SplitAddress split_address(const std::string& url) {
  auto path = url.substr(0, url.find('?'));
  while (path.ends_with('/')) path.pop_back();
  auto slash = path.rfind('/');
  bool whole = slash == path.npos || slash < path.find("://") + 3; // a host or bucket alone
  return whole ? SplitAddress{path, ""} : SplitAddress{path.substr(0, slash), path.substr(slash + 1)};
}

bool is_archive_file(const std::string& name) {
  return name.find(".tar.") != name.npos || name.ends_with(".tgz") || name.ends_with(".zip");
}

/// One archive by its address.
Result<Source> source_of_archive(const Context& context, const SplitAddress& at) {
  TRY(auto opened, open_store(context, at.directory));
  artifact::RunRoot root{"", opened->describe()};
  root.remote = is_remote_place(at.directory);
  return artifact::source_of_file(std::move(opened), root,
                                  is_web(at.directory) ? text::percent_decode(at.name) : at.name);
}

/// A place of releases: tarballs lie directly there. On a web server the directory itself may be asked for.
Result<Source> source_of_releases(const Context& context, const std::string& place, std::vector<std::string> groups) {
  auto at = split_address(place);
  bool inside = is_web(place) && !at.name.empty();
  TRY(auto store, open_store(context, inside ? at.directory : place));
  artifact::RunRoot root{inside ? at.name + "/" : "", "tarballs of " + place, artifact::RunPart::releases};
  root.groups = std::move(groups);
  root.remote = is_remote_place(place);
  return artifact::source_of_root(std::move(store), root);
}

/// The newest run of the commit or pull request that has artifacts (for the group, if one is given).
Result<Source> source_of_change(const Context& context, const run::Locator& locator, const Arguments& arguments) {
  artifact::FindRequest request;
  request.repository = locator.repository.empty() ? repository_of(context, arguments) : locator.repository;
  request.commit = locator.commit;
  request.pull_request = locator.number;
  request.platform = Platform::read(arguments.get("--platform"));
  TRY(request.groups, groups_wanted(context, {groups_of(arguments), {}}));
  request.store = arguments.get("--store");
  request.release_type = context.variable("RELEASE_TYPE");
  TRY(auto result, find_artifacts(context, request));
  if (!result.found) return fail(artifact::nothing_found(request, result));
  const auto& found = *result.found;
  context.out.note(fmt::format("note: {} is run {} of commit {} at {}", locator.text, found.run.facts.id,
                               found.run.commit.substr(0, 12), found.source.description));
  return std::move(result.found->source);
}
} // namespace

Result<Source> artifact_source(const Context& context, const std::string& text, const Arguments& arguments) {
  TRY(auto locator, run::parse_locator(text));
  TRY_DO(run::require_kind(locator,
                           {LocatorKind::path, LocatorKind::run, LocatorKind::s3, LocatorKind::http,
                            LocatorKind::commit, LocatorKind::pull_request},
                           "take artifacts from"));
  bool is_change = locator.kind == LocatorKind::commit || locator.kind == LocatorKind::pull_request;
  if (is_change) return source_of_change(context, locator, arguments);
  if (locator.kind == LocatorKind::path) {
    auto source = artifact::source_of_path(locator.path);
    if (!source && source.error().kind == ErrorKind::not_found)
      source.error().hint = run::bare_word_hint(locator.text, {LocatorKind::run}, std::move(source.error().hint));
    return source;
  }
  bool is_run = locator.kind == LocatorKind::run;
  auto place = is_run ? arguments.find("--store") : std::optional(locator.url);
  if (!place)
    return fail(ErrorKind::invalid_argument, "A030", fmt::format("{} needs a store to look in", text),
                "add `--store file:PATH` or set QUARRY_STORE");
  if (!is_run && is_web(*place)) TRY_DO(net::parse_url(*place)); // refused here, a password in it is not shown
  if (!is_run) {
    auto at = split_address(*place);
    if (!at.name.empty() && is_archive_file(at.name)) return source_of_archive(context, at);
    if (arguments.has("--tarballs") && !run::is_run_place(at.name))
      return source_of_releases(context, *place, groups_of(arguments));
  }
  TRY(auto opened, open_store(context, *place));
  std::shared_ptr<store::ObjectStore> store = std::move(opened);
  artifact::RunRoot root{"", store->describe()};
  if (is_run) {
    TRY(root, root_in_store(*store, *place, locator));
  }
  root.groups = groups_of(arguments);
  if (arguments.has("--tarballs")) {
    root.part = artifact::RunPart::tarballs;
    root.description = "tarballs of " + root.description;
  }
  root.remote = is_remote_place(*place);
  return artifact::source_of_root(std::move(store), root);
}

Result<unsigned> archives_at_once(const Source& source, const Arguments& arguments) {
  auto said = arguments.find("--transfers");
  if (!said) return source.remote ? k_transfers : 0u;
  auto number = text::parse_u64(*said);
  if (number && *number > 0 && *number <= k_transfers_max) return static_cast<unsigned>(*number);
  return fail(ErrorKind::invalid_argument, "A036",
              fmt::format("--transfers must be a number from 1 to {}, not {}", k_transfers_max, *said));
}

Flag allow_partial_flag() {
  return {.name = "--allow-partial", .value = "", .help = "take what has arrived of a run whose upload has not ended"};
}

Result<void> require_complete(Source& source, std::vector<SourceItem>& items, const Arguments& arguments) {
  auto error = Error::of(ErrorKind::not_found, "A035", fmt::format("{} is not complete", source.description))
                   .with_details(source.incomplete);
  for (const auto& item : items)
    if (item.absent) error.details.push_back(item.file + " is announced and missing");
  if (error.details.empty()) return {};
  if (!arguments.has("--allow-partial")) {
    error.hint = "wait until the upload has ended, or take what has arrived with `--allow-partial`";
    return fail(std::move(error));
  }
  for (const auto& line : error.details)
    source.findings.push_back({"A035", Severity::warning, source.description, line, "only what has arrived is taken"});
  std::erase_if(items, [](const SourceItem& item) { return item.absent; });
  if (!items.empty()) return {};
  return fail(ErrorKind::not_found, "A021", "nothing that was announced has arrived",
              "wait until the upload has ended");
}

namespace {
/// As today's scripts have it: artifacts named by the family are those of the family. Those of a target may be what a
/// split build left there, so nobody must miss them.
Finding left_out(const std::string& place, const std::string& family, const std::vector<std::string>& targets) {
  return {"A098", Severity::warning, place,
          fmt::format("has artifacts named by the family {}, which are taken, and some named by its targets {}, which "
                      "are not",
                      family, text::join(targets, ", ")),
          fmt::format("take all artifacts from one run; `--amdgpu-targets {}` takes these, too", targets.front())};
}

bool has_target(const Source& source, const std::string& target) {
  return std::ranges::any_of(source.items, [&](const SourceItem& item) { return item.name.target_base() == target; });
}

/// The targets of a group that archives of the source are named by.
std::vector<std::string> targets_there(const Context& context, const Source& source, const std::string& group) {
  auto families = load_families(context, "");
  std::vector<std::string> found;
  if (!families) return found;
  for (const auto& target : families->targets_of(group))
    if (has_target(source, target)) found.push_back(target);
  return found;
}

Result<std::vector<std::string>> targets_said(const Arguments& arguments) {
  std::vector<std::string> all;
  for (const auto& list : arguments.list("--amdgpu-targets")) {
    auto targets = text::split_any(list, ",; ");
    if (targets.empty() && !list.empty())
      return fail(ErrorKind::invalid_argument, "A047", fmt::format("--amdgpu-targets {:?} names no target", list),
                  "name targets such as gfx942, or omit the flag");
    std::move(targets.begin(), targets.end(), std::back_inserter(all));
  }
  return all;
}

/// A group that is there in part: what is made of it lacks the rest. See `artifact tarball`.
std::optional<Finding> without_targets(const Context& context, const Source& source, const std::string& family) {
  auto families = load_families(context, "");
  auto missing = families ? families->targets_of(family) : std::vector<std::string>();
  std::erase_if(missing, [&](const auto& target) { return has_target(source, target); });
  if (missing.empty()) return std::nullopt;
  return Finding{"A022", Severity::warning, family,
                 fmt::format("{} is taken without {}: {} has no artifact for {}", family, text::join(missing, ", "),
                             source.description, missing.size() == 1 ? "it" : "them"),
                 "build or fetch these artifacts, or name the targets that are wanted with --amdgpu-targets"};
}

/// The targets whose artifacts are wanted; none: those of all.
Result<std::vector<std::string>> targets_wanted(const Context& context, Source& source, const Arguments& arguments) {
  TRY(auto wanted, targets_said(arguments));
  auto group = arguments.get("--artifact-group");
  if (means_every_family(group) && !has_target(source, group)) return std::vector<std::string>();
  auto families = families_of_group(group);
  if (families.empty() && !group.empty())
    return fail(ErrorKind::invalid_argument, "A047", fmt::format("--artifact-group {:?} names no family", group),
                "name families such as gfx94X-dcgpu, or omit the flag");
  for (const auto& family : families) {
    auto targets = targets_there(context, source, family);
    std::erase(targets, family);
    if (targets.empty() || has_target(source, family)) {
      auto is_said = [&](const std::string& target) { return std::ranges::find(wanted, target) != wanted.end(); };
      std::erase_if(targets, is_said);
      if (!targets.empty()) source.findings.push_back(left_out(source.description, family, targets));
      wanted.push_back(family);
      continue;
    }
    context.out.note(fmt::format("note: its archives are named by target: those of {} are taken, of {}", family,
                                 text::join(targets, ", ")));
    if (auto part = without_targets(context, source, family)) source.findings.push_back(std::move(*part));
    std::move(targets.begin(), targets.end(), std::back_inserter(wanted));
  }
  return wanted;
}
} // namespace

Result<std::vector<SourceItem>> selected_artifacts(const Context& context, Source& source, const Arguments& arguments,
                                                   std::vector<std::string> include) {
  artifact::SelectionOptions options;
  options.include = std::move(include);
  options.exclude = arguments.list("--exclude");
  TRY(options.targets, targets_wanted(context, source, arguments));
  TRY(auto items, artifact::select(source, options));
  if (arguments.fallbacks.contains("--newest")) {
    TRY(items, chosen_tarballs(std::move(items), arguments));
  }
  TRY(auto at_once, archives_at_once(source, arguments));
  TRY_DO(artifact::look_up(items, std::max(at_once, k_lookups)));
  return items;
}

Result<std::uint64_t> max_ratio(const Arguments& arguments) {
  auto ratio = text::parse_u64(arguments.get("--max-ratio"));
  if (ratio && *ratio > 0 && *ratio <= 1'000'000) return *ratio;
  return fail(ErrorKind::invalid_argument, "A031",
              fmt::format("--max-ratio must be a number from 1 to 1,000,000, not {}", arguments.get("--max-ratio")));
}

Result<ArtifactSize> size_of(const SourceItem& item) {
  if (!item.exploded) return ArtifactSize{item.size, 1};
  ArtifactSize size;
  std::vector<sys::TreeEntry> listed;
  bool missing = item.defect && item.defect->is(codes::link_leads_nowhere);
  if (!item.chosen && !missing) {
    TRY(listed, sys::list_tree(item.directory));
  }
  for (const auto& entry : item.chosen ? *item.chosen : listed) {
    if (entry.type == sys::EntryType::directory) continue;
    size.bytes += entry.size;
    ++size.files;
  }
  return size;
}

Json name_json(const artifact::Name& name) {
  return {{"artifact", name.text()}, {"name", name.name}, {"component", name.component}, {"target", name.target}};
}

Json digest_json(const std::optional<Sha256>& digest) { return digest ? Json(digest->hex()) : Json(nullptr); }

Json error_json(const Error& error) {
  return {{"code", error.code}, {"message", error.message}, {"details", error.details}};
}

} // namespace quarry::cli
