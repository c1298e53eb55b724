#include "base/ascii.hpp"
#include "cli/commands.hpp"
#include "cli/prover.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/families.hpp"
#include "cli/records.hpp"
#include "cli/switches.hpp"
#include "cli/table.hpp"
#include "dist/version.hpp"
#include "matrix/expand.hpp"
#include "sdk/build.hpp"
#include "sdk/recipe_files.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

/// The directory whose files a recipe names before the program's: where a recipe of the user's own lies.
std::optional<std::string> own_recipe_directory(const std::string& named) {
  if (named.empty() || !sys::exists(named)) return std::nullopt;
  return path::dirname(named);
}

/// A recipe that the program holds; nullopt: it has none of that name.
Result<std::optional<sdk::Recipe>> own_recipe(const Context& context, const std::string& named) {
  auto name = "data/recipes/" + named + (named.ends_with(".toml") ? "" : ".toml");
  auto text = context.resources.read(name);
  if (!text) return std::nullopt;
  auto origin = context.resources.origin(name);
  TRY(auto recipe, sdk::parse_recipe({*text, origin == "embedded" ? name : origin}));
  return std::optional(std::move(recipe));
}

/// The recipe that was asked for, and those that the program chooses from by the artifacts: the older first.
Result<sdk::RecipeChoice> recipes_of(const Context& context, const std::string& named) {
  sdk::RecipeChoice choice;
  for (const auto* own : {"rocm-sdk", "rocm-sdk-aug"}) {
    TRY(auto recipe, own_recipe(context, own));
    if (recipe) choice.own.push_back(std::move(*recipe));
  }
  if (named.empty() && !choice.own.empty()) return choice;
  if (sys::exists(named)) {
    TRY(auto text, sys::read_file(named), "while reading the recipe");
    TRY(choice.asked, sdk::parse_recipe({text, named}));
    return choice;
  }
  TRY(choice.asked, own_recipe(context, named));
  if (choice.asked) return choice;
  return fail(ErrorKind::not_found, "S009", fmt::format("recipe {} does not exist", named),
              "name a file, or one of the recipes that `quarry config show --origin` lists");
}

codec::Profile sdk_profile_of(const std::string& name) {
  if (name == "ci") return codec::Profile::ci;
  if (name == "stored") return codec::Profile::stored;
  return codec::Profile::release;
}

codec::Compression payload_of(const std::string& name) {
  if (name == "xz") return codec::Compression::xz;
  return name == "zst" ? codec::Compression::zstd : codec::Compression::none;
}

/// Empty is as absent: workflows pass an input that nobody has set. What is there must name something.
Result<std::vector<std::string>> families_of(const Arguments& arguments, std::string_view flag) {
  auto said = arguments.get(flag);
  auto names = text::split_any(said, ",; ");
  if (names.empty() && !said.empty())
    return fail(ErrorKind::invalid_argument, "S044", fmt::format("{} {:?} names no family", flag, said),
                "name families such as gfx94X-dcgpu, or omit the flag");
  return names;
}

/// Around a version blanks are allowed (PEP 440); here they are a variable that was read with its line's end.
Result<dist::Version> version_of(const std::string& said) {
  if (text::trim(said) != said)
    return fail(ErrorKind::invalid_argument, "S046", fmt::format("--version {:?} begins or ends with a blank", said),
                "give the version alone, such as 7.2.0");
  return dist::Version::parse(said);
}

/// The targets of a family by the families file, which is read when the first one is asked for.
std::function<Result<std::vector<std::string>>(const std::string&)> family_targets_of(const Context& context,
                                                                                      const Arguments& arguments) {
  return [&context,
          named = arguments.get("--families-file")](const std::string& family) -> Result<std::vector<std::string>> {
    TRY(auto families, load_families(context, named));
    return matrix::expand_targets(families, {family});
  };
}

