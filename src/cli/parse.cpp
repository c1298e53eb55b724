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
      {.name = "--verbose",
       .value = "",
       .help = "show settings and their origin, and every request and retry",
       .letter = 'v'},
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

namespace {

Unexpected usage(std::string code, std::string message, std::string hint) {
  return fail(ErrorKind::invalid_argument, std::move(code), std::move(message), std::move(hint));
}
/// "quarry artifact fetch"; "quarry" while no command is known.
std::string program_and_name(const Command& command) {
  return command.path.empty() ? "quarry" : "quarry " + name_of(command);
}
std::string help_hint(const Command& command) {
  return command.path.empty() ? "see `quarry help`" : fmt::format("see `{} --help`", program_and_name(command));
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

/// Flags that say what is judged, who gets the packages and who is told: empty, they would count as omitted without a
/// word.
bool must_say_something(const Flag& flag) {
  return flag.name == "--profile" || flag.name == "--channel" || flag.name == "--on-move";
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
    const auto& word = words_[at_ + 1];
    if (looks_like_flag(word))
      return usage("C003", fmt::format("{} needs a value, but the next word is the flag `{}`", name, word),
                   fmt::format("if `{}` is the value, write `{}={}`", word, name, word));
    return store(flag, words_[++at_], name);
  }

  /// A flag of this command, or a mistyped one. `--run-id --platform linux` lacks the value of --run-id.
  bool looks_like_flag(const std::string& word) const {
    if (word.starts_with("--")) {
      auto name = word.substr(0, word.find('='));
      return long_flag(command_, name) || !nearest(name, flag_names(command_)).empty();
    }
    return word.size() > 1 && word[0] == '-' &&
           std::all_of(word.begin() + 1, word.end(), [&](char c) { return short_flag(command_, c) != nullptr; });
  }

  Result<void> store(const Flag& flag, std::string value, const std::string& name) {
    if (!flag.value.empty()) TRY_DO(check_value(flag, value, name));
    if (value.empty() && must_say_something(flag))
      return usage("C006", fmt::format("{} is empty", name), "is a variable unset?");
    auto& values = result_.values[flag.name];
    if (!values.empty() && !flag.repeats && !flag.value.empty()) {
      return usage("C007", fmt::format("{} is given twice: `{}` and `{}`", name, values.back(), value), "give it once");
    }
    if (flag.repeats || values.empty()) values.push_back(std::move(value));
    return {};
  }

  Unexpected unknown(const std::string& given) {
    auto name = given.substr(0, given.find_first_of(" \t\n")); // a private key begins with dashes: keep the rest out
    auto near = did_you_mean(name, flag_names(command_));
    return usage("C002", fmt::format("`{}` has no flag {}", program_and_name(command_), name),
                 near.empty() ? help_hint(command_) : near);
  }

  const Command& command_;
  std::span<const std::string> words_;
  std::size_t at_ = 0;
  Arguments result_;
};

} // namespace

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

namespace {

/// A required flag or operand that was not given: "--dest-dir OUT", "packages are written to OUT/dist".
struct Missing {
  std::string heading, help;
};

std::vector<Missing> missing_of(const Command& command, const Arguments& arguments) {
  std::vector<Missing> missing;
  std::size_t needed = 0;
  for (const auto& operand : command.operands) {
    needed += operand.required ? 1 : 0;
    if (operand.required && arguments.operands.size() < needed) missing.push_back({operand.name, operand.help});
  }
  for (const auto& flag : command.flags) {
    if (!flag.required || arguments.find(flag.name)) continue;
    auto variable = flag.environment.empty() ? "" : fmt::format(" (or set {})", flag.environment);
    missing.push_back({flag.name + " " + flag.value, flag.help + variable});
  }
  return missing;
}

Result<void> refuse_missing(const Command& command, const std::vector<Missing>& missing) {
  if (missing.empty()) return {};
  if (missing.size() == 1)
    return usage("C004",
                 fmt::format("`{}` needs {}: {}", program_and_name(command), missing[0].heading, missing[0].help),
                 help_hint(command));
  std::size_t width = 0;
  for (const auto& each : missing) width = std::max(width, each.heading.size());
  auto error = Error::of(ErrorKind::invalid_argument, "C004",
                         fmt::format("`{}` needs {} more arguments", program_and_name(command), missing.size()))
                   .with_hint(help_hint(command));
  for (const auto& each : missing) error.details.push_back(fmt::format("{:<{}}  {}", each.heading, width, each.help));
  return fail(std::move(error));
}

} // namespace

Result<void> check_documents(const Command& command, const Arguments& arguments) {
  if (!arguments.has("--json")) return {};
  for (const auto& flag : command.flags)
    if (auto value = arguments.get(flag.name);
        std::find(flag.documents.begin(), flag.documents.end(), value) != flag.documents.end())
      return usage("C042", fmt::format("--json and {} {} ask for two documents", flag.name, value),
                   "use only one of them");
  return {};
}

Result<void> check_required(const Command& command, const Arguments& arguments) {
  const auto& operands = command.operands;
  bool open_end = std::any_of(operands.begin(), operands.end(), [](const Operand& o) { return o.repeats; });
  if (!open_end && arguments.operands.size() > operands.size())
    return usage("C005", fmt::format("unexpected argument `{}`", arguments.operands[operands.size()]),
                 help_hint(command));
  TRY_DO(refuse_missing(command, missing_of(command, arguments)));
  // A required operand must not be empty; an optional one that is empty is its command's business.
  auto needed = static_cast<std::size_t>(
      std::count_if(operands.begin(), operands.end(), [](const Operand& o) { return o.required; }));
  for (std::size_t i = 0; i < std::min(needed, arguments.operands.size()); ++i)
    if (arguments.operands[i].empty())
      return usage("C006", fmt::format("{} is empty", operands[i].name), "is a variable unset?");
  return {};
}

} // namespace quarry::cli
