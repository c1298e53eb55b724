#pragma once
// Which command of the table the first words of a command line name. Pure. Errors: C001 (no such command), C002 (a flag
// that only a command may take stands before its name), C006 (a wrong value of a flag of every command).
#include "cli/command.hpp"
#include <span>
#include <string>
#include <vector>

namespace quarry::cli {

/// The command that the words name. Flags of every command may stand before and between the words of its name.
struct Resolved {
  const Command* command = nullptr; ///< null: no command was named, or only a noun such as "artifact"
  std::string group;                ///< that noun; empty otherwise
  std::vector<std::string> words;   ///< what remains for parse_words()
  bool help = false;                ///< --help, -h or `help` was given
};
/// Refuses any other flag before the name of the command is complete: a flag that is passed over would change what is
/// done, or make a command line that does nothing look like a success.
Result<Resolved> resolve(std::span<const Command> commands, std::span<const std::string> words);

} // namespace quarry::cli
