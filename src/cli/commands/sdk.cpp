#include "cli/commands.hpp"

namespace quarry::cli {
std::vector<Command> sdk_commands() { return {}; }
}  // namespace quarry::cli