Result<sdk::BuildRequest> sdk_request_of(const Context& context, const Arguments& arguments) {
  sdk::BuildRequest request;
  request.artifact_dir = arguments.get("--artifact-dir");
  request.dest_dir = arguments.get("--dest-dir");
  request.from_build_tree = arguments.has("--build-tree");
  TRY(request.version, version_of(arguments.get("--version")), "while reading --version");
  request.nonce = arguments.get("--version-suffix");
  auto wrong = std::find_if(request.nonce.begin(), request.nonce.end(),
                            [](char c) { return !(ascii::is_alnum(c) || c == '_'); });
  if (wrong != request.nonce.end())
    return fail(ErrorKind::invalid_argument, "S031",
                fmt::format("--version-suffix {} cannot be part of a Python package name", request.nonce),
                "letters, digits and '_' only");
  request.platform = Platform::read(arguments.get("--platform"));
  TRY(request.linux_families, families_of(arguments, "--linux-amdgpu-families"));
  TRY(request.windows_families, families_of(arguments, "--windows-amdgpu-families"));
  request.families = request.platform == Platform::windows ? request.windows_families : request.linux_families;
  request.profile = sdk_profile_of(arguments.get("--profile"));
  request.workers = context.jobs;
  request.require_complete = arguments.has("--require-complete");
  request.trees.allow_unverified = arguments.has("--allow-unverified");
  request.platform_tag = arguments.get("--platform-tag");
  request.payload = payload_of(arguments.get("--devel-tarball-compression"));
  TRY(auto build_packages, switched(arguments, "--build-packages", true));
  request.trees_only = !build_packages;
  request.expand_family = family_targets_of(context, arguments);
  if (arguments.has("--thin")) request.targets_of_family = request.expand_family;
  return request;
}

/// What is done, file name, size, share or files. TableRows are printed as packages get ready, so the widths are given.
std::vector<Column> package_columns(std::size_t verb_width, std::size_t name_width) {
  return {{.least = verb_width},
          {.shrinks = true, .least = name_width},
          {.right = true, .least = 9},
          {.right = true, .least = 5}};
}

// The three headline lines of the walk, then one line for each package.
class Narrator {
public:
  Narrator(Context& context, bool trees) : out_(context.out), trees_(trees) {}

  sdk::BuildEvents events() {
    sdk::BuildEvents e;
    e.read = [this](const artifact::Catalogue& c) { read(c); };
    e.archive_bytes = [this](std::uint64_t bytes) {
      if (bar_) bar_->update(read_ += bytes);
    };
    e.planned = [this](const sdk::BuildPlan& p) { planned(p); };
    e.checked = [this](const Findings& findings) { out_.findings(findings); };
    e.packing = [this](const std::string& dist, std::uint64_t total) {
      end_bar();
      bar_ = out_.progress("packing " + dist, total);
    };
    e.progress = [this](std::uint64_t done) {
      if (bar_) bar_->update(done);
    };
    e.built = [this](const sdk::BuiltPackage& p) { built(p); };
    return e;
  }
  void end_bar() {
    if (bar_) bar_->finish();
    bar_.reset();
  }

private:
  void read(const artifact::Catalogue& catalogue) {
    auto archives = catalogue.archives.size();
    out_.note(fmt::format("reading     {} in {}", units::things(catalogue.artifacts.size() + archives, "artifact"),
                          catalogue.directory));
    std::uint64_t bytes = 0;
    for (const auto& archive : catalogue.archives) bytes += archive.size;
    if (archives > 0) bar_ = out_.progress("reading " + units::things(archives, "archive"), bytes);
  }
  void planned(const sdk::BuildPlan& plan) {
    end_bar();
    std::size_t files = 0, edits = 0, aliases = 0, launchers = 0;
    std::uint64_t bytes = 0;
    for (const auto& p : plan.packages)
      files += p.files, edits += p.elf_edits, aliases += p.aliases, launchers += p.launchers, bytes += p.input_bytes;
    out_.note(fmt::format("planning    {}  {}  {}  {} ELF edits  {} launchers  {} aliases  families {}  recipe {}",
                          units::things(plan.packages.size() + (plan.sdist.file_name.empty() ? 0 : 1), "package"),
                          units::bytes(bytes), units::things(files, "file"), edits, launchers, aliases,
                          plan.families.empty() ? "none" : text::join(plan.families, " "), plan.recipe));
  }
  void built(const sdk::BuiltPackage& p) {
    if (trees_) return row({"wrote", p.file_name, units::bytes(p.input_bytes), units::things(p.files, "file")}, 38);
    auto ratio = p.logical == "meta" ? std::string()
                                     : units::percent(static_cast<double>(p.size), static_cast<double>(p.input_bytes));
    row({"built", p.file_name, units::bytes(p.size), ratio}, 72);
  }
  void row(std::vector<Cell> cells, std::size_t name_width) {
    auto line = table(package_columns(10, name_width), {std::move(cells)}, out_.note_look());
    out_.note(line.substr(0, line.size() - 1));
  }
  Output& out_;
  bool trees_;
  std::unique_ptr<Progress> bar_;
  std::uint64_t read_ = 0;
};

Json unused_json(const std::vector<sdk::Unused>& unused) {
  Json list = Json::array();
  for (const auto& u : unused)
    list.push_back(
        {{"artifact", u.artifact}, {"whole", u.whole}, {"files", u.files}, {"bytes", u.bytes}, {"asked", u.asked}});
  return list;
}

