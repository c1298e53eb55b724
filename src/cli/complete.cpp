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
  static const std::set<std::string, std::less<>> k_files = {"DIR", "FILE", "OUT", "PATH", "LOCATOR", "OUTPUT"};
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

class Completer {
public:
  Completer(std::span<const Command> commands, std::span<const std::string> words, const Lookups& lookups)
      : commands_(commands), words_(words.first(words.size() - 1)), current_(words.back()), lookups_(lookups) {}

  Completion run() {
    for (; at_ < words_.size() && !done_; ++at_) read(words_[at_]);
    if (done_) return {};
    if (pending_) return value(value_of_flag(*pending_), pending_->choices, "");
    if (rest_) {
      result_.files = true;
      return std::move(result_);
    }
    if (auto equals = current_.find('='); current_.starts_with("--") && equals != current_.npos) {
      const auto* flag = flag_named(current_.substr(0, equals));
      return flag && !flag->value.empty() ? value(value_of_flag(*flag), flag->choices, current_.substr(0, equals + 1))
                                          : Completion{};
    }
    if (current_.starts_with('-')) return flags();
    return command_ ? operand() : name();
  }

private:
  const Flag* flag_named(const std::string& word) const {
    for (const auto* flags : {command_ ? &command_->flags : nullptr, &global_flags()}) {
      if (!flags) continue;
      const auto* flag = word.starts_with("--") ? find_flag(*flags, word) : find_letter(*flags, word[1]);
      if (flag) return flag;
    }
    return nullptr;
  }

  void read(const std::string& word) {
    if (pending_) {
      pending_ = nullptr;
    } else if (rest_) { // the words of another program
    } else if (word == "--") {
      rest_ = true;
    } else if (word.size() > 1 && word[0] == '-') {
      read_flag(word);
    } else if (command_) {
      ++operands_;
    } else {
      read_name(word);
    }
  }

  void read_flag(const std::string& word) {
    bool inside = word.starts_with("--") ? word.find('=') != word.npos : word.size() > 2;
    const auto* flag = flag_named(word.substr(0, word.find('=')));
    if (!flag) return;
    given_.insert(flag->name);
    if (!flag->value.empty() && !inside) pending_ = flag;
  }

  void read_name(const std::string& word) {
    if (said_.empty() && word == "help" && !help_) {
      help_ = true;
      return;
    }
    said_.push_back(word);
    bool longer = false;
    for (const auto& command : commands_) {
      if (command.path == said_) command_ = &command;
      longer = longer || (command.path.size() > said_.size() && command.path[0] == said_[0]);
    }
    // Both `version` and `version compute` are commands: the next word decides.
    bool verb_follows = at_ + 1 < words_.size() && is_command({word, words_[at_ + 1]});
    if (said_.size() == 1 && verb_follows) command_ = nullptr;
    if (!command_ && !longer) done_ = true;
  }

  bool is_command(const std::vector<std::string>& path) const {
    return std::any_of(commands_.begin(), commands_.end(), [&](const Command& c) { return c.path == path; });
  }

  void offer(std::string text, std::string about = {}) {
    if (text.starts_with(current_)) result_.candidates.push_back({std::move(text), std::move(about)});
  }

  Completion name() {
    if (said_.empty()) {
      for (const auto& group : ordered_groups(commands_)) offer(group, about_group(group));
      if (!help_) offer("help", "this overview, the flags of every command and all exit codes");
    } else {
      offer_verbs();
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

  void offer_verbs() {
    for (const auto& command : commands_)
      if (!command.hidden && command.path.size() == 2 && command.path[0] == said_[0])
        offer(command.path[1], command.summary);
  }

  Completion flags() {
    auto add = [&](const std::vector<Flag>& flags) {
      for (const auto& flag : flags)
        if (flag.repeats || flag.many || !given_.contains(flag.name)) offer(flag.name, flag.help);
    };
    if (command_) add(command_->flags);
    add(global_flags());
    return std::move(result_);
  }

  Completion operand() {
    if (help_) return {};
    if (said_.size() == 1 && operands_ == 0) offer_verbs(); // `version` may become `version compute`
    const auto& operands = command_->operands;
    if (operands.empty() || (operands_ >= operands.size() && !operands.back().repeats)) return std::move(result_);
    const auto& operand = operands[std::min(operands_, operands.size() - 1)];
    return value(value_of_operand(*command_, operand), {}, "");
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
  std::span<const std::string> words_; // before the one that is completed
  const std::string& current_;
  const Lookups& lookups_;
  std::size_t at_ = 0, operands_ = 0;
  std::vector<std::string> said_;
  std::set<std::string> given_;
  const Command* command_ = nullptr;
  const Flag* pending_ = nullptr; // waits for its value
  bool help_ = false, rest_ = false, done_ = false;
  Completion result_;
};

} // namespace

Completion complete(std::span<const Command> commands, std::span<const std::string> words, const Lookups& lookups) {
  static const std::vector<std::string> k_nothing{""};
  return Completer(commands, words.empty() ? std::span<const std::string>(k_nothing) : words, lookups).run();
}

} // namespace quarry::cli
