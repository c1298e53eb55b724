#include "artifact/tarball.hpp"
#include "base/codes.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/artifacts.hpp"
#include "cli/delegate.hpp"
#include "cli/families.hpp"
#include "cli/records.hpp"
#include "cli/scratch.hpp"
#include "dist/version.hpp"
#include "index/listing.hpp"
#include "run/locator.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace quarry::cli {

namespace {

constexpr std::uint64_t k_tarball_page_bytes_max = 16u << 20; // a hundred thousand tarballs
constexpr const char* k_multiarch = "multiarch";              // as releases name the tarball of all families
constexpr const char* k_generic = "generic";

/// What `--family` asks for: one family, several, or all (none in `families`).
struct AskedFamilies {
  std::vector<std::string> families;
  std::string word; ///< in the name of the tarball
};

AskedFamilies asked_families(const Arguments& arguments) {
  const auto& said = arguments.get("--family");
  if (said == k_multiarch || means_every_family(said)) return {{}, k_multiarch};
  auto families = families_of_group(said);
  return {families, families.size() == 1 ? families.front() : k_multiarch};
}

/// A tree of both would hold the device code of one form and the libraries of the other.
Result<void> refuse_mixed(const std::string& place, const std::string& family, const std::vector<std::string>& targets,
                          const std::function<bool(const std::string&)>& has) {
  auto there = targets;
  std::erase_if(there, [&](const auto& target) { return target == family || !has(target); });
  if (!has(family) || there.empty()) return {};
  return fail(ErrorKind::corrupt, "A098",
              fmt::format("{} has artifacts named by the family {} and artifacts named by its targets {}", place,
                          family, text::join(there, ", ")),
              "nothing was written; take all artifacts from one run");
}

/// `multiarch` is a tarball of several targets: artifacts of one family that are not split have its own name.
Result<void> refuse_family_alone(const std::string& place, const matrix::Families& known,
                                 const std::vector<std::string>& targets) {
  std::set<std::string> names(targets.begin(), targets.end());
  if (names.size() != 1) return {};
  const auto& family = *names.begin();
  auto of_family = known.targets_of(family);
  if (of_family.empty() || of_family == std::vector{family}) return {};
  return fail(
      ErrorKind::invalid_argument, "A099",
      fmt::format("{} has artifacts of the family {} alone, and they are not split by GPU target", place, family),
      fmt::format("nothing was written; `--family {}` packs them under their own name", family));
}

/// The family itself, or its targets where the artifacts are named by target.
Result<std::vector<std::string>> targets_of_family(const matrix::Families& known, const std::string& family,
                                                   const std::function<bool(const std::string&)>& has,
                                                   Findings& findings) {
  if (has(family)) return std::vector<std::string>{family};
  auto targets = known.targets_of(family);
  auto all = targets;
  auto missing = std::stable_partition(all.begin(), all.end(), has);
  std::erase_if(targets, [&](const auto& target) { return !has(target); });
  if (!targets.empty() && missing != all.end())
    findings.push_back({"A022", Severity::warning, family,
                        fmt::format("{} is packed without {}: there is no artifact for them", family,
                                    text::join(std::vector<std::string>(missing, all.end()), ", ")),
                        "build or fetch these artifacts, or name the target itself with --family"});
  return targets;
}

Result<std::vector<std::string>> wanted_targets(const Context& context, const Arguments& arguments,
                                                const std::vector<artifact::Name>& names, Findings& findings) {
  auto asked = asked_families(arguments);
  std::vector<std::string> all;
  if (asked.families.empty())
    for (const auto& name : names)
      if (name.target != k_generic) all.emplace_back(name.target_base());
  auto has = [&](const std::string& target) {
    return std::any_of(names.begin(), names.end(), [&](const auto& name) { return name.target_base() == target; });
  };
  TRY(auto known, load_families(context, arguments.get("--families-file")));
  auto looked_at = asked.families.empty() ? all : asked.families;
  for (const auto& family : looked_at)
    TRY_DO(refuse_mixed(arguments.get("--from"), family, known.targets_of(family), has));
  if (asked.families.empty()) TRY_DO(refuse_family_alone(arguments.get("--from"), known, all));
  for (const auto& family : asked.families) {
    TRY(auto targets, targets_of_family(known, family, has, findings));
    if (targets.empty())
      return fail(ErrorKind::not_found, "A022",
                  fmt::format("{} has no artifact for {}", arguments.get("--from"), family),
                  "`quarry artifact list DIR` shows for which targets there are some");
    all.insert(all.end(), targets.begin(), targets.end());
  }
  if (!all.empty()) return all;
  return fail(ErrorKind::not_found, "A022",
              fmt::format("{} has no artifact for any GPU target", arguments.get("--from")),
              "build the artifacts for a family, or name another directory");
}

/// As releases have it: fftw3 is there for tests alone.
bool is_for_tests(const artifact::Name& name) { return name.component == "test" || name.name == "fftw3"; }

bool is_wanted(const artifact::Name& name, const std::vector<std::string>& targets, bool tests) {
  bool target = name.target == k_generic ||
                std::find(targets.begin(), targets.end(), std::string(name.target_base())) != targets.end();
  return target && !name.whole_sdk() && (tests || !is_for_tests(name));
}

Result<std::vector<artifact::Name>> names_to_pack(const Context& context, const Arguments& arguments,
                                                  const artifact::Catalogue& catalogue, Findings& findings) {
  std::vector<artifact::Name> all, wanted;
  for (const auto& each : catalogue.artifacts) all.push_back(each.name);
  for (const auto& each : catalogue.archives) all.push_back(each.name);
  std::sort(all.begin(), all.end());
  TRY(auto targets, wanted_targets(context, arguments, all, findings));
  std::copy_if(all.begin(), all.end(), std::back_inserter(wanted),
               [&](const auto& name) { return is_wanted(name, targets, arguments.has("--tests")); });
  bool has_tests = std::any_of(wanted.begin(), wanted.end(), [](const auto& name) { return name.component == "test"; });
  if (arguments.has("--tests") && !has_tests)
    return fail(ErrorKind::not_found, "A097",
                fmt::format("{} has no `test` component for {}", arguments.get("--from"), arguments.get("--family")),
                "nothing was written; omit --tests, or build the artifacts with their tests: a tarball named `-tests` "
                "would hold none");
  return wanted;
}

/// `index.html` of the directory: the tarballs that lie there, also as the JSON that readers of today's pages look for.
/// A page of another tool stays.
Result<void> write_tarball_page(const std::string& directory, Findings& findings) {
  TRY(auto listed, sys::list_directory(directory));
  std::vector<index::Listed> entries;
  Json files = Json::array();
  for (const auto& entry : listed) {
    bool tarball = artifact::parse_tarball_name(entry.path).has_value();
    bool checksum = entry.path.ends_with(artifact::k_checksum_suffix);
    if (tarball || checksum) entries.push_back({entry.path, false, entry.size});
    if (tarball) files.push_back({{"name", entry.path}, {"mtime", static_cast<double>(entry.modified_ns) / 1e9}});
  }
  auto page = path::join(directory, "index.html");
  auto there = sys::read_file(page, k_tarball_page_bytes_max);
  bool foreign = there && there->find("content=\"quarry\"") == there->npos;
  if (foreign) {
    findings.push_back({"A091", Severity::warning, page, "another tool made the page, so it was left",
                        "remove it, and the next tarball writes it"});
    return {};
  }
  return sys::write_file(page,
                         index::listing_page("Tarballs", std::move(entries), index::Parent::none, json::text(files)));
}

/// The archives of a run that the tarball can take, as they are, in a directory.
Result<void> fetch_archives(Context& context, const Arguments& arguments, const std::string& directory) {
  TRY(auto families, load_families(context, arguments.get("--families-file")));
  std::vector<std::string> targets{k_generic};
  for (const auto& family : asked_families(arguments).families) {
    targets.push_back(family);
    std::ranges::copy(families.targets_of(family), std::back_inserter(targets));
  }
  Words words{"artifact", "fetch", "--from", arguments.get("--from"), "--no-extract", "--output-dir", directory};
  if (auto store = arguments.get("--store"); !store.empty()) words.insert(words.end(), {"--store", store});
  if (arguments.has("--allow-unverified")) words.emplace_back("--allow-unverified");
  bool some = targets.size() > 1; // else all
  if (some) words.insert(words.end(), {"--", fmt::format("_({})(:[^_]*)?$", text::join(targets, "|"))});
  TRY(auto fetched, ask_words(context, words));
  return {};
}

struct Writing {
  std::string path;
  artifact::TarballOptions options;
};

/// Artifacts of several families that are not split by target bring one path each: that is said instead of how to merge
/// two artifacts.
Result<artifact::Tarball> written_tarball(const Arguments& arguments, const artifact::Catalogue& catalogue,
                                          const std::vector<artifact::Name>& names, const Writing& writing) {
  auto made = artifact::write_tarball(catalogue, names, writing.path, writing.options);
  if (made || !made.error().is(codes::two_own_one_path) || asked_families(arguments).word != k_multiarch) return made;
  auto error = made.error();
  error.hint = "artifacts that are not split by GPU target bring the same files for each family: pack each family "
               "alone, `--family F`";
  return fail(std::move(error));
}

Result<int> run_artifact_tarball(Context& context, const Arguments& arguments) {
  const auto& output = arguments.get("--output-dir");
  TRY(auto locator, run::parse_locator(arguments.get("--from")));
  auto from = locator.path;
  if (locator.kind == run::LocatorKind::path) TRY_DO(refuse_same_directory(from, output));
  TRY(auto version, dist::Version::parse(arguments.get("--version")), "while reading --version");
  std::optional<Scratch> scratch;
  if (locator.kind != run::LocatorKind::path) {
    TRY(auto made, Scratch::make_in(context, output));
    scratch.emplace(std::move(made));
    TRY_DO(fetch_archives(context, arguments, scratch->path()));
    from = scratch->path();
  }
  TRY(auto catalogue, artifact::open_catalogue(from));
  context.out.findings(catalogue.findings);
  for (const auto& finding : catalogue.findings)
    if (finding.severity == Severity::error)
      return fail(ErrorKind::corrupt, finding.code, finding.place + ": " + finding.message, finding.fix);
  Findings incomplete;
  TRY(auto names, names_to_pack(context, arguments, catalogue, incomplete));
  context.out.findings(incomplete);
  std::ranges::move(incomplete, std::back_inserter(catalogue.findings));
  auto name = fmt::format("therock-dist-{}-{}{}-{}.tar.gz", arguments.get("--platform"), asked_families(arguments).word,
                          arguments.has("--tests") ? "-tests" : "", version.str());
  TRY_DO(sys::make_directories(output));
  artifact::TarballOptions options;
  options.workers = context.jobs;
  options.trees = {
      .workers = context.jobs, .allow_unverified = arguments.has("--allow-unverified"), .spool_directory = output};
  TRY(options.trees.max_ratio, max_ratio(arguments));
  Meter meter(context, "packing " + name, 0);
  options.on_bytes = [&](std::uint64_t bytes) { meter.add(bytes); };
  TRY(auto made, written_tarball(arguments, catalogue, names, {path::join(output, name), options}));
  auto seconds = meter.finish();
  Findings left;
  TRY_DO(write_tarball_page(output, left));
  context.out.findings(left);
  std::ranges::move(left, std::back_inserter(catalogue.findings));
  context.out.data(fmt::format("{}  {} from {} of {}  {}\n", made.path, units::bytes(made.size),
                               units::bytes(made.bytes), units::things(names.size(), "artifact"),
                               units::seconds(seconds)));
  Json list = Json::array();
  for (const auto& each : names) list.push_back(each.text());
  context.out.document({{"path", made.path},
                        {"sha256", made.digest.hex()},
                        {"archive_size", made.size},
                        {"files", made.files},
                        {"size", made.bytes},
                        {"artifacts", list},
                        {"findings", findings_json(catalogue.findings)}});
  return 0;
}

} // namespace

