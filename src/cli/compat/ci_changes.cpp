#include "cli/compat/ci_changes.hpp"

#include "base/text.hpp"
#include "workflow/tree.hpp"
#include <vector>

namespace quarry::cli::compat {

namespace {
/// The paths that `git submodule status` lists: a letter, the commit, the path, a name in parentheses.
std::vector<std::string> submodule_paths(const std::string& listed) {
  std::vector<std::string> paths;
  for (const auto& line : text::lines(listed)) {
    auto words = text::split_any(line, " ");
    if (words.size() >= 2) paths.push_back(words[1]);
  }
  return paths;
}
} // namespace

Result<matrix::CiChanges> changes_since(const Context& context, const std::string& base) {
  workflow::GitPlace here{"", base, context.environment};
  bool commit = base.size() == 40 && base.find_first_not_of("0123456789abcdef") == base.npos;
  if (commit && !workflow::git(here, {"cat-file", "-e", base + "^{commit}"})) // the checkout is a shallow one
    TRY_DO(workflow::git(here, {"fetch", "--no-tags", "--no-recurse-submodules", "--depth=1", "origin", base}));
  matrix::CiChanges changes;
  TRY(auto names, workflow::git(here, {"diff", "--name-only", base, "--"}));
  changes.files = text::lines(names);
  TRY(auto submodules, workflow::git(here, {"submodule", "status"}));
  changes.submodules = submodule_paths(submodules);
  return changes;
}

} // namespace quarry::cli::compat
