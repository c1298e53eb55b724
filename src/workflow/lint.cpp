#include "workflow/lint.hpp"

#include "base/text.hpp"
#include "workflow/rules.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <tuple>

namespace quarry::workflow {

namespace {
auto order(const Located& one) { return std::tie(one.file, one.at.line, one.at.column, one.code, one.message); }

/// Findings move between lines; line numbers inside of messages move, too.
std::string identity(const Located& one) {
  std::string text;
  for (char c : one.message)
    if (c < '0' || c > '9') text += c;
  return one.code + '\n' + one.file + '\n' + text;
}
} // namespace

Result<Report> lint(Tree& tree, const LintOptions& options) {
  TRY(auto repository, read_repository(tree));
  return lint_repository(repository, options);
}

Report lint_repository(Repository& repository, const LintOptions& options) {
  Report report;
  report.workflows = repository.workflows;
  report.actions = repository.actions;
  for (const auto& file : repository.files)
    for (const auto& call : file->calls) ++(call.kind == Call::Kind::dispatch ? report.dispatches : report.calls);
  report.findings = std::move(repository.defects);
  if (!repository.files.empty()) report.first_file = repository.files.front()->path;
  std::map<std::string, Tree*> others;
  for (const auto& [name, files] : options.others) others[text::lower(name)] = files;
  std::vector<std::unique_ptr<File>> build_files;
  Rules rules{repository, others, options.refs, options.base, report, options.others, build_files};
  check_interfaces(rules);
  check_calls(rules);
  check_graph(rules);
  check_matrices(rules);
  check_checkouts(rules);
  check_clones(rules);
  check_steps(rules);
  check_downloads(rules);
  check_paths(rules);
  check_refs(rules);
  check_targets(rules);
  auto sort = [&] { std::ranges::sort(report.findings, {}, order); };
  sort();
  // Two places with one alias are one place in the file.
  auto twice = std::ranges::unique(report.findings, {}, order);
  report.findings.erase(twice.begin(), twice.end());
  for (const auto* files : {&repository.files, &build_files})
    for (const auto& file : *files) apply_suppressions(*file, options.today, report);
  sort();
  return report;
}

std::size_t remove_known(Report& report, const Report& before) {
  std::map<std::string, std::size_t> known;
  for (const auto& one : before.findings) ++known[identity(one)];
  for (const auto& one : before.suppressed) ++known[identity(one.finding)];
  auto is_known = [&](const Located& one) {
    auto found = known.find(identity(one));
    if (found == known.end() || found->second == 0) return false;
    --found->second;
    return true;
  };
  auto size = report.findings.size();
  std::erase_if(report.findings, is_known);
  return size - report.findings.size();
}

Finding to_finding(const Located& located) {
  auto place = located.file;
  if (located.at.line != 0) place += fmt::format(":{}:{}", located.at.line, located.at.column);
  return {located.code, located.severity, std::move(place), located.message, located.fix};
}

} // namespace quarry::workflow