Command artifact_tarball_command() {
  std::vector<Flag> flags = {
      {.name = "--from", .value = "LOCATOR", .help = std::string(k_artifact_locator_help), .required = true},
      {.name = "--family",
       .value = "F",
       .help = "the family, such as gfx94X-dcgpu; several, `A;B`; or `multiarch`, all there are",
       .required = true},
      {.name = "--version", .value = "V", .help = "version in the name of the tarball", .required = true},
      {.name = "--output-dir", .value = "OUT", .help = "where the tarball goes", .required = true},
      {.name = "--platform",
       .value = "P",
       .help = "platform of the artifacts",
       .choices = {"linux", "windows"},
       .fallback = "linux"},
      {.name = "--tests", .value = "", .help = "with the `test` artifacts and fftw3, named F-tests"},
      {.name = "--store",
       .value = "LOCATOR",
       .help = "the store that `run:ID` is looked for in",
       .environment = "QUARRY_STORE"},
      families_file_flag()};
  return {
      .path = {"artifact", "tarball"},
      .summary = "one tarball with a whole SDK from artifacts",
      .description =
          "Merges the artifacts of a family and the generic ones into one tree, as releases have it, and writes "
          "`therock-dist-PLATFORM-FAMILY-VERSION.tar.gz` with its checksum file. Where the artifacts are named by "
          "target, those of the family's targets are taken. Several families, or all, become "
          "`therock-dist-PLATFORM-multiarch-VERSION.tar.gz`, if their artifacts are split by target. Nothing is "
          "unpacked; two artifacts that bring one path "
          "are refused. `index.html` of OUT then lists the tarballs there, for people and for `artifact fetch`.\n\n"
          "The archives of a run are fetched and verified first, into a hidden directory below OUT that is removed "
          "again.\n\n"
          "The same artifacts give the same bytes on every machine, for any number of processors.",
      .operands = {},
      .flags = joined({std::move(flags), artifact_trust_flags()}),
      .examples = {{"quarry artifact tarball --from artifacts --family gfx94X-dcgpu --version 7.2.0 --output-dir out",
                    "out/therock-dist-linux-gfx94X-dcgpu-7.2.0.tar.gz"},
                   {"quarry artifact tarball --from artifacts --family multiarch --version 7.2.0 --output-dir out",
                    "out/therock-dist-linux-multiarch-7.2.0.tar.gz, with every target"},
                   {"quarry artifact tarball --from run:42 --store file:store --family gfx94X-dcgpu --version 7.2.0 "
                    "--output-dir out",
                    "of a run"}},
      .exit_codes = {{2, "`multiarch` for artifacts of one family that are not split by target"},
                     {3, "the source has no artifact for the family, or with --tests no test component"},
                     {6, "an artifact is defective, or two bring one path"}},
      .schema = "quarry.artifact-tarball/1",
      .run = run_artifact_tarball};
}

} // namespace quarry::cli
