#pragma once
// Private to the room.
// Files that commands name and that must be there before they run. Pure.
#include "workflow/shell.hpp"
#include <vector>

namespace quarry::workflow {

/// The words of a command that must be files: the script of an interpreter, tests of pytest, requirements of pip. What
/// stands behind `::` in a test is left out.
std::vector<Word> files_of(const std::vector<Word>& words);

} // namespace quarry::workflow
