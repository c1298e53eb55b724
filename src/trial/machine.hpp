#pragma once
// Private to the room.
// What a test result depends on besides the files: the machine and the tools.
#include "venv/environment.hpp"
#include <map>
#include <string>

namespace quarry::trial {

/// host, host_class ("x86_64, 2 CPUs, no GPU"), cpu, kernel, os, memory, gpu ("none" or "AMD GPU driver present"),
/// driver, gpu_targets (absent without a GPU that this process can open). On GitHub's runners the host is RUNNER_NAME.
std::map<std::string, std::string> machine_facts(const venv::Variables& variables);

/// "gfx942 gfx942": the targets of the GPUs in the kernel's KFD topology whose device files this process can open, in
/// the kernel's order. A container that lost /dev/kfd or a render node has none: its tests skip themselves. `root` is
/// "/", or a tree like it in tests. Reads a file for each node.
std::string gpu_targets(const std::string& root);

} // namespace quarry::trial
