#pragma once
// From the words of a command line to an exit code: resolve, parse, configure, run, report.
#include "cli/command.hpp"
#include "cli/output.hpp"
#include <map>
#include <span>
#include <string>
#include <vector>

namespace quarry::cli {

/// What the engine sees of the world. app makes the real one, tests make theirs.
struct World {
  const std::map<std::string, std::string>& environment;
  const sys::Clock& clock;
  const Resources& resources;
  Sink out, err;
  std::string program;   ///< absolute path of this binary
  std::string directory; ///< the working directory: where the search for quarry.toml begins
  bool out_is_terminal = false, err_is_terminal = false;
  unsigned columns = 80;
  unsigned processors = 1;
};

/// `words` without argv[0]. Prints results and errors; returns the exit code (docs/exit-codes.md). Throws only what a
/// command throws, which is a bug.
int run_engine(const World& world, std::span<const Command> commands, const std::vector<std::string>& words);

/// C090, exit code 11.
Error bug(std::string_view what);

} // namespace quarry::cli
