#include "cli/commands.hpp"

namespace quarry::cli {
std::vector<Command> elf_commands() { return {}; }
}  // namespace quarry::cli
