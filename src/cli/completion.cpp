#include "cli/completion.hpp"

#include "base/text.hpp"
#include "cli/help.hpp"
#include "cli/parse.hpp"
#include <fmt/core.h>
#include <set>

namespace quarry::cli {

namespace {

std::vector<const Command*> shown(std::span<const Command> commands) {
  std::vector<const Command*> result;
  for (const auto& command : commands)
    if (!command.hidden) result.push_back(&command);
  return result;
}

std::vector<std::string> verbs(std::span<const Command> commands, const std::string& noun) {
  std::vector<std::string> result;
  for (const auto* command : shown(commands))
    if (command->path.size() == 2 && command->path[0] == noun) result.push_back(command->path[1]);
  return result;
}

std::vector<const Flag*> all_flags(const Command& command) {
  std::vector<const Flag*> result;
  for (const auto* flags : {&command.flags, &global_flags()})
    for (const auto& flag : *flags) result.push_back(&flag);
  return result;
}

std::string spellings(const Command& command) {
  std::vector<std::string> names;
  for (const auto* flag : all_flags(command)) {
    names.push_back(flag->name);
    if (flag->letter) names.push_back(std::string("-") + flag->letter);
  }
  return text::join(names, " ");
}

/// In single quotes of a POSIX shell.
std::string quoted(std::string_view text) { return "'" + text::replace_all(text, "'", "'\\''") + "'"; }

std::string zsh_text(std::string_view text) {
  auto escaped = text::replace_all(text::replace_all(text::replace_all(text, "[", "\\["), "]", "\\]"), ":", "\\:");
  return text::replace_all(escaped, "'", "'\\''");
}

std::string zsh_flag(const Flag& flag) {
  auto value = flag.value.empty()     ? ""
               : flag.choices.empty() ? fmt::format(":{}:_files", flag.value)
                                      : fmt::format(":{}:({})", flag.value, text::join(flag.choices, " "));
  auto repeat = flag.repeats ? "*" : "";
  auto line = fmt::format("      '{}{}{}[{}]{}' \\\n", repeat, flag.name, flag.value.empty() ? "" : "=",
                          zsh_text(flag.help), value);
  if (flag.letter)
    line += fmt::format("      '{}-{}{}[{}]{}' \\\n", repeat, flag.letter, flag.value.empty() ? "" : "+",
                        zsh_text(flag.help), value);
  return line;
}

std::string fish_flag(const Command& command, const Flag& flag) {
  auto condition = command.path.size() == 2
                       ? fmt::format("__fish_seen_subcommand_from {}; and __fish_seen_subcommand_from {}",
                                     command.path[0], command.path[1])
                       : fmt::format("__fish_seen_subcommand_from {}", command.path[0]);
  auto line = fmt::format("complete -c quarry -n {} -l {}", quoted(condition), flag.name.substr(2));
  if (flag.letter) line += fmt::format(" -s {}", flag.letter);
  if (!flag.value.empty()) line += flag.choices.empty() ? " -r" : " -x -a " + quoted(text::join(flag.choices, " "));
  return line + " -d " + quoted(flag.help) + "\n";
}

} // namespace

std::string bash_completion(std::span<const Command> commands) {
  std::string flags, values;
  std::set<std::string> seen;
  for (const auto* command : shown(commands)) {
    flags += fmt::format("    {}) flags={} ;;\n", quoted(name_of(*command)), quoted(spellings(*command)));
    for (const auto* flag : all_flags(*command)) {
      if (flag->choices.empty() || !seen.insert(name_of(*command) + flag->name).second) continue;
      bool global = flag >= global_flags().data() && flag < global_flags().data() + global_flags().size();
      if (global && !seen.insert(flag->name).second) continue;
      values += fmt::format("    {}) choices={} ;;\n",
                            global ? "*" + quoted(" " + flag->name) : quoted(name_of(*command) + " " + flag->name),
                            quoted(text::join(flag->choices, " ")));
    }
  }
  std::string nouns;
  for (const auto& group : ordered_groups(commands)) {
    auto list = text::join(verbs(commands, group), " ");
    if (!list.empty()) nouns += fmt::format("    {}) verbs={} ;;\n", group, quoted(list));
  }
  return fmt::format(R"(# bash completion for quarry; made by `quarry completion bash`
_quarry() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
  local first=${{COMP_WORDS[1]}} second=${{COMP_WORDS[2]}}
  local verbs='' flags='' choices='' name
  COMPREPLY=()
  if [[ $previous == "=" ]]; then previous=${{COMP_WORDS[COMP_CWORD-2]}}; fi
  if [[ $current == "=" ]]; then current='' previous=${{COMP_WORDS[COMP_CWORD-1]}}; fi
  if ((COMP_CWORD == 1)); then COMPREPLY=($(compgen -W {0} -- "$current")); return; fi
  case $first in
{1}  esac
  if [[ -n $verbs && $COMP_CWORD -eq 2 ]]; then COMPREPLY=($(compgen -W "$verbs" -- "$current")); return; fi
  name=$first
  if [[ " $verbs " == *" $second "* ]]; then name="$first $second"; fi
  case "$name $previous" in
{2}  esac
  if [[ -n $choices ]]; then COMPREPLY=($(compgen -W "$choices" -- "$current")); return; fi
  case $name in
{3}  esac
  if [[ $current == -* ]]; then COMPREPLY=($(compgen -W "$flags" -- "$current")); return; fi
  COMPREPLY=($(compgen -f -- "$current"))
}}
complete -o filenames -F _quarry quarry
)",
                     quoted(text::join(ordered_groups(commands), " ")), nouns, values, flags);
}

