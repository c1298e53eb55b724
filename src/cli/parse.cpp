#include "cli/parse.hpp"

#include "base/text.hpp"
#include "cli/suggest.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::cli {

const std::vector<Flag>& global_flags() {
  static const std::vector<Flag> k_flags = {
      {.name = "--json", .value = "", .help = "print one JSON document on standard output"},
      {.name = "--jobs",
       .value = "N",
       .help = "use N processors (default: all this machine may use)",
       .environment = "QUARRY_JOBS",
       .letter = 'j'},
      {.name = "--quiet", .value = "", .help = "no notes and no progress; errors and warnings stay", .letter = 'q'},
      {.name = "--color",
       .value = "WHEN",
       .help = "colour on a terminal; NO_COLOR and FORCE_COLOR are obeyed",
       .choices = {"auto", "always", "never"},
       .fallback = "auto",
       .environment = "QUARRY_COLOR"},
      {.name = "--progress",
       .value = "HOW",
       .help = "how long work shows itself: a bar on a terminal, else a line per 10 s",
       .choices = {"auto", "bar", "lines", "none"},
       .fallback = "auto",
       .environment = "QUARRY_PROGRESS"},
      {.name = "--help", .value = "", .help = "this page", .letter = 'h'},
  };
  return k_flags;
}

std::string name_of(const Command& command) { return text::join(command.path, " "); }

namespace {

Unexpected usage(std::string code, std::string message, std::string hint) {
  return fail(ErrorKind::invalid_argument, std::move(code), std::move(message), std::move(hint));
}
std::string help_hint(const Command& command) { return fmt::format("see `quarry {} --help`", name_of(command)); }

const Flag* find_flag(const std::vector<Flag>& flags, std::string_view name) {
  for (const auto& flag : flags)
    if (flag.name == name || std::find(flag.aliases.begin(), flag.aliases.end(), name) != flag.aliases.end())
      return &flag;
  return nullptr;
}
const Flag* find_letter(const std::vector<Flag>& flags, char letter) {
  for (const auto& flag : flags)
    if (flag.letter == letter) return &flag;
  return nullptr;
}
const Flag* long_flag(const Command& command, std::string_view name) {
  const Flag* own = find_flag(command.flags, name);
  return own ? own : find_flag(global_flags(), name);
}
const Flag* short_flag(const Command& command, char letter) {
  const Flag* own = find_letter(command.flags, letter);
  return own ? own : find_letter(global_flags(), letter);
}

std::vector<std::string> flag_names(const Command& command) {
  std::vector<std::string> names;
  for (const auto* flags : {&command.flags, &global_flags()})
    for (const auto& flag : *flags) {
      names.push_back(flag.name);
      names.insert(names.end(), flag.aliases.begin(), flag.aliases.end());
    }
  return names;
}

/// One pass over the words; `at_` is the word being read.
class Parser {
public:
  Parser(const Command& command, std::span<const std::string> words) : command_(command), words_(words) {
    for (const auto* flags : {&command.flags, &global_flags()})
      for (const auto& flag : *flags)
        result_.fallbacks[flag.name] = flag.fallback.empty() ? std::nullopt : std::optional<std::string>(flag.fallback);
  }

  Result<Arguments> run() {
    if (command_.raw) {
      for (const auto& word : words_) (word == "--json" ? result_.values["--json"] : result_.rest).push_back(word);
      return std::move(result_);
    }
    for (; at_ < words_.size(); ++at_) {
      const auto& word = words_[at_];
      if (word == "--") {
        auto& rest = command_.takes_rest ? result_.rest : result_.operands;
        rest.insert(rest.end(), words_.begin() + static_cast<std::ptrdiff_t>(at_) + 1, words_.end());
        break;
      }
      if (word.starts_with("--"))
        TRY_DO(long_word(word));
      else if (word.size() > 1 && word[0] == '-')
        TRY_DO(short_word(word));
      else
        result_.operands.push_back(word);
    }
    return std::move(result_);
  }

private:
  Result<void> long_word(const std::string& word) {
    auto equals = word.find('=');
    auto name = word.substr(0, equals);
    const Flag* flag = long_flag(command_, name);
    if (!flag) return unknown(name);
    if (equals == word.npos) return flag->value.empty() ? store(*flag, "", name) : next_value(*flag, name);
    if (flag->value.empty())
      return usage("C008", fmt::format("{} is a switch and takes no value", name), help_hint(command_));
    return store(*flag, word.substr(equals + 1), name);
  }

