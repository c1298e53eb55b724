#pragma once
// What this machine lacks for Quarry's work, each with the command that fixes it. Reads only, but for a
// temporary file.
#include "base/check.hpp"
#include "cli/command.hpp"
#include <string>
#include <vector>

namespace quarry::cli {

std::vector<Check> examine(const Context& context);
/// The program itself and what it asks of this machine: libraries, C library, system calls, certificates, proxies.
std::vector<Check> examine_self(const Context& context);
bool is_healthy(const std::vector<Check>& checks); ///< no check failed

Check system_check();
Check data_check(const Context& context); ///< the files that travel inside the program

/// Variables that pip and uv obey and that so change what an installation does.
std::vector<Check> installer_variables(const std::map<std::string, std::string>& environment);
/// QUARRY_ variables that no flag reads: a typing error as a rule.
std::vector<Check> unknown_variables(const std::map<std::string, std::string>& environment,
                                     const std::vector<std::string>& known);

} // namespace quarry::cli