Json document(const sdk::BuildReport& report, double seconds, bool dry) {
  Json packages = Json::array();
  for (const auto& p : report.packages) {
    packages.push_back({{"package", p.logical},
                        {"family", p.family},
                        {"file", p.file_name},
                        {"input_bytes", p.input_bytes},
                        {"files", p.files}});
    if (!dry)
      packages.back().update({{"path", p.path}, {"size", p.size}, {"sha256", p.sha256.hex()}, {"seconds", p.seconds}});
  }
  return {{"dry_run", dry},
          {"recipe", report.recipe},
          {"packages", packages},
          {"input_bytes", report.input_bytes},
          {"seconds", seconds},
          {"output_bytes", report.output_bytes},
          {"unused", unused_json(report.unused)},
          {"findings", findings_json(report.findings)}};
}

std::string dry_rows(const sdk::BuildReport& report, const char* verb, Look look) {
  TableRows rows;
  for (const auto& p : report.packages)
    rows.push_back(
        {verb, p.file_name, p.logical == "meta" ? "" : units::bytes(p.input_bytes), units::things(p.files, "file")});
  return table({k_text, k_name, k_number, k_number}, rows, look);
}

std::string dry_trees_text(const sdk::BuildReport& report, const std::string& directory, Look look) {
  return dry_rows(report, "would write", look) + fmt::format("{} in {}  from {}: nothing was written\n",
                                                             units::things(report.packages.size(), "tree"), directory,
                                                             units::bytes(report.input_bytes));
}

std::string sdk_dry_run_text(const sdk::BuildReport& report, const std::string& directory, Look look) {
  return dry_rows(report, "would build", look) + fmt::format("{} in {}/dist  from {}: nothing was written\n",
                                                             units::things(report.packages.size(), "package"),
                                                             directory, units::bytes(report.input_bytes));
}

Result<int> build(Context& context, const Arguments& arguments) {
  TRY(auto request, sdk_request_of(context, arguments));
  TRY(auto recipes, recipes_of(context, arguments.get("--recipe")));
  auto begin = context.clock.steady_ns();
  Narrator narrator(context, request.trees_only);
  bool dry = arguments.has("--dry-run");
  if (!dry) request.prover = prover_of(context);
  auto directory = own_recipe_directory(arguments.get("--recipe"));
  sdk::RecipeFiles beside(directory.value_or(""), context.resources);
  const Resources& resources = directory ? static_cast<const Resources&>(beside) : context.resources;
  TRY(auto report, sdk::build(request, recipes, resources, narrator.events(), dry));
  narrator.end_bar();
  auto seconds = static_cast<double>(context.clock.steady_ns() - begin) / 1e9;
  context.out.document(document(report, seconds, dry));
  if (dry) {
    auto look = context.out.data_look();
    context.out.data(request.trees_only ? dry_trees_text(report, request.dest_dir, look)
                                        : sdk_dry_run_text(report, request.dest_dir, look));
    return 0;
  }
  if (request.trees_only) {
    context.out.data(fmt::format("{} in {}  {}  {}\n", units::things(report.packages.size(), "tree"), request.dest_dir,
                                 units::bytes(report.input_bytes), units::seconds(seconds)));
    return 0;
  }
  context.out.data(fmt::format("{} in {}/dist  {} from {}  {}\n", units::things(report.packages.size(), "package"),
                               request.dest_dir, units::bytes(report.output_bytes), units::bytes(report.input_bytes),
                               units::seconds(seconds)));
  auto group = request.families.size() == 1 ? " --artifact-group " + request.families.front() : std::string();
  auto store = context.variable("QUARRY_STORE").empty() ? " --store file:store" : "";
  context.out.note(fmt::format("next: quarry publish {}{} --run-id RUN_ID --platform {}{}",
                               text::shell_word(request.dest_dir), store, request.platform, group));
  return 0;
}

