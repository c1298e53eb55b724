#include "cli/commands.hpp"

#include <iterator>

namespace quarry::cli {

std::vector<Command> all_commands() {
  std::vector<Command> all;
  for (auto* room :
       {artifact_commands, sdk_commands,      wheel_commands,     elf_commands,     gpu_commands,      publish_commands,
        set_commands,      mirror_commands,   set_diff_commands,  shadow_commands,  index_commands,    list_commands,
        channel_commands,  venv_commands,     test_commands,      gate_commands,    promote_commands,  release_commands,
        key_commands,      status_commands,   retain_commands,    support_commands, lock_commands,     matrix_commands,
        log_commands,      time_commands,     run_commands,       version_commands, workflow_commands, store_commands,
        compat_commands,   everyday_commands, completion_commands}) {
    auto commands = room();
    std::move(commands.begin(), commands.end(), std::back_inserter(all));
  }
  return all;
}

} // namespace quarry::cli
