#include "cli/commands.hpp"
#include "cli/inspected.hpp"
#include "cli/records.hpp"
#include "cli/table.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "inspect/device_verdict.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {
constexpr std::size_t k_rows_max = 20; // libraries of a terminal; --json has all

std::uint64_t unpacked_bytes(const inspect::WheelContents& wheel) {
  std::uint64_t bytes = 0;
  for (const auto& row : wheel.report.record) bytes += row.size.value_or(0);
  return bytes;
}

std::string tag_of(const dist::WheelTags& tags) {
  return fmt::format("{}-{}-{}", tags.python, tags.abi, tags.platform);
}

std::string facts_text(const InspectedWheel& wheel) {
  const auto& contents = wheel.contents;
  const auto& report = contents.report;
  std::string out;
  auto fact = [&](std::string_view name, const std::string& value) { out += fmt::format("{:<11} {}\n", name, value); };
  if (report.name) {
    fact("project", fmt::format("{} {}", report.name->project.str(), report.name->version.str()));
    fact("tag", tag_of(report.name->tags));
  }
  fact("size", fmt::format("{}; {} with {} unpacked", units::bytes(report.size),
                           units::things(report.record.size(), "file"), units::bytes(unpacked_bytes(contents))));
  fact("platform", platform_text(wheel));
  constexpr std::size_t k_requirements_shown = 5;
  if (report.metadata && !report.metadata->requires_dist.empty())
    fact("requires", text::first(report.metadata->requires_dist, k_requirements_shown));
  return out;
}

std::string libraries_text(const inspect::WheelContents& wheel, Look look) {
  std::vector<const inspect::MachineFile*> files;
  for (const auto& file : wheel.files)
    if (file.elf || file.pe) files.push_back(&file);
  if (files.empty()) return {};
  std::ranges::stable_sort(files, std::ranges::greater(), [](const auto* file) { return file->device.size; });
  TableRows rows{{"file", "bytes", "SONAME", "run path", "needs"}};
  for (std::size_t i = 0; i < std::min(files.size(), k_rows_max); ++i) {
    const auto& file = *files[i];
    std::string run_path, needs, soname;
    if (file.elf) {
      const auto& facts = file.elf->facts;
      soname = facts.soname.value_or("");
      run_path = facts.runpath.value_or(facts.rpath.value_or(""));
      needs = units::count(facts.needed.size());
    } else {
      needs = units::count(file.pe->imports.size());
    }
    rows.push_back({file.member, units::bytes(file.device.size), soname, run_path, needs});
  }
  auto out = "\n" + table({k_name, k_number, k_name, k_name, k_number}, rows, look);
  if (files.size() > k_rows_max)
    out += fmt::format("{} more; --json lists all\n", units::things(files.size() - k_rows_max, "file"));
  return out;
}

/// How many columns of numbers stand beside names that can still be told apart.
std::size_t columns_that_fit(const TableRows& rows, Look look) {
  constexpr std::size_t k_name_width = 28, k_gap = 2;
  std::size_t widest = 1;
  for (const auto& row : rows)
    for (std::size_t i = 1; i < row.size(); ++i) widest = std::max(widest, width_of(row[i].text));
  if (look.columns == 0) return SIZE_MAX;
  return look.columns < k_name_width ? 1 : std::max<std::size_t>(1, (look.columns - k_name_width) / (widest + k_gap));
}

/// One row for each library with device code, one column for each target, as people compare them. Targets that have no
/// room beside the others come in a further table, with the libraries that have code for them.
std::string device_text(const InspectedWheel& wheel, Look look) {
  auto judgement = inspect::judge(device_code_of({wheel}), {});
  if (judgement.targets.empty()) return {};
  TableRows all{{"device code"}};
  for (const auto& sum : judgement.targets) all[0].emplace_back(sum.target);
  for (const auto& file : wheel.contents.files) {
    std::map<std::string, std::uint64_t> bytes;
    for (const auto& object : file.device.contents.objects) bytes[object.target.str()] += object.bytes;
    if (bytes.empty()) continue;
    std::vector<Cell> row{file.member};
    for (const auto& sum : judgement.targets)
      row.emplace_back(bytes.contains(sum.target) ? units::bytes(bytes[sum.target]) : "");
    all.push_back(std::move(row));
  }
  std::string out;
  auto step = std::min(columns_that_fit(all, look), judgement.targets.size());
  for (std::size_t begin = 1; begin <= judgement.targets.size(); begin += step) {
    auto end = std::min(begin + step, judgement.targets.size() + 1);
    TableRows rows;
    for (const auto& row : all) {
      std::vector<Cell> part(row.begin() + static_cast<std::ptrdiff_t>(begin),
                             row.begin() + static_cast<std::ptrdiff_t>(end));
      if (std::ranges::all_of(part, [](const Cell& cell) { return cell.text.empty(); })) continue;
      part.insert(part.begin(), row[0]);
      rows.push_back(std::move(part));
    }
    std::vector<Column> columns(end - begin + 1, k_number);
    columns[0] = k_name;
    out += "\n" + table(columns, rows, look);
  }
  return out;
}