std::vector<Flag> build_flags() {
  std::vector<Flag> flags = {
      {.name = "--artifact-dir",
       .value = "DIR",
       .help = "directory with the artifacts, exploded or as archives",
       .required = true},
      {.name = "--build-tree",
       .value = "",
       .help = "DIR is a build's own: where it holds an artifact and the archive packed from it, take the artifact"},
      {.name = "--dest-dir", .value = "OUT", .help = "packages are written to OUT/dist", .required = true},
      {.name = "--version", .value = "V", .help = "PEP 440 version of every package", .required = true},
      {.name = "--version-suffix", .value = "N", .help = "suffix of the importable platform packages"},
      {.name = "--platform",
       .value = "NAME",
       .help = "platform of the artifacts",
       .choices = {"linux", "windows"},
       .fallback = "linux"},
      {.name = "--profile",
       .value = "NAME",
       .help = "compression: smallest, fastest, or none",
       .choices = {"release", "ci", "stored"},
       .fallback = "release"},
      {.name = "--linux-amdgpu-families",
       .value = "LIST",
       .help = "families of the release on Linux (comma or semicolon); with --platform linux, those to build libraries "
               "for, and by default all there are"},
      {.name = "--windows-amdgpu-families",
       .value = "LIST",
       .help = "likewise for Windows; give both lists to both builds, and their sdists are the same"},
      {.name = "--recipe",
       .value = "FILE",
       .help = "a recipe: a file, or the name of a shipped one (default: the shipped one that fits the "
               "artifacts)"},
      {.name = "--platform-tag",
       .value = "TAG",
       .help = "such as manylinux_2_28_x86_64, if the files of every package keep what it promises (default: "
               "linux_x86_64, win_amd64)"},
      {.name = "--devel-tarball-compression",
       .value = "FORM",
       .help = "of the tar inside the devel package: smaller once more, and slower to build and to expand",
       .choices = {"none", "xz", "zst"},
       .fallback = "none"},
      {.name = "--thin",
       .value = "",
       .help = "leave out device code for other GPU targets than those of a package's family"},
      {.name = "--families-file",
       .value = "FILE",
       .help = "targets of families, for --thin and for split artifacts: a families file, or the name of a shipped "
               "table (default: data/families.toml)",
       .environment = "QUARRY_FAMILIES"},
      {.name = "--require-complete",
       .value = "",
       .help = "fail when a program that the recipe calls required is missing"},
      {.name = "--allow-unverified", .value = "", .help = "take archives that have no checksum file"},
      {.name = "--dry-run", .value = "", .help = "plan and check, write nothing", .letter = 'n'},
  };
  for (auto& flag : both_ways("--build-packages", "write packages (default); without, the tree of each package as "
                                                  "OUT/PROJECT: `wheel pack` takes those of wheels"))
    flags.push_back(std::move(flag));
  return flags;
}

Command sdk_build_command() {
  Command c;
  c.path = {"sdk", "build"};
  c.summary = "build the packages of an SDK from the artifacts of a run";
  c.description =
      "Reads the artifacts in `--artifact-dir`, plans every package from a recipe, proves each ELF edit, "
      "and writes the `rocm` sdist and the "
      "wheels to `DEST/dist/`. No file is copied or unpacked on the way: the packages stream from the "
      "artifacts' own files, or from archives (`.tar.zst`, `.tar.xz`) that have been checked as a fetch "
      "does. An archive of one endless frame, which can be read from the front only, is unpacked once into "
      "a temporary file without a name.\n\n"
      "The bytes of a package depend on the artifacts, the recipe, the version and the profile alone, not "
      "on the machine or `--jobs`. Packages for Windows are made on any machine: with `--platform windows` "
      "programs and DLLs are checked and taken as they are.\n\n"
      "A `--platform-tag` is a promise about the machines that can load the files (PEP 600). It is proven "
      "before anything is written: what asks for newer symbol versions, or for a library that neither these "
      "packages hold nor every system has, is an error that names the file. The payload of the devel "
      "package is unpacked by Python, which reads xz in every version and zst from 3.14 on.\n\n"
      "With `--thin` a package of a family holds the device code for its targets alone, as `quarry wheel thin` makes "
      "it: nothing is packed that would be removed later.";
  c.flags = build_flags();
  c.examples = {
      {"quarry sdk build --artifact-dir artifacts --dest-dir out --version 7.2.0", "all packages, release profile"},
      {"quarry sdk build --artifact-dir artifacts --dest-dir out --version 7.2.0.dev1 --profile ci",
       "fast packages for a pull request"},
      {"quarry sdk build --artifact-dir windows --dest-dir out --version 7.2.0 --platform windows",
       "packages for Windows, made here"}};
  c.exit_codes = {{1, "the artifacts cannot be packaged: the findings say why"},
                  {3, "no artifact, or none for a family"},
                  {6, "artifacts contradict each other"},
                  {7, "another build writes there, or packages of another version exist there; with "
                      "--no-build-packages: a tree already exists"}};
  c.schema = "quarry.sdk-build/1";
  c.run = build;
  return c;
}

} // namespace

std::vector<Command> sdk_commands() { return {sdk_build_command()}; }

} // namespace quarry::cli