std::string zsh_completion(std::span<const Command> commands) {
  std::string cases, nouns;
  for (const auto* command : shown(commands)) {
    cases += fmt::format("    {})\n    _arguments -s -S \\\n", quoted(name_of(*command)));
    for (const auto* flag : all_flags(*command)) cases += zsh_flag(*flag);
    cases += "      '*:file:_files' ;;\n";
  }
  for (const auto& group : ordered_groups(commands)) {
    auto list = text::join(verbs(commands, group), " ");
    if (!list.empty()) nouns += fmt::format("    {}) verbs=({}) ;;\n", group, list);
  }
  return fmt::format(R"(#compdef quarry
# zsh completion for quarry; made by `quarry completion zsh`
_quarry() {{
  local -a verbs
  if ((CURRENT == 2)); then compadd -- {0}; return; fi
  local name=$words[2]
  case $name in
{1}  esac
  if ((CURRENT == 3 && $#verbs)); then compadd -- $verbs; return; fi
  if (($#verbs)); then name="$words[2] $words[3]"; words=("quarry" "${{(@)words[4,-1]}}"); ((CURRENT -= 2))
  else words=("quarry" "${{(@)words[3,-1]}}"); ((CURRENT -= 1)); fi
  case $name in
{2}  esac
}}
if [ "$funcstack[1]" = "_quarry" ]; then _quarry "$@"; else compdef _quarry quarry; fi
)",
                     text::join(ordered_groups(commands), " "), nouns, cases);
}

std::string fish_completion(std::span<const Command> commands) {
  std::string result = "# fish completion for quarry; made by `quarry completion fish`\n";
  for (const auto& group : ordered_groups(commands)) {
    auto list = verbs(commands, group);
    result += fmt::format("complete -c quarry -n __fish_use_subcommand -f -a {}\n", group);
    auto none_yet = fmt::format("__fish_seen_subcommand_from {}; and not __fish_seen_subcommand_from {}", group,
                                text::join(list, " "));
    if (!list.empty())
      result += fmt::format("complete -c quarry -n {} -f -a {}\n", quoted(none_yet), quoted(text::join(list, " ")));
  }
  for (const auto* command : shown(commands))
    for (const auto* flag : all_flags(*command)) result += fish_flag(*command, *flag);
  return result;
}

} // namespace quarry::cli
