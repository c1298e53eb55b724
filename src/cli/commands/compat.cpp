#include "cli/commands.hpp"
#include "cli/compat/script.hpp"

#include <iterator>

namespace quarry::cli {

std::vector<Command> compat_commands() {
  std::vector<Command> all;
  for (auto* scripts :
       {compat::package_scripts, compat::artifact_scripts, compat::venv_scripts, compat::version_scripts,
        compat::index_scripts, compat::run_scripts, compat::job_scripts, compat::stage_scripts,
        compat::framework_scripts, compat::ci_scripts, compat::promotion_scripts, compat::release_scripts}) {
    auto commands = scripts();
    std::move(commands.begin(), commands.end(), std::back_inserter(all));
  }
  return all;
}

} // namespace quarry::cli
