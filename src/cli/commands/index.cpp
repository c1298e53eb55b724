#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/grouped.hpp"
#include "cli/records.hpp"
#include "cli/sizes.hpp"
#include "cli/table.hpp"
#include "index/build.hpp"
#include "index/check.hpp"
#include "index/store_place.hpp"
#include "pages/settings.hpp"
#include "publish/resolve.hpp"
#include "registry/registry.hpp"
#include "run/locator.hpp"
#include "store/object_store.hpp"
#include "sys/path.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

namespace quarry::cli {

namespace {

// ---- index build

Json index_file_json(const registry::FileRecord& file) {
  return {{"filename", file.filename},
          {"project", file.project},
          {"version", file.version},
          {"sha256", file.sha256.hex()},
          {"size", file.size}};
}

Json build_json(const index::BuildPlan& plan, const index::BuildResult& result, bool dry_run) {
  Json files = Json::array();
  for (const auto& file : plan.files) files.push_back(index_file_json(file));
  return {{"output", plan.output},
          {"dry_run", dry_run},
          {"files", files},
          {"pages", plan.pages.size()},
          {"writes",
           {{"files", result.files_placed},
            {"sidecars", result.sidecars_written},
            {"pages", result.pages_written},
            {"removed", result.pages_removed}}}};
}

std::string build_summary(const index::BuildPlan& plan, const index::BuildResult& result, bool dry_run) {
  std::uint64_t bytes = 0;
  for (const auto& file : plan.files) bytes += file.size;
  auto done = dry_run ? fmt::format("would write up to {}", units::things(plan.pages.size(), "page"))
              : result.writes() == 0
                  ? std::string("nothing to write")
                  : fmt::format("{} and {} written{}", units::things(result.pages_written, "page"),
                                units::things(result.sidecars_written, "metadata file"),
                                result.pages_removed
                                    ? fmt::format(", {} removed", units::things(result.pages_removed, "stale page"))
                                    : "");
  return fmt::format("{}  {}  {}\n", units::things(plan.files.size(), "file"), units::bytes(bytes), done);
}

Result<int> run_build(Context& context, const Arguments& arguments) {
  bool dry_run = arguments.has("--dry-run");
  TRY_DO(index::refuse_place_of_store(arguments.find("--output-dir").value_or(arguments.operands.at(0))));
  auto progress = context.out.progress("verifying", bytes_of_packages(arguments.operands.at(0)));
  index::BuildOptions options{arguments.operands.at(0), arguments.get("--output-dir"), context.jobs,
                              [&](std::uint64_t bytes) { progress->update(bytes); }};
  TRY(auto plan, index::plan_build(options, context.clock));
  progress->finish();
  index::BuildResult result;
  if (!dry_run) {
    TRY(result, index::execute_build(plan));
  }
  context.out.document(build_json(plan, result, dry_run));
  context.out.data(build_summary(plan, result, dry_run));
  if (!dry_run)
    context.out.note(
        fmt::format("next: pip install --disable-pip-version-check --index-url {} {}",
                    text::shell_word("file://" + text::percent_encode(path::join(plan.output, "simple")) + "/"),
                    plan.files.empty() ? "PROJECT" : text::shell_word(plan.files.front().project)));
  return 0;
}

Command index_build_command() {
  return {
      .path = {"index", "build"},
      .summary = "make a package index from a directory of wheels and source distributions",
      .description =
          "Verifies every wheel and source distribution in `DIR` (or in `DIR/dist`), then writes a find-links page "
          "(`index.html`), the simple repository "
          "interface as HTML (`simple/`) and as JSON (`simple-json/`), and next to each wheel its metadata file.\n\n"
          "All links are relative: the result works as files, behind any web server and from an object store. With an "
          "`--output-dir` that does not hold "
          "`DIR`, the files are linked (or copied) into its `dist/`, and `DIR` is only read.\n\n"
          "Running it again changes nothing unless the files changed; upload times and yanks of unchanged files are "
          "kept, and pages of projects that are "
          "gone are removed.",
      .operands = {{"DIR", "holds the distributions, directly or in dist/"}},
      .flags = {{.name = "--output-dir", .value = "DIR", .help = "where the pages go; the directory itself by default"},
                {.name = "--dry-run", .value = "", .help = "verify and plan, write nothing", .letter = 'n'}},
      .examples = {{"quarry index build out/dist", "index the packages in place"},
                   {"quarry index build wheels --output-dir site", "a site of its own, wheels untouched"}},
      .exit_codes = {{1, "a distribution has findings: `quarry wheel verify` lists them"},
                     {3, "the directory holds no distribution"},
                     {6, "a distribution's container or RECORD is broken or ambiguous"},
                     {7, "two files are one distribution, or a store keeps its pages there"}},
      .schema = "quarry.index-build/1",
      .run = run_build};
}

// ---- index check

Json check_json(const index::CheckReport& report) {
  return {{"pages", report.pages},
          {"projects", report.projects},
          {"files", report.files},
          {"findings", findings_json(report.findings)}};
}

struct Place {
  std::string name;
  std::unique_ptr<index::Site> site;
};

/// A directory of a store, read as the store is: as files, as objects, or as a web server's pages.
Result<Place> place_in_store(const Context& context, const std::string& store, const std::string& key) {
  TRY(auto locator, run::parse_locator(store));
  if (locator.kind == run::LocatorKind::path) {
    auto directory = path::join(locator.path, key);
    return Place{directory, index::files_site(directory)};
  }
  if (locator.kind == run::LocatorKind::http) {
    auto url = key.empty() ? store : store + (store.ends_with('/') ? "" : "/") + text::percent_encode(key);
    TRY(auto site, index::web_site(url, {context.environment, context.clock, tracer(context)}, temporary_of(context)));
    return Place{url, std::move(site)};
  }
  TRY(auto place, run::split_store(store)); // from the bucket's root, since links may lead anywhere in it
  TRY(auto opened, open_store(context, place.store));
  auto whole = path::join(place.key, key);
  if (!whole.empty()) {
    whole = path::normal(whole);
    TRY_DO(store::check_key(whole));
  }
  return Place{path::join(place.store, whole), index::store_site(whole, std::move(opened), temporary_of(context))};
}

/// The indexes that a locator means: the directory itself, a channel's, or those of each sealed set.
Result<std::vector<Place>> places_of(const Context& context, const run::Locator& locator, const Arguments& arguments) {
  using run::LocatorKind;
  TRY_DO(run::require_kind(
      locator,
      {LocatorKind::path, LocatorKind::s3, LocatorKind::http, LocatorKind::channel, LocatorKind::run, LocatorKind::set},
      "check an index of"));
  std::vector<Place> places;
  auto add = [&](const std::string& store, const std::string& key) -> Result<void> {
    TRY(auto place, place_in_store(context, store, key));
    places.push_back(std::move(place));
    return {};
  };
  if (locator.kind == LocatorKind::path)
    TRY_DO(add(locator.path, ""));
  else if (locator.kind == LocatorKind::s3 || locator.kind == LocatorKind::http)
    TRY_DO(add(locator.url, ""));
  if (!places.empty()) return places;
  auto store = arguments.find("--store");
  if (!store)
    return fail(ErrorKind::invalid_argument, "I006", "a run, set or channel is in a store",
                "add `--store LOCATOR` or set QUARRY_STORE");
  if (locator.kind == LocatorKind::channel) {
    if (!store->starts_with("http")) { // a web server that holds the pages need not hold the pointer
      TRY(auto opened, open_store(context, *store));
      TRY_DO(registry::require_channel(*opened, locator.channel));
    }
    TRY_DO(add(*store, registry::channel_directory(locator.channel)));
    return places;
  }
  TRY(auto opened, open_store(context, *store));
  TRY(auto resolved, publish::resolve(*opened, locator));
  std::set<std::string> directories;
  for (const auto& sealed : resolved.sets) directories.insert(sealed.seal.directory);
  for (const auto& directory : directories) TRY_DO(add(*store, directory));
  return places;
}

/// One report over several indexes, each place with its directory.
Result<index::CheckReport> check_all(Context& context, const std::vector<Place>& places, const Arguments& arguments) {
  index::CheckReport all;
  auto progress = context.out.progress("checking", 0);
  index::CheckOptions options{context.jobs, [&](std::uint64_t bytes) { progress->update(bytes); },
                              arguments.list("--project"), !arguments.has("--no-content"), pages::find_links_left_at};
  for (const auto& place : places) {
    TRY(auto report, index::check_index(*place.site, options));
    for (auto& finding : report.findings) {
      if (places.size() > 1) finding.place = path::join(place.name, finding.place);
      all.findings.push_back(std::move(finding));
    }
    all.pages += report.pages, all.projects += report.projects, all.files += report.files;
    all.altered = all.altered || report.altered;
  }
  progress->finish();
  return all;
}

Result<int> run_index_check(Context& context, const Arguments& arguments) {
  TRY(auto locator, run::parse_locator(arguments.operands.at(0)));
  TRY(auto places, places_of(context, locator, arguments));
  TRY(auto report, check_all(context, places, arguments));
  int code = index::exit_code(report);
  context.out.findings(grouped(report.findings, "I025")); // each page of another tool is named
  context.out.document(check_json(report));
  context.out.data(fmt::format(
      "{}  {}  {}  {}\n", units::things(report.pages, "page"), units::things(report.projects, "project"),
      units::things(report.files, "file"),
      painted(code == 0 ? "sound" : "not sound", code == 0 ? Tone::good : Tone::bad, context.out.data_look().color)));
  return code;
}

Command index_check_command() {
  return {.path = {"index", "check"},
          .summary = "check that an index tells the truth about its files",
          .description =
              "Reads every page of an index, follows every link, hashes every file, verifies every wheel, compares "
              "metadata files with the wheels and the HTML pages with the JSON pages. On a web server and in object "
              "storage it looks at what installers look at besides: types and Cache-Control of pages, Content-Encoding "
              "of files, and that what is missing is missing (404) and not refused (403). Writes nothing. Works on "
              "indexes that other tools made, too.\n\n"
              "Pages of a web server are asked for as installers ask, `NAME/`, and links are followed to other hosts. "
              "`--project` limits a large index to some projects; `--no-content` does not read the files.",
          .operands = {{"LOCATOR", "a directory, s3://BUCKET/PREFIX or https://… that holds index.html, simple/ or "
                                   "simple-json/; or channel:NAME, run:ID, set:DIGEST in `--store`"}},
          .flags = {{.name = "--store",
                     .value = "LOCATOR",
                     .help = "the store that a channel, run or set is in",
                     .environment = "QUARRY_STORE"},
                    {.name = "--project", .value = "NAME", .help = "only this project", .repeats = true},
                    {.name = "--no-content", .value = "", .help = "look at files without reading them"}},
          .examples = {{"quarry index check out/dist", "check what `index build` wrote"},
                       {"quarry index check channel:stable --store s3://bucket/prefix", "check a channel of a store"},
                       {"quarry index check https://example.org/simple/ --project rocm --no-content",
                        "one project of anybody's index"}},
          .exit_codes = {{1, "findings"},
                         {3, "there is no index"},
                         {6, "bytes are not what a page says, or a wheel is broken"}},
          .schema = "quarry.index-check/1",
          .run = run_index_check};
}

} // namespace

std::vector<Command> index_commands() { return {index_build_command(), index_check_command()}; }

} // namespace quarry::cli
