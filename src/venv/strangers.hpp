#pragma once
// Private to the room.
// Files that no RECORD lists, where Python or the loader would find them.
#include "base/result.hpp"
#include "venv/file_checks.hpp"
#include "venv/installed.hpp"
#include <set>
#include <string>
#include <vector>

namespace quarry::venv {

/// Paths below site-packages that `distributions` list, and the top directories of those in `projects`.
struct Listed {
  std::set<std::string> paths, tops;
  std::set<std::string> locks = {}; ///< where a lock may lie that TheRock's scripts leave behind: an empty file
};
/// Pure.
Listed listed_by(const std::vector<Distribution>& distributions, const std::set<std::string>& projects);

/// Defects: files below the top directories that are not listed, and files that Python runs or obeys by itself at
/// start. Lists the directories; reads no file.
Result<Defects> find_strangers(const std::string& site_packages, const Listed& listed);

} // namespace quarry::venv
