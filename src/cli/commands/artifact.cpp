#include "cli/commands.hpp"

namespace quarry::cli {
std::vector<Command> artifact_commands() { return {}; }
}  // namespace quarry::cli
