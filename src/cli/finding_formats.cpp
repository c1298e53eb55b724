#include "cli/finding_formats.hpp"

#include "cli/codes.hpp"
#include "cli/job_files.hpp"
#include "cli/table.hpp"
#include "cli/version.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace quarry::cli {

namespace {
/// GitHub drops the whole summary of a step above 1 MiB; other commands of the step write to it, too.
constexpr std::size_t k_summary_bytes_max = 512u << 10;
constexpr std::string_view k_for_programs[] = {"github", "sarif", "junit"};

bool is_for_programs(std::string_view format) {
  return std::find(std::begin(k_for_programs), std::end(k_for_programs), format) != std::end(k_for_programs);
}

Result<std::vector<Rule>> rules_of(const Context& context, const std::vector<PlacedFinding>& findings) {
  TRY(auto codes, load_codes(context.resources));
  std::set<std::string> used;
  for (const auto& one : findings) used.insert(one.code);
  std::vector<Rule> rules;
  for (const auto& code : used) {
    auto known = codes.find(code);
    auto is = known == codes.end() ? Explanation() : known->second;
    rules.push_back({code, is.title, is.about, is.fix});
  }
  return rules;
}

std::string place_text(const PlacedFinding& one) {
  return one.line == 0 ? one.file : fmt::format("{}:{}", one.file, one.line);
}

/// A fix stands below the first finding that has it.
std::string summary_of(const std::vector<PlacedFinding>& findings, const FindingFormat& format) {
  if (findings.empty()) return {};
  auto text = fmt::format("### {}: {}\n\n| code | severity | place | finding |\n|---|---|---|---|\n", format.suite,
                          format.counts);
  std::set<std::string> said{""};
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const auto& one = findings[i];
    if (text.size() > k_summary_bytes_max) {
      text += fmt::format("\n{} more findings do not fit here\n", findings.size() - i);
      break;
    }
    auto fix = said.insert(one.fix).second ? "<br>fix: " + table_cell(one.fix) : std::string();
    text += fmt::format("| {} | {} | {} | {}{} |\n", one.code, to_string(one.severity), table_cell(place_text(one)),
                        table_cell(one.message), fix);
  }
  return text;
}
} // namespace

Flag findings_format_flag(std::vector<std::string> formats, std::string help) {
  Flag flag{.name = "--format", .value = "F", .help = std::move(help), .choices = formats, .fallback = "text"};
  std::copy_if(formats.begin(), formats.end(), std::back_inserter(flag.documents), is_for_programs);
  return flag;
}

Result<void> print_for_programs(Context& context, const std::vector<PlacedFinding>& findings,
                                const FindingFormat& format) {
  if (!is_for_programs(format.format)) return {};
  if (format.format == "github") {
    auto page = context.variable("GITHUB_STEP_SUMMARY");
    auto rest = page.empty() ? "shown with `--format text`" : "in the step summary";
    context.out.data(annotations(findings, rest));
    return append_for_job("GITHUB_STEP_SUMMARY", page, summary_of(findings, format));
  }
  TRY(auto rules, rules_of(context, findings));
  context.out.data(format.format == "sarif"
                       ? json::pretty(sarif(findings, rules, {format.suite, std::string(program_version())}))
                       : junit(findings, rules, format.suite));
  return {};
}

} // namespace quarry::cli
