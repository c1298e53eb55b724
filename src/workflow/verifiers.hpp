#pragma once
// Private to the room.
// Which commands of a script verify what it downloads. Pure.
#include "workflow/downloads.hpp"
#include <vector>

namespace quarry::workflow {

/// Sets `verified` of the downloads that a command compares with a digest or a signature: those that it or the pipe
/// before it names; all of them if it names a list of digests or none of them, as in a loop. A program that prints a
/// digest (`sha256sum f`, `Get-FileHash f`) verifies only if the script compares or uses what it prints. A program that
/// is not known and has a digest's name in its words is taken for a verifier.
void mark_verified(const std::vector<ShellCommand>& commands, std::vector<Download>& downloads);

} // namespace quarry::workflow
