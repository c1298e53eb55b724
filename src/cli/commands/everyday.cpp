#include "cli/commands.hpp"

namespace quarry::cli {
std::vector<Command> everyday_commands() { return {}; }
}  // namespace quarry::cli
