#pragma once
// Private to the room.
// What a test result depends on besides the files: the machine and the tools.
#include "venv/environment.hpp"
#include <map>
#include <string>

namespace quarry::trial {

/// host, host_class ("x86_64, 2 CPUs, no GPU"), cpu, kernel, os, memory, gpu ("none" or "AMD GPU driver present"),
/// driver. On GitHub's runners the host is RUNNER_NAME.
std::map<std::string, std::string> machine_facts(const venv::Variables& variables);

} // namespace quarry::trial
