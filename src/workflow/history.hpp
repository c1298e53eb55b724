#pragma once
// What lies between two revisions of a git repository: commits and changed lines. Reads by git alone.
#include "workflow/tree.hpp"
#include <cstdint>
#include <string>
#include <vector>

namespace quarry::workflow {

struct Commit {
  std::string id, author, date, title;
  std::vector<std::string> files; ///< that it changes
};

struct ChangedLine {
  std::uint32_t number = 0; ///< in the revision that has the line
  std::string text;
};

struct ChangedFile {
  std::string path;
  bool created = false, deleted = false;
  std::vector<ChangedLine> added, removed;
  std::vector<std::string> near; ///< three lines around each change, and the function that git names for it
};

struct History {
  std::string base, head;      ///< commits; base is the merge base, as a pull request is compared
  std::vector<Commit> commits; ///< oldest first
  std::vector<ChangedFile> files;
  std::size_t added = 0, removed = 0; ///< lines
  const ChangedFile* find(std::string_view path) const;
};

/// Runs git five times. `place.revision` is ignored. not_found Y151 when git does not know a revision or the two have
/// no commit in common; missing_program D007.
Result<History> read_history(const GitPlace& place, const std::string& base, const std::string& head);

} // namespace quarry::workflow
