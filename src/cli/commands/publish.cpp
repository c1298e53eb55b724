#include "cli/commands.hpp"

namespace quarry::cli {
std::vector<Command> publish_commands() { return {}; }
}  // namespace quarry::cli
