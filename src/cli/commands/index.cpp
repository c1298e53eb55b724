#include "cli/commands.hpp"

namespace quarry::cli {
std::vector<Command> index_commands() { return {}; }
}  // namespace quarry::cli
