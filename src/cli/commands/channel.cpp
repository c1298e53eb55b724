#include "cli/commands.hpp"

namespace quarry::cli {
std::vector<Command> channel_commands() { return {}; }
}  // namespace quarry::cli
