#include "cli/commands.hpp"

namespace quarry::cli {
std::vector<Command> test_commands() { return {}; }
}  // namespace quarry::cli
