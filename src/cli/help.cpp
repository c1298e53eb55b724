#include "cli/help.hpp"

#include "base/text.hpp"
#include "cli/parse.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::cli {

namespace {
constexpr std::size_t k_columns_max = 100; // longer lines are hard to read
constexpr std::size_t k_first_column_max = 34;

/// The story of a wheel, then what one needs along the way.
const std::vector<std::string> k_order = {"artifact", "sdk",      "wheel",  "elf",     "publish",    "set",
                                          "index",    "channel",  "venv",   "test",    "evidence",   "gate",
                                          "promote",  "rollback", "waive",  "gc",      "matrix",     "run",
                                          "doctor",   "explain",  "config", "version", "completion", "help"};
const std::vector<std::string> k_daily = {"artifact fetch", "sdk build", "wheel verify", "publish", "venv create",
                                          "venv install",   "test",      "gate",         "promote", "rollback"};

const Command* named(std::span<const Command> commands, std::string_view name) {
  for (const auto& command : commands)
    if (name_of(command) == name) return &command;
  return nullptr;
}

std::size_t usable(unsigned columns) { return std::clamp<std::size_t>(columns, 50, k_columns_max); }

std::string operand_usage(const Operand& operand) {
  auto text = operand.required ? operand.name : "[" + operand.name + "]";
  return operand.repeats ? text + "..." : text;
}

void section(std::string& page, std::string_view title, const std::vector<std::pair<std::string, std::string>>& rows,
             std::size_t columns) {
  if (rows.empty()) return;
  page += fmt::format("\n{}\n", title) + two_columns(rows, 2, columns);
}

std::string global_flags_sentence() {
  std::vector<std::string> names;
  for (const auto& flag : global_flags()) {
    auto name = flag.letter ? fmt::format("-{}/{}", flag.letter, flag.name) : flag.name;
    names.push_back(flag.value.empty() ? name : name + " " + flag.value);
  }
  return fmt::format("Flags of every command: {}; `quarry help` explains them and all exit codes.",
                     text::join(names, ", "));
}

std::string verbs_of(std::span<const Command> commands, const std::string& noun) {
  std::vector<std::string> verbs;
  for (const auto& command : commands)
    if (!command.hidden && command.path.size() == 2 && command.path[0] == noun) verbs.push_back(command.path[1]);
  return text::join(verbs, ", ");
}
} // namespace

const std::vector<std::pair<int, std::string>>& exit_code_meanings() {
  static const std::vector<std::pair<int, std::string>> k_meanings = {
      {0, "done"},
      {1, "checks failed, or something is refused because it cannot be proven"},
      {2, "usage error: unknown, missing or contradictory arguments"},
      {3, "not found, or not sealed yet"},
      {4, "authentication: missing or rejected credentials, or access denied"},
      {5, "transient: the same command may succeed later"},
      {6, "integrity: bytes are altered, broken or ambiguous"},
      {7, "conflict: the name holds other bytes, or somebody was faster"},
      {8, "partial, or the outcome is unknown: run it again"},
      {9, "nothing to do (only when asked to report it)"},
      {10, "a gate holds the move"},
      {11, "a bug in quarry"},
      {12, "this machine: disk full, no permission, a missing program"},
      {124, "the deadline passed"},
      {130, "interrupted"},
  };
  return k_meanings;
}

std::string filled(std::string_view input, std::size_t indent, std::size_t columns) {
  std::string result, line;
  auto flush = [&] {
    if (!line.empty()) result += std::string(indent, ' ') + line + "\n";
    line.clear();
  };
  for (const auto& source : text::lines(input)) {
    if (source.empty() || source[0] == ' ') {
      flush();
      result += source.empty() ? "\n" : std::string(indent, ' ') + source + "\n";
      continue;
    }
    if (source.starts_with("- ")) flush(); // an item of a list
    for (const auto& word : text::split_any(source, " ")) {
      if (!line.empty() && indent + line.size() + 1 + word.size() > columns) flush();
      line += (line.empty() ? "" : " ") + word;
    }
  }
  flush();
  return result;
}

