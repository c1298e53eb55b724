#include "cli/commands.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <iterator>

namespace quarry::cli {

namespace {
/// The commands of one room, and the first words of all of them, separated by spaces.
struct Room {
  std::vector<Command> (*commands)();
  std::string_view nouns;
};

constexpr Room k_rooms[] = {
    {artifact_commands, "artifact"},
    {sdk_commands, "sdk"},
    {wheel_commands, "wheel"},
    {elf_commands, "elf"},
    {gpu_commands, "gpu"},
    {publish_commands, "publish"},
    {set_commands, "channel set"},
    {mirror_commands, "mirror"},
    {set_diff_commands, "set"},
    {shadow_commands, "shadow"},
    {index_commands, "index"},
    {list_commands, "channel set run"},
    {channel_commands, "channel index gc"},
    {venv_commands, "venv"},
    {test_commands, "test evidence"},
    {suite_commands, "suite"},
    {gate_commands, "gate waive waiver"},
    {promote_commands, "promote rollback yank"},
    {release_commands, "release"},
    {key_commands, "key"},
    {status_commands, "status"},
    {retain_commands, "retain"},
    {support_commands, "support"},
    {lock_commands, "lock"},
    {matrix_commands, "matrix"},
    {log_commands, "log"},
    {time_commands, "time"},
    {run_commands, "run"},
    {version_commands, "version"},
    {workflow_commands, "workflow"},
    {store_commands, "store"},
    {compat_commands, "compat"},
    {everyday_commands, "version doctor explain config docs"},
    {completion_commands, "completion complete"},
};

bool has_noun(const Room& room, std::string_view noun) {
  auto words = text::split(room.nouns, ' ');
  return std::find(words.begin(), words.end(), noun) != words.end();
}

void append(std::vector<Command>& all, const Room& room) {
  auto commands = room.commands();
  std::move(commands.begin(), commands.end(), std::back_inserter(all));
}
} // namespace

std::vector<Command> all_commands() {
  std::vector<Command> all;
  for (const auto& room : k_rooms) append(all, room);
  return all;
}

std::vector<Command> commands_near(std::string_view word) {
  std::vector<Command> near;
  for (const auto& room : k_rooms)
    if (has_noun(room, word)) append(near, room);
  return near.empty() ? all_commands() : near;
}

} // namespace quarry::cli