  Result<void> short_word(const std::string& word) {
    for (std::size_t i = 1; i < word.size(); ++i) {
      auto name = std::string("-") + word[i];
      const Flag* flag = short_flag(command_, word[i]);
      if (!flag) return unknown(name);
      if (flag->value.empty()) {
        TRY_DO(store(*flag, "", name));
        continue;
      }
      if (i + 1 == word.size()) return next_value(*flag, name);
      return store(*flag, word.substr(i + 1 + (word[i + 1] == '=' ? 1 : 0)), name);
    }
    return {};
  }

  Result<void> next_value(const Flag& flag, const std::string& name) {
    if (flag.many) {
      while (at_ + 1 < words_.size() && !words_[at_ + 1].starts_with('-')) TRY_DO(store(flag, words_[++at_], name));
      return {};
    }
    if (at_ + 1 >= words_.size() || words_[at_ + 1] == "--") {
      return usage("C003", fmt::format("{} needs a value: {} {}", name, name, flag.value), help_hint(command_));
    }
    return store(flag, words_[++at_], name);
  }

  Result<void> store(const Flag& flag, std::string value, const std::string& name) {
    if (!flag.value.empty()) TRY_DO(check_value(flag, value, name));
    auto& values = result_.values[flag.name];
    if (!values.empty() && !flag.repeats && !flag.value.empty()) {
      return usage("C007", fmt::format("{} is given twice: `{}` and `{}`", name, values.back(), value), "give it once");
    }
    if (flag.repeats || values.empty()) values.push_back(std::move(value));
    return {};
  }

  Unexpected unknown(const std::string& name) {
    auto near = did_you_mean(name, flag_names(command_));
    return usage("C002", fmt::format("`quarry {}` has no flag {}", name_of(command_), name),
                 near.empty() ? help_hint(command_) : near);
  }