namespace {
/// A heading that is wider than its column: names after each other, filled, the lines behind the first further in.
std::string hanging(const std::string& heading, std::size_t indent, std::size_t columns) {
  constexpr std::size_t k_flag_indent = 4; // where the long names of flags begin
  auto begin = std::min(heading.find_first_not_of(' '), k_flag_indent);
  auto lines = filled(std::string_view(heading).substr(begin), indent + begin, columns);
  return lines;
}
} // namespace

std::string two_columns(const std::vector<std::pair<std::string, std::string>>& rows, std::size_t indent,
                        std::size_t columns) {
  std::size_t width = 0;
  for (const auto& [left, right] : rows)
    if (left.size() <= k_first_column_max) width = std::max(width, left.size());
  std::string result;
  for (const auto& [left, right] : rows) {
    auto start = indent + width + 2;
    auto body = filled(right, start, columns);
    auto head = std::string(indent, ' ') + left;
    if (left.size() > width)
      result += hanging(left, indent, columns) + body;
    else if (body.empty())
      result += head + "\n";
    else
      result += head + std::string(start - head.size(), ' ') + body.substr(start);
  }
  return result;
}

std::string usage_line(const Command& command) {
  auto line = "quarry " + name_of(command);
  for (const auto& operand : command.operands) line += " " + operand_usage(operand);
  for (const auto& flag : command.flags)
    if (flag.required) line += fmt::format(" {} {}", flag.name, flag.value);
  bool optional = std::any_of(command.flags.begin(), command.flags.end(), [](const Flag& f) { return !f.required; });
  if (optional) line += " [flags]";
  return command.takes_rest ? line + " [-- COMMAND...]" : line;
}

std::string examples_title(const Command& command) {
  bool needs_store = std::any_of(command.flags.begin(), command.flags.end(),
                                 [](const Flag& f) { return f.required && f.environment == "QUARRY_STORE"; });
  bool unnamed = std::any_of(command.examples.begin(), command.examples.end(),
                             [](const Example& e) { return e.command.find("--store") == std::string::npos; });
  return needs_store && unnamed ? "examples (with QUARRY_STORE set to the store)" : "examples";
}

std::string flag_heading(const Flag& flag) {
  auto heading = flag.letter ? fmt::format("-{}, {}", flag.letter, flag.name) : "    " + flag.name;
  return flag.value.empty() ? heading : heading + " " + flag.value;
}

std::string flag_help(const Flag& flag) {
  auto help = flag.help;
  if (!flag.choices.empty()) help += fmt::format("; one of {}", text::join(flag.choices, ", "));
  if (flag.repeats) help += " (may be repeated)";
  if (!flag.fallback.empty()) help += fmt::format(" (default: {})", flag.fallback);
  if (!flag.environment.empty()) help += fmt::format(" [{}]", flag.environment);
  return help;
}

namespace {
/// `--no-x` right behind `--x`, both switches.
bool is_pair(const std::vector<Flag>& flags, std::size_t at) {
  if (at + 1 >= flags.size()) return false;
  const auto &on = flags[at], &off = flags[at + 1];
  return on.value.empty() && off.value.empty() && off.name == "--no-" + on.name.substr(2);
}
} // namespace

std::vector<FlagRow> flag_rows(const std::vector<Flag>& flags) {
  std::vector<FlagRow> rows;
  bool last_was_pair = false;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const auto& flag = flags[i];
    if (!is_pair(flags, i)) {
      rows.push_back({flag_heading(flag), flag_help(flag) + (flag.required ? " (required)" : "")});
      last_was_pair = false;
      continue;
    }
    auto heading = (flag.letter ? fmt::format("-{}, ", flag.letter) : "    ") + "--[no-]" + flag.name.substr(2);
    if (last_was_pair && rows.back().help == flag_help(flag))
      rows.back().heading += ", " + std::string(text::trim(heading));
    else
      rows.push_back({std::move(heading), flag_help(flag)});
    last_was_pair = true;
    ++i;
  }
  return rows;
}

