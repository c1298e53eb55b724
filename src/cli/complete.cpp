#include "cli/complete.hpp"

#include "base/text.hpp"
#include "cli/help.hpp"
#include "cli/parse.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <set>

namespace quarry::cli {

namespace {

using Candidates = std::vector<Suggestion>;

/// What a value is the name of, told by the name of its flag or operand, or by its placeholder.
enum class Value : std::uint8_t { other, file, channel, policy, recipe, code, shell, locator };

Value value_of_flag(const Flag& flag) {
  static const std::map<std::string, Value, std::less<>> k_by_name = {
      {"--policy", Value::policy}, {"--recipe", Value::recipe}, {"--channel", Value::channel},
      {"--to", Value::channel},    {"--from", Value::locator},  {"--store", Value::file}};
  static const std::set<std::string, std::less<>> k_files = {"DIR",     "FILE",   "OUT",  "PATH",
                                                             "LOCATOR", "OUTPUT", "WHEEL"};
  if (auto known = k_by_name.find(flag.name); known != k_by_name.end()) return known->second;
  return k_files.contains(flag.value) ? Value::file : Value::other;
}

Value value_of_operand(const Command& command, const Operand& operand) {
  auto name = name_of(command);
  if (name == "explain") return Value::code;
  if (name == "completion") return Value::shell;
  if (operand.name == "CHANNEL" || (command.path[0] == "channel" && operand.name == "NAME")) return Value::channel;
  return operand.name.starts_with("LOCATOR") ? Value::locator : Value::file;
}

/// What the words before the one that is completed have said.
struct Said {
  std::vector<std::string> path; ///< "channel", "show"
  const Command* command = nullptr;
  std::size_t operands = 0;
  std::set<std::string> flags;   ///< by their long names
  const Flag* pending = nullptr; ///< waits for its value
  bool help = false;             ///< `help` came first
  bool rest = false;             ///< behind `--`: the words of another program
  bool unknown = false;          ///< no command begins like this
};

const Flag* flag_named(const Command* command, const std::string& word) {
  for (const auto* flags : {command ? &command->flags : nullptr, &global_flags()}) {
    if (!flags) continue;
    const auto* flag = word.starts_with("--") ? find_flag(*flags, word) : find_letter(*flags, word[1]);
    if (flag) return flag;
  }
  return nullptr;
}

void read_flag(const std::string& word, Said& said) {
  bool inside = word.starts_with("--") ? word.find('=') != word.npos : word.size() > 2;
  const auto* flag = flag_named(said.command, word.substr(0, word.find('=')));
  if (!flag) return;
  said.flags.insert(flag->name);
  if (!flag->value.empty() && !inside) said.pending = flag;
}

/// `next`: the word behind `word`, if it is not the one that is completed.
void read_name(std::span<const Command> commands, const std::string& word, const std::string* next, Said& said) {
  if (said.path.empty() && word == "help" && !said.help) {
    said.help = true;
    return;
  }
  said.path.push_back(word);
  bool longer = false, verb_follows = false;
  for (const auto& command : commands) {
    if (command.path == said.path) said.command = &command;
    longer = longer || (command.path.size() > said.path.size() && command.path[0] == said.path[0]);
    verb_follows = verb_follows || (next && command.path == std::vector{word, *next});
  }
  // Both `version` and `version compute` are commands: the next word decides.
  if (said.path.size() == 1 && verb_follows) said.command = nullptr;
  if (!said.command && !longer) said.unknown = true;
}

Said read_words(std::span<const Command> commands, std::span<const std::string> words) {
  Said said;
  for (std::size_t at = 0; at < words.size() && !said.unknown; ++at) {
    const auto& word = words[at];
    if (said.pending) {
      said.pending = nullptr;
    } else if (said.rest) { // the words of another program
    } else if (word == "--") {
      said.rest = true;
    } else if (word.size() > 1 && word[0] == '-') {
      read_flag(word, said);
    } else if (said.command) {
      ++said.operands;
    } else {
      read_name(commands, word, at + 1 < words.size() ? &words[at + 1] : nullptr, said);
    }
  }
  return said;
}

/// Collects what the word that is completed may become.
class Completer {
public:
  Completer(std::span<const Command> commands, const std::string& current, const Lookups& lookups)
      : commands_(commands), current_(current), lookups_(lookups) {}