  const Command& command_;
  std::span<const std::string> words_;
  std::size_t at_ = 0;
  Arguments result_;
};

/// A flag of every command that stands before or between the words of the command's name; 0 when `word` is none.
std::size_t global_words(std::span<const std::string> words, std::size_t at) {
  const auto& word = words[at];
  if (word.size() < 2 || word[0] != '-' || word == "--") return 0;
  bool has_value_inside = word.starts_with("--") ? word.find('=') != word.npos : word.size() > 2;
  const Flag* flag = word.starts_with("--") ? find_flag(global_flags(), word.substr(0, word.find('=')))
                                            : find_letter(global_flags(), word[1]);
  if (!flag) return 0;
  return flag->value.empty() || has_value_inside || at + 1 == words.size() ? 1 : 2;
}

bool is_help(const std::string& word) { return word == "--help" || word == "-h"; }

/// `artifact fecth`: the noun is right, so only its verbs are near.
Unexpected unknown_verb(const std::string& noun, const std::string& verb, const std::vector<std::string>& verbs) {
  auto near = nearest(verb, verbs);
  for (auto& name : near) name.insert(0, noun + " ");
  auto hint = near.empty() ? fmt::format("`{}` knows {}", noun, text::join(verbs, ", "))
                           : fmt::format("did you mean `{}`?", text::join(near, "` or `"));
  return usage("C001", fmt::format("there is no command `{} {}`", noun, verb), std::move(hint));
}

Unexpected unknown_command(std::span<const Command> commands, const std::vector<std::string>& said) {
  std::vector<std::string> names, verbs;
  for (const auto& command : commands) {
    if (command.hidden) continue;
    names.push_back(command.path[0]);
    if (command.path.size() == 2 && command.path[0] == said[0]) verbs.push_back(command.path[1]);
  }
  if (said.size() == 2) return unknown_verb(said[0], said[1], verbs);
  auto near = did_you_mean(said[0], names);
  return usage("C001", fmt::format("there is no command `{}`", said[0]),
               near.empty() ? "`quarry help` lists them" : near);
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

} // namespace

Result<Resolved> resolve(std::span<const Command> commands, std::span<const std::string> words) {
  Resolved result;
  std::vector<std::string> said;
  std::size_t at = 0;
  while (at < words.size() && !result.command) {
    if (auto taken = global_words(words, at)) {
      for (std::size_t i = 0; i < taken; ++i) result.words.push_back(words[at + i]);
      at += taken;
      continue;
    }
    if (words[at].starts_with("-") || said.size() == 2) break;
    if (said.empty() && words[at] == "help" && !result.help) {
      result.help = true;
      ++at;
      continue;
    }
    said.push_back(words[at++]);
    result.command = find_command(commands, said);
    if (result.command && at < words.size() && find_command(commands, std::vector{said[0], words[at]})) {
      result.command = nullptr; // `version` and `version compute` live side by side
      continue;
    }
    if (!result.command && !(said.size() == 1 && is_group(commands, said[0]))) return unknown_command(commands, said);
  }
  result.words.insert(result.words.end(), words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
  if (!result.command && !said.empty()) result.group = said[0];
  auto end = std::find(result.words.begin(), result.words.end(), "--");
  result.help = result.help || std::any_of(result.words.begin(), end, is_help);
  return result;
}

Result<Arguments> parse_words(const Command& command, std::span<const std::string> words) {
  return Parser(command, words).run();
}

Result<void> check_value(const Flag& flag, const std::string& value, const std::string& where) {
  if (flag.required && value.empty()) return usage("C006", fmt::format("{} is empty", where), "is a variable unset?");
  if (flag.name == "--jobs") {
    auto number = text::parse_u64(value);
    constexpr std::uint64_t k_jobs_max = 1024; // a typing error beyond; threads are not free
    if (number && *number >= 1 && *number <= k_jobs_max) return {};
    return usage("C006", fmt::format("{} must be a number from 1 to {}, not `{}`", where, k_jobs_max, value),
                 "omit it to use every processor");
  }
  if (flag.choices.empty() || std::find(flag.choices.begin(), flag.choices.end(), value) != flag.choices.end())
    return {};
  auto near = did_you_mean(value, flag.choices);
  return usage("C006", fmt::format("{} must be one of {}, not `{}`", where, text::join(flag.choices, ", "), value),
               near.empty() ? "choose one of them" : near);
}

Result<void> check_required(const Command& command, const Arguments& arguments) {
  std::size_t needed = 0;
  bool open_end = false;
  for (const auto& operand : command.operands) {
    needed += operand.required ? 1 : 0;
    open_end = open_end || operand.repeats;
    if (operand.required && arguments.operands.size() < needed) {
      return usage("C004", fmt::format("`quarry {}` needs {}: {}", name_of(command), operand.name, operand.help),
                   help_hint(command));
    }
  }
  // What must be said must say something; an optional operand that is empty is its command's business.
  for (std::size_t i = 0; i < std::min(needed, arguments.operands.size()); ++i)
    if (arguments.operands[i].empty())
      return usage("C006", fmt::format("{} is empty", command.operands[i].name), "is a variable unset?");
  if (!open_end && arguments.operands.size() > command.operands.size()) {
    return usage("C005", fmt::format("unexpected argument `{}`", arguments.operands[command.operands.size()]),
                 help_hint(command));
  }
  for (const auto& flag : command.flags) {
    if (!flag.required || arguments.find(flag.name)) continue;
    auto variable = flag.environment.empty() ? "" : fmt::format(" (or set {})", flag.environment);
    return usage("C004", fmt::format("`quarry {}` needs {} {}: {}", name_of(command), flag.name, flag.value, flag.help),
                 help_hint(command) + variable);
  }
  return {};
}

} // namespace quarry::cli
