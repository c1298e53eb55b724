#include "cli/resolve.hpp"

#include "base/text.hpp"
#include "cli/parse.hpp"
#include "cli/suggest.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::cli {

namespace {

constexpr std::size_t k_suggestions_max = 6; // verbs such as `list` and `show` belong to many nouns

Unexpected locator_usage(std::string code, std::string message, std::string hint) {
  return fail(ErrorKind::invalid_argument, std::move(code), std::move(message), std::move(hint));
}

const Flag* global_flag(const std::string& word) {
  return word.starts_with("--") ? find_flag(global_flags(), word.substr(0, word.find('=')))
                                : find_letter(global_flags(), word[1]);
}

/// How many words a flag of every command takes at `at`: 0 if the word is something else. A value that the flag cannot
/// have is refused here, so that `-j publish` does not swallow the command.
Result<std::size_t> global_words(std::span<const std::string> words, std::size_t at) {
  const auto& word = words[at];
  if (word.size() < 2 || word[0] != '-' || word == "--") return std::size_t{0};
  const Flag* flag = global_flag(word);
  if (!flag) return std::size_t{0};
  bool has_value_inside = word.starts_with("--") ? word.find('=') != word.npos : word.size() > 2;
  if (flag->value.empty() || has_value_inside || at + 1 == words.size()) return std::size_t{1};
  TRY_DO(check_value(*flag, words[at + 1], word));
  return std::size_t{2};
}

bool is_help(const std::string& word) { return word == "--help" || word == "-h"; }

/// `artifact fecth`: the noun is right, so only its verbs are near.
Unexpected unknown_verb(const std::string& noun, const std::string& verb, const std::vector<std::string>& verbs) {
  auto near = nearest(verb, verbs);
  for (auto& name : near) name.insert(0, noun + " ");
  auto hint = near.empty() ? fmt::format("`{}` has {}", noun, text::join(verbs, ", ")) : meant(near);
  return locator_usage("C001", fmt::format("there is no command `{} {}`", noun, verb), std::move(hint));
}

/// What a word that is not a noun may stand for: a verb of one or more nouns (`install`, `venv install`), its words in
/// the other order (`build sdk`), or a mistyped noun or verb.
std::vector<std::string> suggestions(std::span<const Command> commands, const std::string& word,
                                     const std::string& next) {
  std::vector<std::string> names, nouns, verbs;
  for (const auto& command : commands) {
    if (command.hidden) continue;
    nouns.push_back(command.path[0]);
    if (command.path.size() < 2) continue;
    if (command.path[1] == word && command.path[0] == next) return {name_of(command)};
    if (command.path[1] == word) names.push_back(name_of(command));
    verbs.push_back(command.path[1]);
  }
  for (auto& noun : nearest(word, nouns)) names.push_back(std::move(noun));
  if (names.empty())
    for (const auto& verb : nearest(word, verbs))
      for (const auto& command : commands)
        if (!command.hidden && command.path.size() == 2 && command.path[1] == verb) names.push_back(name_of(command));
  if (names.size() > k_suggestions_max) names.resize(k_suggestions_max);
  return names;
}

Unexpected unknown_command(std::span<const Command> commands, const std::vector<std::string>& said,
                           const std::string& next) {
  if (said.size() == 2) {
    std::vector<std::string> verbs;
    for (const auto& command : commands)
      if (!command.hidden && command.path.size() == 2 && command.path[0] == said[0]) verbs.push_back(command.path[1]);
    return unknown_verb(said[0], said[1], verbs);
  }
  auto names = suggestions(commands, said[0], next);
  return locator_usage("C001", fmt::format("there is no command `{}`", said[0]),
                       names.empty() ? "`quarry help` lists all commands" : meant(names));
}

/// A flag that is not one of every command, before the name of the command is complete.
Unexpected flag_before_command(std::span<const Command> commands, const std::string& group, const std::string& word) {
  if (word == "-" || word == "--")
    return locator_usage("C001", fmt::format("`{}` is not a command", word), "`quarry help` lists all commands");
  auto name = word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
  auto message = fmt::format("`quarry{}` has no flag {}", group.empty() ? "" : " " + group, name);
  std::vector<std::string> owners, names;
  for (const auto& flag : global_flags()) names.push_back(flag.name);
  for (const auto& command : commands) {
    bool own = name.starts_with("--") ? find_flag(command.flags, name) != nullptr
                                      : find_letter(command.flags, name[1]) != nullptr;
    if (own && !command.hidden && (group.empty() || command.path[0] == group)) owners.push_back(name_of(command));
  }
  if (!owners.empty() && owners.size() <= k_suggestions_max)
    return locator_usage(
        "C002", message,
        fmt::format("write it behind the command: `quarry {} {}`", text::join(owners, "` or `quarry "), name));
  if (!owners.empty())
    return locator_usage("C002", message,
                         "write the flags of a command behind its name: `quarry COMMAND --help` lists them");
  auto near = did_you_mean(name, names);
  return locator_usage("C002", message,
                       near.empty() ? "`quarry help` lists the commands and the flags of every command" : near);
}

bool is_group(std::span<const Command> commands, const std::string& noun) {
  return std::any_of(commands.begin(), commands.end(),
                     [&](const Command& c) { return c.path.size() == 2 && c.path[0] == noun; });
}

const Command* find_command(std::span<const Command> commands, std::span<const std::string> path) {
  for (const auto& command : commands)
    if (std::equal(command.path.begin(), command.path.end(), path.begin(), path.end())) return &command;
  return nullptr;
}

/// `quarry --version`, which other programs answer too.
std::string without_dashes(const std::string& word) { return word == "--version" || word == "-V" ? "version" : word; }

} // namespace

Result<Resolved> resolve(std::span<const Command> commands, std::span<const std::string> words) {
  Resolved result;
  std::vector<std::string> said;
  std::size_t at = 0;
  while (at < words.size() && !result.command) {
    TRY(auto taken, global_words(words, at));
    if (taken > 0) {
      for (std::size_t i = 0; i < taken; ++i) result.words.push_back(words[at + i]);
      at += taken;
      continue;
    }
    auto word = said.empty() ? without_dashes(words[at]) : words[at];
    if (word.starts_with('-')) return flag_before_command(commands, said.empty() ? "" : said[0], word);
    ++at;
    if (said.empty() && word == "help" && !result.help) {
      result.help = true;
      continue;
    }
    said.push_back(word);
    result.command = find_command(commands, said);
    bool may_go_on = result.command && said.size() == 1 && at < words.size();
    if (may_go_on && find_command(commands, std::vector{said[0], words[at]})) {
      result.command = nullptr; // both `version` and `version compute` are commands
      continue;
    }
    if (!result.command && !(said.size() == 1 && is_group(commands, said[0])))
      return unknown_command(commands, said, at < words.size() ? words[at] : "");
  }
  result.words.insert(result.words.end(), words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
  if (!result.command && !said.empty()) result.group = said[0];
  auto end = std::find(result.words.begin(), result.words.end(), "--");
  result.help = result.help || std::any_of(result.words.begin(), end, is_help);
  return result;
}

} // namespace quarry::cli
