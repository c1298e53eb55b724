#include "base/codes.hpp"
#include "base/text.hpp"
#include "cli/compat/script.hpp"
#include "cli/scratch.hpp"
#include "cli/switches.hpp"
#include "dist/name.hpp"
#include "publish/collect.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli::compat {

namespace {

// build_python_packages

/// As bdist_wheel writes it.
std::string tag_of(const Context& context) {
  return text::replace_all(text::replace_all(context.variable("ROCM_SDK_WHEEL_PLATFORM_TAG"), "-", "_"), ".", "_");
}

/// The script has no flag for it: it packages for the machine that it runs on, and ours runs on Linux.
void pass_platform(Words& words, const Arguments& arguments) {
  if (arguments.get("--platform") == "windows") words.insert(words.end(), {"--platform", "windows"});
}

/// The script's default: the base version and `.dev0`.
Result<std::string> version_of(Context& context, const Arguments& arguments) {
  if (auto version = said(arguments, "--version")) return std::move(*version);
  auto computed = ask_words(context, {"version", "compute", "--custom-version-suffix", ".dev0", "--package-type",
                                      "wheel", "--version-file", arguments.get("--version-file")});
  if (!computed && computed.error().is(codes::cannot_read))
    computed.error().hint = "give the version with --version, or the file with --version-file";
  if (!computed) return fail(std::move(computed).error());
  return json::string_at({*computed, "version compute"}, "rocm_package_version");
}

Result<int> build_packages(Context& context, const Arguments& arguments) {
  for (const auto* name : {"--wheel-compression", "--build-packages", "--devel-tarball-compression"})
    TRY_DO(switched(arguments, name));
  TRY(auto version, version_of(context, arguments));
  Words words{"sdk",
              "build",
              "--artifact-dir",
              arguments.get("--artifact-dir"),
              "--build-tree", // February's jobs package where they have just built and packed
              "--dest-dir",
              arguments.get("--dest-dir"),
              "--version",
              version};
  pass(words, arguments, "--version-suffix");
  pass(words, arguments, "--linux-amdgpu-families");
  pass(words, arguments, "--windows-amdgpu-families");
  if (arguments.has("--no-wheel-compression")) words.insert(words.end(), {"--profile", "stored"});
  if (arguments.has("--no-build-packages")) words.push_back("--no-build-packages");
  if (arguments.has("--devel-tarball-compression")) words.insert(words.end(), {"--devel-tarball-compression", "xz"});
  if (is_feb(arguments)) words.insert(words.end(), {"--recipe", "rocm-sdk"});
  pass_platform(words, arguments);
  if (auto tag = tag_of(context); !tag.empty()) words.insert(words.end(), {"--platform-tag", tag});
  return run_words(context, words);
}

std::vector<Flag> build_flags() {
  std::vector<Flag> flags = {
      {"--artifact-dir", "DIR", "the artifacts, exploded or as archives", {}, {}, {}, true},
      {"--dest-dir", "DIR", "the packages go to DIR/dist", {}, {}, {}, true},
      {"--version", "V", "of every package (default: the base version and `.dev0`)"},
      {"--version-suffix", "S", "suffix of the importable platform packages"},
      {"--platform", "P", "Quarry only: the platform of the artifacts", {"linux", "windows"}, "linux"},
      {"--linux-amdgpu-families", "LIST", "families to build for"},
      {"--windows-amdgpu-families", "LIST", "families that Windows builds have"},
      {"--version-file", "FILE", "Quarry only: where the base version is", {}, "version.json"}};
  for (const auto& [name, help] :
       {std::pair<std::string, std::string>{"--wheel-compression", "compress the wheels (default)"},
        {"--build-packages", "write packages (default), not trees"},
        {"--devel-tarball-compression", "the tar inside the devel package as xz; by default the wheel compresses it"}})
    for (auto& flag : both_ways(name, help)) flags.push_back(std::move(flag));
  flags.push_back(k_era);
  return flags;
}

Script build_script() {
  return {.name = "build_python_packages",
          .summary = "the SDK's Python packages from artifacts, as TheRock's script builds them",
          .description = "Runs `quarry sdk build`. Packages stream from the artifacts to `DIR/dist`; only with "
                         "--no-build-packages makes trees to look at, `DIR/PROJECT`.",
          .operands = {},
          .flags = build_flags(),
          .refused = {},
          .only_feb = {},
          .only_aug = {"--linux-amdgpu-families", "--windows-amdgpu-families"},
          .examples = {{"quarry compat build_python_packages --artifact-dir artifacts --dest-dir out --version 7.2.0",
                        "all packages"}},
          .exit_codes = {{1, "the artifacts cannot be packaged: the findings say why"},
                         {3, "no artifact, or none for a family"}},
          .schema = "quarry.sdk-build/1",
          .run = build_packages};
}

// upload_python_packages

/// Where the packages lie, and the families that have a directory of their own in it: what August's builder makes from
/// artifacts that are not split by target.
struct Packages {
  std::string directory;
  std::vector<std::string> families;
};

Result<Packages> packages_in(const std::string& given) {
  auto dist = path::join(given, "dist");
  Packages packages{sys::is_directory(dist) ? dist : given, {}};
  TRY(auto entries, sys::list_directory(packages.directory));
  for (const auto& entry : entries)
    if (entry.type == sys::EntryType::directory && !entry.path.starts_with('.'))
      packages.families.push_back(entry.path);
  return packages;
}

Result<void> check_upload(const Arguments& arguments) {
  TRY_DO(only_one_of(arguments, {"--output-dir", "--bucket", "--store"}));
  if (!said(arguments, "--artifact-group") && !arguments.has("--multiarch"))
    return usage("--artifact-group is missing", "name the group; a build for all targets says --multiarch");
  return {};
}

/// --output-dir, else --store, unless a bucket is asked for by name.
std::string asked_store(const Arguments& arguments) {
  if (auto directory = said(arguments, "--output-dir")) return "file:" + *directory;
  return said(arguments, "--bucket") ? std::string() : arguments.get("--store");
}

/// The words of `publish` for a run's place; `group`: empty for the flat directory of all targets.
Words publish_words(const Arguments& arguments, const Place& place, const std::string& directory,
                    const std::string& group) {
  Words words{"publish",    directory,
              "--store",    place.store,
              "--run-id",   arguments.get("--run-id"),
              "--platform", arguments.get("--platform"),
              "--layout",   group.empty() ? "aug" : "feb"};
  if (!group.empty()) words.insert(words.end(), {"--artifact-group", group});
  if (!place.external_repo.empty()) words.insert(words.end(), {"--external-repo", place.external_repo});
  if (arguments.has("--dry-run")) words.push_back("--dry-run");
  return words;
}

/// Whether a package that lies beside the directories of the families is of another family than this one: its project
/// ends with that family's name.
bool is_of_another(const std::string& file, const std::string& family, const std::vector<std::string>& families) {
  auto parsed = dist::DistributionName::parse(file);
  if (!parsed) return false;
  auto named = [&](const std::string& each) {
    auto key = dist::ProjectName::parse(each);
    return key && parsed->project.str().ends_with("-" + key->str());
  };
  return !named(family) && std::ranges::any_of(families, named);
}

/// A directory with links to the packages of one family: its own, and those beside the directories that it shares.
Result<std::string> gather_family(const Packages& packages, const std::string& family, const std::string& below) {
  auto gathered = path::join(below, family);
  TRY_DO(sys::make_directories(gathered));
  for (const auto& from : {packages.directory, path::join(packages.directory, family)}) {
    TRY(auto entries, sys::list_directory(from));
    for (const auto& entry : entries) {
      bool own = entry.type == sys::EntryType::file && publish::is_distribution(entry.path);
      if (!own || is_of_another(entry.path, family, packages.families)) continue;
      TRY_DO(sys::hard_link(path::join(from, entry.path), path::join(gathered, entry.path)));
    }
  }
  return gathered;
}

/// One set for each family, in `python/FAMILY` of the run. The job's outputs are those of all: the address that readers
/// append `/FAMILY/index.html` to.
Result<int> upload_families(Context& context, const Arguments& arguments, Place place, const Packages& packages) {
  TRY(auto scratch, Scratch::make_in(context, packages.directory)); // beside them, for links
  place.environment.erase("GITHUB_OUTPUT");                         // each would write its own over the one before
  auto inner = at(context, place);
  auto sets = Json::array();
  std::string url;
  for (const auto& family : packages.families) {
    TRY(auto directory, gather_family(packages, family, scratch.path()));
    Json heard;
    TRY(auto code, hear_words(inner, publish_words(arguments, place, directory, family), heard));
    if (code != 0) return code;
    TRY(url, json::string_at({heard, "publish"}, "find_links_url"));
    sets.push_back(std::move(heard));
  }
  url.resize(url.size() - std::min(url.size(), ("/" + packages.families.back() + "/index.html").size()));
  context.out.document({{"schema", "quarry.publish-families/1"}, {"families", packages.families}, {"sets", sets}});
  TRY_DO(tell_job(context, "GITHUB_OUTPUT", {{"package_find_links_url", url}, {"kpack_split", "false"}}));
  return 0;
}

Result<int> upload_packages(Context& context, const Arguments& arguments) {
  TRY_DO(check_upload(arguments));
  TRY(auto packages, packages_in(arguments.get("--input-packages-dir")));
  bool flat = arguments.has("--multiarch");
  if (!packages.families.empty() && !flat)
    return usage(fmt::format("{} holds a directory for each family: {}", packages.directory,
                             text::join(packages.families, ", ")),
                 "add --multiarch, which uploads all of them, or name one as --input-packages-dir");
  TRY(auto place, place_of(context, arguments,
                           {arguments.get("--run-id"), arguments.get("--platform"),
                            said(arguments, "--bucket").value_or(""), asked_store(arguments)}));
  place.environment.erase("QUARRY_S3_ANONYMOUS"); // nobody uploads unsigned
  if (!packages.families.empty()) return upload_families(context, arguments, std::move(place), packages);
  auto inner = at(context, place);
  auto group = flat ? std::string() : arguments.get("--artifact-group");
  TRY(auto code, run_words(inner, publish_words(arguments, place, packages.directory, group)));
  if (code == 0 && !is_feb(arguments)) // in a dry run, too, as the script does
    TRY_DO(tell_job(context, "GITHUB_OUTPUT", {{"kpack_split", flat ? "true" : "false"}}));
  return code;
}

Script upload_script() {
  return {
      .name = "upload_python_packages",
      .summary = "packages into a run's prefix, as TheRock's script uploads them",
      .description =
          "Runs `quarry publish` with the flat layout of today's scripts: `python/GROUP/`, or `python/` with "
          "--multiarch. The set is verified before and sealed after; the page follows the files. GITHUB_OUTPUT gets "
          "`package_find_links_url`, and in August's form `kpack_split`.\n\n"
          "Where the packages lie in a directory for each family, as August's builder leaves them without split "
          "artifacts, --multiarch makes one set for each, in `python/FAMILY/`: with what lies beside the directories "
          "and is not of another family. `package_find_links_url` is then what `/FAMILY/index.html` is appended to, "
          "`kpack_split` is false, and the document (`quarry.publish-families/1`) has those of the sets.",
      .operands = {},
      .flags = {{"--input-packages-dir", "DIR", "the packages, or a `dist/` with them", {}, {}, {}, true},
                {"--artifact-group", "G", "the group, unless --multiarch"},
                {.name = "--run-id", .value = "ID", .help = "the run", .required = true},
                {"--output-dir", "DIR", "into this directory instead of a bucket"},
                {"--bucket", "NAME", "this bucket, whatever the rules say"},
                {"--multiarch", "", "one directory for all targets, or for each family that has one"},
                {"--dry-run", "", "verify and plan, write the job's outputs only; needs no credentials"},
                {"--platform", "P", "Quarry only: the run's platform", {"linux", "windows"}, "linux"},
                k_store,
                k_era},
      .refused = {},
      .only_feb = {},
      .only_aug = {"--multiarch"},
      .examples = {{"quarry compat upload_python_packages --input-packages-dir out --artifact-group gfx94X-dcgpu "
                    "--run-id 42 --output-dir store",
                    "to store/42-linux/python/gfx94X-dcgpu"}},
      .exit_codes = {{3, "there is no package"},
                     {6, "a package is broken"},
                     {7, "a name is published with other bytes"}},
      .schema = "quarry.publish/1",
      .run = upload_packages};
}

} // namespace

std::vector<Command> package_scripts() { return {command_of(build_script()), command_of(upload_script())}; }

} // namespace quarry::cli::compat
