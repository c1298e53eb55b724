#include "cli/commands.hpp"

namespace quarry::cli {
std::vector<Command> promote_commands() { return {}; }
}  // namespace quarry::cli
