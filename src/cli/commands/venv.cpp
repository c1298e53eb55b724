#include "cli/commands.hpp"

namespace quarry::cli {
std::vector<Command> venv_commands() { return {}; }
}  // namespace quarry::cli
