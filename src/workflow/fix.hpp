#pragma once
// `workflow lint --fix`: makes those edits whose result is certain.
#include "workflow/lint.hpp"
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::workflow {

struct FixedFile {
  std::string path;           ///< relative to the root of the tree
  std::string text;           ///< the whole file after its edits
  std::vector<Located> fixed; ///< the findings whose edits it holds
};

/// Whether the text has what the edit replaces, at the place that the edit names. Pure.
bool stands_there(std::string_view text, const Edit& edit);

struct Edited {
  std::string text;
  std::vector<Located> fixed; ///< the findings whose edits were made
};
/// Returns `text` with the edits of these findings, all of this file. They are made from the end to the beginning, so
/// that none moves the place of another one. Pure.
Edited edited(std::string_view text, const std::vector<const Located*>& wanted);

/// Reads the files of those findings that have an edit, and returns their texts after it. An edit is left out if what
/// it replaces does not stand at its place, or, without a place, not exactly once on the line. A comment that is
/// removed takes an otherwise empty line with it. Writes nothing. Fails with Y150 if a file cannot be read. One read
/// for each file.
Result<std::vector<FixedFile>> fixed_files(Tree& tree, const std::vector<Located>& findings);

} // namespace quarry::workflow