Json elf_json(const inspect::MachineFile& file) {
  const auto& linking = *file.elf;
  auto optional = [](const std::optional<std::string>& text) { return text ? Json(*text) : Json(nullptr); };
  Json versions = Json::object();
  for (const auto& one : linking.versions) versions[one.library].push_back(one.version);
  return {{"file", file.member},
          {"bytes", file.device.size},
          {"machine", inspect::machine_name(linking.facts.machine)},
          {"soname", optional(linking.facts.soname)},
          {"needed", linking.facts.needed},
          {"rpath", optional(linking.facts.rpath)},
          {"runpath", optional(linking.facts.runpath)},
          {"versions", versions},
          {"processor_level", linking.isa_level},
          {"build_id", linking.build_id.empty() ? Json(nullptr) : Json(linking.build_id)},
          {"debug_bytes", linking.debug_bytes}};
}

Json code_objects_json(const inspect::WheelContents& wheel) {
  Json out = Json::array();
  for (const auto& file : wheel.files) {
    std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> sums;
    for (const auto& object : file.device.contents.objects) {
      auto& [count, bytes] = sums[object.target.str()];
      ++count;
      bytes += object.bytes;
    }
    for (const auto& [target, sum] : sums)
      out.push_back({{"file", file.member}, {"target", target}, {"count", sum.first}, {"bytes", sum.second}});
  }
  return out;
}

Json as_json(const InspectedWheel& wheel) {
  const auto& report = wheel.contents.report;
  Json elf = Json::array(), dlls = Json::array();
  for (const auto& file : wheel.contents.files) {
    if (file.elf) elf.push_back(elf_json(file));
    if (file.pe)
      dlls.push_back({{"file", file.member},
                      {"bytes", file.device.size},
                      {"machine", pe::machine_name(file.pe->machine)},
                      {"imports", file.pe->imports}});
  }
  return {{"path", wheel.contents.path},
          {"project", report.name ? Json(report.name->project.str()) : Json(nullptr)},
          {"version", report.name ? Json(report.name->version.str()) : Json(nullptr)},
          {"tags", report.name ? Json(report.name->tags.expanded()) : Json::array()},
          {"size", report.size},
          {"sha256", digest_json(report)},
          {"files", report.record.size()},
          {"unpacked_bytes", unpacked_bytes(wheel.contents)},
          {"policy", verdict_json(wheel)},
          {"elf", elf},
          {"dlls", dlls},
          {"code_objects", code_objects_json(wheel.contents)},
          {"findings", findings_json(report.findings)}};
}

Result<int> run_inspect(Context& context, const Arguments& arguments) {
  TRY(auto tables, load_tables(context));
  TRY(auto operand, file_operand(context, arguments.operands.at(0)));
  TRY(auto wheels, inspect_wheels(context, tables, {{std::move(operand)}, context.out.json()}));
  const auto& wheel = wheels.front();
  auto look = context.out.data_look();
  context.out.findings(wheel.contents.report.findings);
  context.out.data(facts_text(wheel) + libraries_text(wheel.contents, look) + device_text(wheel, look));
  if (context.out.json()) context.out.document(as_json(wheel));
  return wheel::exit_code(wheel.contents.report);
}
} // namespace

Command wheel_inspect_command() {
  return {
      .path = {"wheel", "inspect"},
      .summary = "what a wheel holds: tag, libraries, run paths, GPU targets",
      .description =
          "Shows facts; `quarry wheel check` says what is wrong with them. The platform line names the oldest "
          "manylinux or musllinux tag that the files keep and what decides it; libraries of this machine count for "
          "nothing. "
          "The tables list the largest libraries and programs, and the bytes of device code by library and "
          "target.\n\n"
          "A wheel in a bucket or on a web server is fetched into a file without a name in TMPDIR first: its RECORD "
          "is about all bytes. `quarry wheel metadata` and `quarry gpu list` fetch only what they need.",
      .operands = {{.name = "WHEEL", .help = k_wheel_help}},
      .flags = {},
      .examples = {{"quarry wheel inspect numpy-2.3.0-….whl", "facts for people"},
                   {"quarry wheel inspect s3://bucket/v2/torch-2.9.0-cp312-cp312-linux_x86_64.whl",
                    "the same of a wheel in a bucket"},
                   {"quarry wheel inspect --json x.whl | jq .policy.tag", "the platform tag that holds"}},
      .exit_codes = {{1, "the wheel has findings of `quarry wheel verify`"},
                     {2, "the file is not a wheel"},
                     {3, "the wheel does not exist"},
                     {6, "its container or RECORD is broken, or it changed while it was read"}},
      .schema = "quarry.wheel-inspect/1",
      .run = run_inspect};
}

} // namespace quarry::cli