std::vector<std::string> ordered_groups(std::span<const Command> commands) {
  std::vector<std::string> names = k_order;
  for (const auto& command : commands)
    if (std::find(names.begin(), names.end(), command.path[0]) == names.end()) names.push_back(command.path[0]);
  std::erase_if(names, [&](const std::string& name) {
    return std::none_of(commands.begin(), commands.end(),
                        [&](const Command& c) { return !c.hidden && c.path[0] == name; });
  });
  return names;
}

std::string overview(std::span<const Command> commands, unsigned columns) {
  std::vector<std::pair<std::string, std::string>> daily, others;
  for (const auto& name : k_daily)
    if (const auto* command = named(commands, name)) daily.emplace_back(name, command->summary);
  for (const auto& group : ordered_groups(commands)) {
    if (std::find(k_daily.begin(), k_daily.end(), group) != k_daily.end()) continue;
    const auto* command = named(commands, group);
    auto verbs = verbs_of(commands, group);
    auto alone = command ? command->summary : std::string(); // `version` alone, and `version compute`
    others.emplace_back(group, alone + (alone.empty() || verbs.empty() ? "" : "; also ") + verbs);
  }
  std::string page =
      "quarry - from the artifacts of a CI run to wheels that people install\n\nusage: quarry COMMAND [flags]\n";
  section(page, "daily", daily, usable(columns));
  section(page, "all nouns and their verbs", others, usable(columns));
  return page + "\n" +
         filled(
             "Set QUARRY_STORE to the store that you use (such as `file:store` or `s3://bucket/prefix`), and commands "
             "need no --store.\n"
             "`quarry COMMAND --help` shows flags and examples, `quarry explain CODE` any error; `quarry doctor` "
             "checks this machine.",
             0, usable(columns));
}

std::string help_page(std::span<const Command> commands, unsigned columns) {
  auto page = overview(commands, columns);
  std::vector<std::pair<std::string, std::string>> flags, codes;
  for (const auto& flag : global_flags()) flags.emplace_back(flag_heading(flag), flag_help(flag));
  for (const auto& [code, meaning] : exit_code_meanings()) codes.emplace_back(fmt::format("{:>3}", code), meaning);
  section(page, "flags of every command", flags, usable(columns));
  section(page, "exit codes", codes, usable(columns));
  return page;
}

std::string group_page(std::span<const Command> commands, std::string_view group, unsigned columns) {
  std::string page = fmt::format("usage: quarry {} VERB [flags]\n", group);
  std::vector<std::pair<std::string, std::string>> rows;
  auto listed = [&](const Command& c) { return c.path[0] == group && !c.hidden; };
  bool all_hidden = std::none_of(commands.begin(), commands.end(), listed); // who asks for the group may see them
  for (const auto& command : commands)
    if (command.path[0] == group && (all_hidden || !command.hidden))
      rows.emplace_back(name_of(command), command.summary);
  section(page, "commands", rows, usable(columns));
  return page + fmt::format("\n`quarry {} VERB --help` shows flags and examples.\n", group);
}

std::string command_page(const Command& command, unsigned columns) {
  auto width = usable(columns);
  auto page = fmt::format("quarry {} - {}\n\n", name_of(command), command.summary);
  page += two_columns({{"usage:", usage_line(command)}}, 0, width);
  if (!command.description.empty()) page += "\n" + filled(command.description, 0, width);
  std::vector<std::pair<std::string, std::string>> operands, flags, codes;
  for (const auto& operand : command.operands) operands.emplace_back(operand_usage(operand), operand.help);
  for (auto& row : flag_rows(command.flags)) flags.emplace_back(std::move(row.heading), std::move(row.help));
  for (const auto& [code, meaning] : command.exit_codes) codes.emplace_back(fmt::format("{:>3}", code), meaning);
  section(page, "operands", operands, width);
  section(page, "flags", flags, width);
  if (!command.examples.empty()) page += fmt::format("\n{}\n", examples_title(command));
  for (const auto& example : command.examples)
    page += filled(example.explanation + ":", 2, width) + "    " + example.command + "\n";
  section(page, "exit codes", codes, width);
  return page + "\n" + filled(global_flags_sentence(), 0, width);
}

} // namespace quarry::cli
