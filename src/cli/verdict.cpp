#include "cli/verdict.hpp"
#include "cli/records.hpp"
#include "cli/table.hpp"

#include "base/one_line.hpp"
#include "base/text.hpp"
#include "dist/family.hpp"
#include "gate/shipped.hpp"
#include "promote/policy_choice.hpp"
#include "sys/file.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <set>

namespace quarry::cli {

namespace {

constexpr std::uint64_t k_expectation_bytes_max = 1u << 20; // the largest matrix known needs 20 kB

} // namespace

Result<gate::Policy> load_policy(Context& context, const std::string& named) {
  return gate::find_policy(context.resources, named);
}

Result<gate::Policy> policy_for(Context& context, const Arguments& arguments, store::ObjectReader& store,
                                const std::string& channel) {
  TRY(auto now, registry::read_channel(store, channel));
  return policy_for(context, arguments, store, now);
}

Result<gate::Policy> policy_for(Context& context, const Arguments& arguments, store::ObjectReader& store,
                                const std::optional<registry::Channel>& now) {
  auto named = arguments.get("--policy");
  return promote::policy_to_judge_by(context.resources, store, now,
                                     {named, arguments.has("--policy") ? promote::Said::yes : promote::Said::no});
}

Flag expect_flag() {
  return {.name = "--expect",
          .value = "FILE",
          .help = "platforms, families, Pythons and projects that must be there, besides what the policy expects"};
}

Result<release::Source> source_of(const Arguments& arguments, store::ObjectReader& store) {
  TRY(auto source, release::resolve(store, arguments.list("--from")));
  if (auto file = arguments.find("--expect")) {
    TRY(auto text, sys::read_file(*file, k_expectation_bytes_max), "while reading what is expected");
    TRY(auto expectation, gate::parse_expectation({*file, std::move(text)}));
    source.expectations.push_back(std::move(expectation));
  }
  return source;
}

namespace {

/// "rocm 7.2.0"; with several releases "rocm 7.2.0, 7.2.1"; without rocm the first project.
std::string subject_name(const std::vector<gate::Subject>& subjects) {
  std::set<std::string> versions;
  std::string project(dist::k_sdk_project);
  auto collect = [&] {
    for (const auto& subject : subjects)
      for (const auto& file : subject.set.files)
        if (file.project == project) versions.insert(file.version);
  };
  collect();
  if (versions.empty() && !subjects.empty() && !subjects[0].set.files.empty()) {
    project = subjects[0].set.files[0].project;
    collect();
  }
  std::vector<std::string> list(versions.begin(), versions.end());
  return list.empty() ? "nothing new" : project + " " + text::join(list, ", ");
}

std::string cell_name(const registry::Cell& cell) {
  std::vector<std::string> parts = {cell.platform.empty() ? "any platform" : std::string(cell.platform.text())};
  if (!cell.family.empty()) parts.push_back(cell.family);
  parts.push_back(cell.python.empty() ? "any python" : "py" + cell.python);
  if (!cell.framework.empty()) parts.push_back(cell.framework);
  if (!cell.backend.empty()) parts.push_back(cell.backend);
  return text::join(parts, " ");
}

/// "set:0e66efc9cb8b  run 42-linux  rocm 7.2.0": which of the sets the cells below it are of.
std::string set_line(const gate::Subject& subject) {
  const auto& origin = subject.set.origin;
  auto run = origin.run_id.empty() ? "" : fmt::format("  run {}-{}", origin.run_id, origin.platform);
  if (!run.empty() && !origin.group.empty()) run += "@" + origin.group;
  return fmt::format("  set:{}{}  {}\n", subject.digest.short_hex(), text::one_line(run),
                     text::one_line(subject_name({subject})));
}

Cell verdict_word(const gate::CellVerdict& c) {
  if (c.verdict == gate::Decision::held) return {"HELD", Tone::bad};
  return c.waived ? Cell{"WAIVED", Tone::doubtful} : Cell{"READY", Tone::good};
}

// Below the line of each set a table of its cells; all have the same columns.
std::string cells_text(const gate::Verdict& verdict, const std::vector<gate::Subject>& subjects, Look look) {
  std::size_t width = 0;
  for (const auto& c : verdict.cells) width = std::max(width, cell_name(c.cell).size());
  const std::vector<Column> columns{{.least = width}, {.least = std::string_view("WAIVED").size()}, k_text};
  std::string text;
  registry::SetDigest set;
  for (const auto& c : verdict.cells) {
    auto of_cell = [&](const gate::Subject& s) { return s.digest == c.set; };
    auto subject = std::find_if(subjects.begin(), subjects.end(), of_cell);
    if (c.set != set && subject != subjects.end()) text += set_line(*subject);
    if (c.set != set && c.set.empty()) text += "  expected, and not there\n";
    set = c.set;
    TableRows rows;
    for (std::size_t i = 0; i < c.reasons.size(); ++i)
      rows.push_back({i == 0 ? Cell(cell_name(c.cell)) : Cell(""), i == 0 ? verdict_word(c) : Cell(""), c.reasons[i]});
    text += table(columns, rows, look, 4);
  }
  return text;
}

} // namespace

std::string verdict_text(const gate::Verdict& verdict, const std::vector<gate::Subject>& subjects,
                         const VerdictLine& line) {
  auto ready = std::count_if(verdict.cells.begin(), verdict.cells.end(),
                             [](const auto& c) { return c.verdict == gate::Decision::ready; });
  auto head = text::one_line(fmt::format("{}  {} -> {}", subject_name(subjects), line.from, line.to));
  if (verdict.cells.empty()) return head + "   the channel has all of it\n";
  auto text = fmt::format("{}   {} of {} cells ready\n{}", head, ready, verdict.cells.size(),
                          cells_text(verdict, subjects, line.look));
  if (verdict.mode == gate::Mode::report_only)
    text += fmt::format("Policy {} only reports: nothing is held.\n", verdict.policy);
  return text;
}

namespace {
Json suites_json(const gate::CellVerdict& cell) {
  auto suites = Json::array();
  for (const auto& one : cell.suites) {
    suites.push_back({{"suite", one.suite}, {"state", gate::to_string(one.state)}});
    if (!one.job.empty()) suites.back()["job"] = one.job;
    if (one.results.all) suites.back()["results"] = {{"passed", one.results.passed}, {"all", one.results.all}};
  }
  return suites;
}
} // namespace

std::string openly_text(const gate::Verdict& verdict) {
  return verdict.openly.empty() ? std::string() : fmt::format(" (openly {})", text::join(verdict.openly, ", "));
}

Json verdict_json(const gate::Verdict& verdict) {
  Json cells = Json::array();
  for (const auto& c : verdict.cells)
    cells.push_back({{"cell", cell_json(c.cell)},
                     {"set", c.set},
                     {"verdict", gate::to_string(c.verdict)},
                     {"waived", c.waived},
                     {"waivers", c.waivers},
                     {"reasons", c.reasons},
                     {"suites", suites_json(c)},
                     {"evidence", c.evidence},
                     {"untested", c.untested},
                     {"failed", c.failed},
                     {"not_installable", c.not_installable}});
  return {{"verdict", gate::to_string(verdict.verdict)},
          {"would_hold", verdict.would_hold},
          {"mode", verdict.mode == gate::Mode::enforce ? "enforce" : "report_only"},
          {"policy", {{"name", verdict.policy}, {"digest", verdict.policy_digest}, {"openly", verdict.openly}}},
          {"cells", cells}};
}

} // namespace quarry::cli
