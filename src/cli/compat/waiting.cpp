#include "cli/compat/script.hpp"

#include <fmt/core.h>

namespace quarry::cli::compat {

namespace {

struct Waiting {
  std::string name, for_what, hint;
};

Command waiting_command(const Waiting& waiting) {
  Command command;
  command.path = {"compat", waiting.name};
  command.summary = "not implemented yet (planned): needs " + waiting.for_what;
  command.description = "Always fails with exit code 2, so that no workflow mistakes it for success.";
  command.examples = {{"quarry compat " + waiting.name, "says what it needs"}};
  command.exit_codes = {{2, "always"}};
  command.schema = "quarry.error/1";
  command.raw = true;
  command.hidden = true; // answers who calls it, but is not offered
  command.run = [waiting](Context&, const Arguments&) -> Result<int> {
    return fail(ErrorKind::invalid_argument, "C041",
                fmt::format("{} is not implemented yet: it needs {}", waiting.name, waiting.for_what), waiting.hint);
  };
  return command;
}

} // namespace

std::vector<Command> waiting_scripts() {
  static const Waiting k_waiting[] = {
      {"update_dependencies", "one command for the packages of every family",
       "`quarry mirror sync` copies dependencies into an index that its file describes (docs/formats/mirror.md)"}};
  std::vector<Command> commands;
  for (const auto& waiting : k_waiting) commands.push_back(waiting_command(waiting));
  return commands;
}

} // namespace quarry::cli::compat
