#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/far_file.hpp"
#include "cli/package_diff.hpp"
#include "cli/records.hpp"
#include "cli/table.hpp"
#include "cli/wheel_operands.hpp"
#include "inspect/compare.hpp"
#include "inspect/size_changes.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {
constexpr std::size_t k_changes_shown = 20, k_targets_shown = 8; // of a terminal; --json has all

std::string signed_bytes(std::int64_t bytes) {
  if (bytes == 0) return "0";
  return (bytes < 0 ? "-" : "+") + units::bytes(static_cast<std::uint64_t>(bytes < 0 ? -bytes : bytes));
}

/// "gfx1201 added (31.0 MB), gfx900 removed (12.0 MB)": why the file changed its size.
std::string cause_of(const inspect::SizeChange& change) {
  std::vector<std::string> causes;
  for (const auto& target : change.targets) {
    auto size = units::bytes(static_cast<std::uint64_t>(target.bytes < 0 ? -target.bytes : target.bytes));
    causes.push_back(target.added  ? fmt::format("{} added ({})", target.target, size)
                     : target.gone ? fmt::format("{} removed ({})", target.target, size)
                                   : fmt::format("{} {}", target.target, signed_bytes(target.bytes)));
  }
  auto whole = change.added ? "new file" : change.gone ? "removed" : "";
  if (causes.empty()) return *whole ? whole : "other content";
  auto text = text::first(causes, k_targets_shown);
  return *whole ? fmt::format("{}: {}", whole, text) : text;
}

std::string sizes_text(const inspect::SizeComparison& sizes, Look look) {
  auto line = [](std::string_view what, std::uint64_t before, std::uint64_t now) {
    return fmt::format("{:<10}  {} | {}  ({})\n", what, units::bytes(before), units::bytes(now),
                       signed_bytes(static_cast<std::int64_t>(now) - static_cast<std::int64_t>(before)));
  };
  auto text = "\n" + line("download", sizes.left.download, sizes.right.download) +
              line("installed", sizes.left.installed, sizes.right.installed);
  if (sizes.changes.empty()) return text;
  TableRows rows{{"download", "installed", "file", "cause"}};
  for (std::size_t i = 0; i < std::min(sizes.changes.size(), k_changes_shown); ++i) {
    const auto& change = sizes.changes[i];
    rows.push_back({signed_bytes(change.download), signed_bytes(change.installed), change.path, cause_of(change)});
  }
  text += "\n" + table({k_number, k_number, k_name, k_text}, rows, look);
  if (sizes.changes.size() > k_changes_shown)
    text += fmt::format("{} more; --json lists all\n", units::things(sizes.changes.size() - k_changes_shown, "file"));
  return text;
}

Json change_json(const inspect::SizeChange& change) {
  Json targets = Json::array();
  for (const auto& target : change.targets)
    targets.push_back(
        {{"target", target.target}, {"bytes", target.bytes}, {"added", target.added}, {"removed", target.gone}});
  return {{"file", change.path},   {"download", change.download}, {"installed", change.installed},
          {"added", change.added}, {"removed", change.gone},      {"targets", targets}};
}

Json wheel_diff_document(const inspect::PackageDiff& package, const inspect::SizeComparison& sizes,
                         const Findings& defects) {
  Json changes = Json::array();
  for (const auto& change : sizes.changes) changes.push_back(change_json(change));
  auto both = [](std::uint64_t left, std::uint64_t right) { return Json{{"left", left}, {"right", right}}; };
  return {{"package", package_json(package)},
          {"download_bytes", both(sizes.left.download, sizes.right.download)},
          {"installed_bytes", both(sizes.left.installed, sizes.right.installed)},
          {"size_changes", changes},
          {"findings", findings_json(defects)}};
}

/// With what is wrong with it: the question is often asked of a wheel that another tool made.
struct ReadWheel {
  inspect::Package package;
  Findings defects;
};

Result<ReadWheel> wheel_of(const Context& context, const std::string& operand, Progress& progress) {
  ReadWheel read;
  TRY(auto file, file_operand(context, operand));
  TRY(auto bytes, bytes_of_wheel(context, file, [&](std::uint64_t fetched) { progress.update(fetched); }));
  TRY(read.package, inspect::read_package(bytes, file.place, {context.jobs, temporary_of(context), &read.defects}));
  if (read.package.kind == dist::DistributionKind::wheel) return read;
  return fail(ErrorKind::invalid_argument, "W022", fmt::format("{} is not a wheel", file.place),
              "`quarry set diff` compares source distributions, too");
}

Result<int> run_wheel_diff(Context& context, const Arguments& arguments) {
  auto progress = context.out.progress("reading", 0);
  TRY(auto from, wheel_of(context, arguments.operands.at(0), *progress));
  TRY(auto to, wheel_of(context, arguments.operands.at(1), *progress));
  auto defects = std::move(from.defects);
  std::ranges::move(to.defects, std::back_inserter(defects));
  std::vector<inspect::Package> left, right;
  left.push_back(std::move(from.package));
  right.push_back(std::move(to.package));
  progress->update(left.front().size + right.front().size);
  // Two wheels are compared, whatever they are called; their names differ as metadata.
  right.front().project = left.front().project;
  TRY(auto diff, inspect::compare(left, right, {}, {context.jobs, temporary_of(context)}));
  TRY(auto sizes, inspect::compare_sizes(left.front(), right.front(), {context.jobs, temporary_of(context)}));
  progress->finish();
  context.out.findings(defects);
  const auto& package = diff.packages.front();
  context.out.data(text_of(package));
  context.out.data(sizes_text(sizes, context.out.data_look()));
  if (context.out.json()) context.out.document(wheel_diff_document(package, sizes, defects));
  return diff.unexpected() == 0 ? 0 : traits(ErrorKind::failed).exit_code;
}
} // namespace

Command wheel_diff_command() {
  return {
      .path = {"wheel", "diff"},
      .summary = "how two wheels differ, and which change costs how many bytes",
      .description =
          "Verifies both wheels and compares them, also if RECORD or dist-info has a defect, as long as the archive is "
          "sound (no error Z) and METADATA and WHEEL can be read: which files there are, their bytes and executable "
          "bits, the dynamic "
          "sections of ELF files and whether code, data and symbols are the same, metadata, tags, entry points. Then "
          "the sizes, file by file, the largest change first: what it costs those who download, what it costs on disk, "
          "and for files with device code which GPU targets came, went or grew. The sizes of targets are those of "
          "their code objects before compression.\n\n"
          "A wheel's own version is not a part of its paths, so two versions can be compared. Code that `quarry wheel "
          "thin` removed leaves zeros: the download shrinks, the installed file keeps its length.",
      .operands = {{"A", "the wheel from before: a file, `s3://BUCKET/KEY` or `https://HOST/PATH`"},
                   {"B", "the wheel to compare with it"}},
      .flags = {},
      .examples = {{"quarry wheel diff old/torch-2.10.whl new/torch-2.11.whl", "why is the new wheel larger?"},
                   {"quarry wheel diff --json a.whl b.whl | jq '.size_changes[0]'", "the change that costs most"}},
      .exit_codes = {{0, "equal"},
                     {1, "something differs"},
                     {2, "a file is not a wheel"},
                     {3, "a path does not exist"},
                     {6, "a wheel is broken"}},
      .schema = "quarry.wheel-diff/1",
      .run = run_wheel_diff};
}

} // namespace quarry::cli