  Completion run(const Said& said) {
    if (said.unknown) return {};
    if (said.pending) return value(value_of_flag(*said.pending), said.pending->choices, "");
    if (said.rest) {
      result_.files = true;
      return std::move(result_);
    }
    if (auto equals = current_.find('='); current_.starts_with("--") && equals != current_.npos) {
      const auto* flag = flag_named(said.command, current_.substr(0, equals));
      return flag && !flag->value.empty() ? value(value_of_flag(*flag), flag->choices, current_.substr(0, equals + 1))
                                          : Completion{};
    }
    if (current_.starts_with('-')) return flags(said);
    return said.command ? operand(said) : name(said);
  }

private:
  void offer(std::string text, std::string about = {}) {
    if (text.starts_with(current_)) result_.candidates.push_back({std::move(text), std::move(about)});
  }

  Completion name(const Said& said) {
    if (said.path.empty()) {
      for (const auto& group : ordered_groups(commands_)) offer(group, about_group(group));
      if (!said.help) offer("help", "this overview, the flags of every command and all exit codes");
    } else {
      offer_verbs(said.path[0]);
    }
    return std::move(result_);
  }

  std::string about_group(const std::string& group) const {
    std::vector<std::string> verbs;
    for (const auto& command : commands_) {
      if (command.hidden || command.path[0] != group) continue;
      if (command.path.size() == 1) return command.summary;
      verbs.push_back(command.path[1]);
    }
    return text::join(verbs, ", ");
  }

  void offer_verbs(const std::string& group) {
    for (const auto& command : commands_)
      if (!command.hidden && command.path.size() == 2 && command.path[0] == group)
        offer(command.path[1], command.summary);
  }

  Completion flags(const Said& said) {
    auto add = [&](const std::vector<Flag>& flags) {
      for (const auto& flag : flags)
        if (flag.repeats || flag.many || !said.flags.contains(flag.name)) offer(flag.name, flag.help);
    };
    if (said.command) add(said.command->flags);
    add(global_flags());
    return std::move(result_);
  }

  Completion operand(const Said& said) {
    if (said.help) return {};
    if (said.path.size() == 1 && said.operands == 0)
      offer_verbs(said.path[0]); // `version` may become `version compute`
    const auto& operands = said.command->operands;
    if (operands.empty() || (said.operands >= operands.size() && !operands.back().repeats)) return std::move(result_);
    const auto& operand = operands[std::min(said.operands, operands.size() - 1)];
    return value(value_of_operand(*said.command, operand), {}, "");
  }

  /// `prefix`: "--flag=", which stands before the value in the same word.
  Completion value(Value kind, const std::vector<std::string>& choices, const std::string& prefix) {
    auto add = [&](const std::function<Candidates()>& lookup, const std::string& scheme = {}) {
      if (lookup)
        for (auto& found : lookup()) offer(prefix + scheme + found.text, std::move(found.about));
    };
    for (const auto& choice : choices) offer(prefix + choice);
    switch (kind) {
    case Value::other: break;
    case Value::file: result_.files = choices.empty(); break;
    case Value::channel: add(lookups_.channels); break;
    case Value::code: add(lookups_.codes); break;
    case Value::policy: add(lookups_.policies), result_.files = true; break;
    case Value::recipe: add(lookups_.recipes), result_.files = true; break;
    case Value::shell:
      for (const auto* shell : {"bash", "zsh", "fish"}) offer(shell);
      break;
    case Value::locator:
      add(lookups_.channels, "channel:");
      for (const auto* scheme : {"run:", "set:"}) offer(prefix + scheme);
      result_.files = true;
    }
    return std::move(result_);
  }

  std::span<const Command> commands_;
  const std::string& current_;
  const Lookups& lookups_;
  Completion result_;
};

} // namespace

Completion complete(std::span<const Command> commands, std::span<const std::string> words, const Lookups& lookups) {
  static const std::vector<std::string> k_nothing{""};
  if (words.empty()) words = k_nothing;
  auto said = read_words(commands, words.first(words.size() - 1));
  return Completer(commands, words.back(), lookups).run(said);
}

} // namespace quarry::cli
