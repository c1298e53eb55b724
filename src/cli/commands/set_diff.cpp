#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/package_diff.hpp"
#include "cli/records.hpp"
#include "cli/shared_flags.hpp"
#include "inspect/compare.hpp"
#include "publish/resolve.hpp"
#include "sys/file.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {
using inspect::Diff;

constexpr std::uint64_t k_differences_bytes_max = 16u << 20; // a hundred thousand lines of expected differences

Result<std::vector<std::string>> files_of(const Context& context, const std::string& text, const Arguments& arguments) {
  using Kind = run::LocatorKind;
  TRY(auto locator, run::parse_locator(text));
  TRY_DO(run::require_kind(locator, {Kind::path, Kind::set, Kind::run, Kind::channel}, "compare packages of"));
  if (locator.kind == Kind::path) {
    auto files = inspect::package_files(locator.path);
    if (!files && files.error().kind == ErrorKind::not_found)
      files.error().hint =
          run::bare_word_hint(locator.text, {Kind::set, Kind::run, Kind::channel}, std::move(files.error().hint));
    return files;
  }
  auto place = arguments.find("--store");
  if (!place)
    return fail(ErrorKind::invalid_argument, "Q006", fmt::format("{} needs a store to look in", text),
                "add `--store file:PATH` or set QUARRY_STORE");
  TRY(auto store, open_store(context, *place));
  TRY(auto resolved, publish::resolve(*store, locator));
  std::vector<std::string> files;
  for (const auto& file : resolved.files) {
    TRY(auto path, publish::path_of_key(*store, file.key));
    files.push_back(std::move(path));
  }
  return files;
}

Result<std::vector<inspect::Package>> read_all(const std::vector<std::string>& files,
                                               const inspect::ReadOptions& options, Progress& progress,
                                               std::uint64_t& done) {
  std::vector<inspect::Package> packages;
  for (const auto& file : files) {
    TRY(auto package, inspect::read_package(file, options));
    progress.update(done += package.size);
    packages.push_back(std::move(package));
  }
  return packages;
}

Result<inspect::Allowed> allowed_of(const Arguments& arguments) {
  auto file = arguments.get("--allow");
  if (file.empty()) return inspect::Allowed{};
  TRY(auto text, sys::read_file(file, k_differences_bytes_max), "while reading --allow");
  return inspect::parse_allowed({text, file});
}

std::string diff_text_of(const Diff& diff) {
  std::string text;
  for (const auto& package : diff.packages) {
    text += text_of(package);
  }
  return text + fmt::format("{} files and values agree, {} differ as expected, {} differ\n", units::count(diff.equal()),
                            units::count(diff.allowed()), units::count(diff.unexpected()));
}

Json diff_document_of(const Diff& diff) {
  Json packages = Json::array();
  for (const auto& package : diff.packages) packages.push_back(package_json(package));
  return {{"packages", packages},
          {"equal", diff.equal()},
          {"allowed", diff.allowed()},
          {"different", diff.unexpected()},
          {"findings", findings_json(diff.findings)}};
}

Result<int> run_diff(Context& context, const Arguments& arguments) {
  TRY(auto allowed, allowed_of(arguments));
  TRY(auto left_files, files_of(context, arguments.operands.at(0), arguments));
  TRY(auto right_files, files_of(context, arguments.operands.at(1), arguments));
  auto temporary = context.variable("TMPDIR");
  inspect::ReadOptions options{context.jobs, temporary.empty() ? "/tmp" : temporary};
  auto progress = context.out.progress("reading", 0);
  std::uint64_t done = 0;
  TRY(auto left, read_all(left_files, options, *progress, done));
  TRY(auto right, read_all(right_files, options, *progress, done));
  TRY(auto diff, inspect::compare(left, right, allowed, options));
  progress->finish();
  context.out.data(diff_text_of(diff));
  context.out.document(diff_document_of(diff));
  context.out.findings(diff.findings);
  return diff.unexpected() == 0 ? 0 : traits(ErrorKind::failed).exit_code;
}

Command diff_command() {
  return {
      .path = {"set", "diff"},
      .summary = "how two sets of packages differ",
      .description =
          "Compares wheels and source distributions, package by package: which files there are, their bytes and "
          "executable bits, the dynamic sections of ELF files and whether code, data and symbols are the same, "
          "metadata, tags, "
          "entry points, sizes. Tars inside packages are looked into. Every wheel is verified first.\n\n"
          "A and B are sealed sets (`set:`, `run:`, `channel:`) or directories of packages. Packages are paired by "
          "project, version and tags; where versions differ, a package's own version is not a part of its paths.\n\n"
          "`--allow FILE` says which differences are expected and why: lines of package, place (a glob) and reason, "
          "with "
          "tabs between. A line that nothing needs is a warning.",
      .operands = {{.name = "A", .help = "set:DIGEST, run:ID, channel:NAME, or a directory of packages"},
                   {.name = "B", .help = "the same"}},
      .flags = {store_of_sets_flag(),
                {.name = "--allow", .value = "FILE", .help = "the differences that are expected, with reasons"}},
      .examples = {{"quarry set diff old/dist new/dist --allow differences.tsv", "what a new build changed"},
                   {"quarry set diff channel:stable run:42 --store file:store", "what a promotion would change"}},
      .exit_codes = {{0, "equal, or all differences are expected"},
                     {1, "something differs that is not expected"},
                     {3, "no packages there"},
                     {6, "a package is broken"}},
      .schema = "quarry.set-diff/1",
      .run = run_diff};
}
} // namespace

std::vector<Command> set_diff_commands() { return {diff_command()}; }

} // namespace quarry::cli
