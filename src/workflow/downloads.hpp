#pragma once
// Private to the room.
// What a script downloads. Addresses are read in the command and in variables that the files give a value. Pure.
#include "workflow/programs.hpp"
#include "workflow/variables.hpp"
#include <string>
#include <string_view>
#include <vector>

namespace quarry::workflow {

struct Download {
  std::string url;
  std::string file;        ///< as the script names it; empty where it is not kept
  std::size_t command = 0; ///< its index in the commands
  bool runs = false;       ///< an interpreter takes it before anybody can compare it
  bool piped = false;      ///< an interpreter, tar or pip does: what is used is not a file that can be compared
  bool verified = false;
};

/// The commands of a script, and those of `bash -c "…"`, `pwsh -Command "…"` behind the command that starts them. Words
/// of the latter have the offset of the text that they are in.
std::vector<ShellCommand> with_inner_commands(const std::vector<ShellCommand>& commands);

/// Files that curl, wget and PowerShell save; what they hand to an interpreter or to tar by a pipe, `<(…)`, `$(…)` or
/// `iex`; packages that pip and uv install from an address without a digest; releases of other repositories that `gh
/// release download` fetches. Requests that only ask, and those to the
/// machine itself, are left out. `environment` are the variables that the script begins with. An address of which not
/// even the host is known is the variable as written: `$URL`.
std::vector<Download> downloads_of(const std::vector<ShellCommand>& commands, Variables environment = {});

} // namespace quarry::workflow
