#pragma once
// What the commands `workflow …` share: the trees that their operands and flags name, and findings as JSON.
#include "base/json.hpp"
#include "cli/annotations.hpp"
#include "cli/codes.hpp"
#include "cli/command.hpp"
#include "workflow/lint.hpp"
#include "workflow/refs.hpp"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace quarry::cli {

/// The operand DIR, or ".".
std::string workflow_root(const Arguments& arguments);
workflow::GitPlace git_place(const Context& context, std::string directory, std::string revision);

/// Other repositories by OWNER/REPO; the map points into `trees`.
struct Others {
  workflow::RefSource refs; ///< of those that are clones
  std::vector<std::unique_ptr<workflow::Tree>> trees;
  std::map<std::string, workflow::Tree*> by_name;
};
/// What `--online` and `--with OWNER/REPO=PLACE` say; PLACE is a directory, a bare repository (its HEAD) or DIR@REV.
/// Errors: C006, Y150, Y151.
Result<Others> others_of(const Context& context, const Arguments& arguments);
Flag with_flag();
Flag online_flag();

/// {code, severity, file, line, column, place, message, fix}
Json located_json(const workflow::Located& one);
std::vector<PlacedFinding> placed(const std::vector<workflow::Located>& findings);
std::size_t count_of(const std::vector<workflow::Located>& findings, Severity severity);
/// Empty when nothing explains the code.
std::string title_of(const std::map<std::string, Explanation>& codes, const std::string& code);

} // namespace quarry::cli
