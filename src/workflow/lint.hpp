#pragma once
// `workflow lint`: findings over all workflows of a repository, with suppressions and a baseline.
#include "workflow/model.hpp"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace quarry::workflow {

class RefSource;

/// A finding that a comment in the file accepts.
struct Suppressed {
  Located finding;
  std::string reason, until;
};

struct Report {
  std::vector<Located> findings; ///< by file, line, column, code
  std::vector<Suppressed> suppressed;
  std::string first_file;                           ///< of the workflows; empty without one
  std::map<std::string, std::size_t> not_looked_at; ///< what could not be checked, with its number of places
  std::size_t workflows = 0, actions = 0, calls = 0, dispatches = 0;
};

struct LintOptions {
  std::string today;                   ///< "2026-11-22": suppressions expire by it
  std::map<std::string, Tree*> others; ///< OWNER/REPO -> its files
  const RefSource* refs = nullptr;     ///< branches and tags of other repositories; nullptr: not looked at
  Tree* base = nullptr;                ///< an older state of the tree: paths that it has and the tree has not are gone
};

/// Reads the workflows of `tree` and applies every rule. Fails only when no workflow is found (Y152). Linear in the
/// files, but for calls, which are followed at most 10 deep.
Result<Report> lint(Tree& tree, const LintOptions& options);

/// The same of workflows that are read already; their defects move into the report. No I/O but of the files that rules
/// look up in the tree.
Report lint_repository(Repository& repository, const LintOptions& options);

/// Removes the findings that `before` has as well: same code, file and message, wherever their lines are now; as many
/// of equal ones as there were. Returns how many were removed.
std::size_t remove_known(Report& report, const Report& before);

/// "file:line:column" and the rest as other commands show it.
Finding to_finding(const Located& located);

/// Applies `# quarry: ignore CODE[,CODE…] reason="…" until=YYYY-MM-DD` of `file`, a workflow, action or Dockerfile, to
/// the findings of that file: those on the comment's line or the line below it. Adds findings for a suppression without
/// reason or date (Y105), one whose day has passed (Y106) and one that nothing needs (Y107).
void apply_suppressions(const File& file, const std::string& today, Report& report);

} // namespace quarry::workflow
