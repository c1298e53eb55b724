#include "cli/commands.hpp"

namespace quarry::cli {
std::vector<Command> wheel_commands() { return {}; }
}  // namespace quarry::cli
