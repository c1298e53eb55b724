#include "cli/next_command.hpp"

#include "base/one_line.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/parse.hpp"
#include "cli/settings.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <stdexcept>

namespace quarry::cli {

namespace {

constexpr const char* k_sign = "--sign";
constexpr const char* k_some_key = "KEY";

Command command_of(std::string_view path) {
  for (auto& command : all_commands())
    if (name_of(command) == path) return command;
  throw std::logic_error(fmt::format("there is no command `{}` to print", path));
}

const Flag& flag_of(const Command& command, std::string_view name) {
  for (const auto& flag : command.flags)
    if (flag.name == name) return flag;
  throw std::logic_error(fmt::format("`quarry {}` has no flag {} to print", name_of(command), name));
}

/// What the flag means when the command line does not have it: the variable, else the setting, else the default.
std::string value_without(const Context& context, const Flag& flag) {
  if (flag.environment.empty()) return flag.fallback;
  if (auto value = context.variable(flag.environment); !value.empty()) return value;
  const auto* setting = context.settings ? context.settings->find(setting_key(flag.environment)) : nullptr;
  return setting ? setting->value : flag.fallback;
}

std::string words_of(const Flag& flag, const std::vector<std::string>& values) {
  if (flag.value.empty()) return " " + flag.name;
  std::string words;
  for (const auto& value : values) // a value with a dash in front would be read as a flag
    words += fmt::format(" {}{}{}", flag.name, value.starts_with('-') ? "=" : " ", text::shell_word(value));
  return words;
}

} // namespace

NextCommand::NextCommand(const Context& context, std::string_view path)
    : context_(context), command_(command_of(path)) {}

NextCommand& NextCommand::flags_of(const Arguments& arguments) {
  for (const auto& flag : command_.flags)
    if (auto given = arguments.values.find(flag.name); given != arguments.values.end())
      values_[flag.name] = flag.name == k_sign ? std::vector<std::string>{k_some_key} : given->second;
  return *this;
}

NextCommand& NextCommand::operand(std::string word) {
  operands_.push_back(std::move(word));
  return *this;
}

NextCommand& NextCommand::set(std::string_view flag, std::string value) {
  values_[flag_of(command_, flag).name] = {std::move(value)};
  return *this;
}

NextCommand& NextCommand::signed_if(bool is_signed) { return is_signed ? set(k_sign, k_some_key) : *this; }

NextCommand& NextCommand::drop(std::string_view flag) {
  values_.erase(flag_of(command_, flag).name);
  return *this;
}

std::string NextCommand::text() const {
  auto line = "quarry " + name_of(command_);
  for (const auto& word : operands_) line += " " + text::shell_word(word);
  for (const auto& flag : command_.flags) {
    auto given = values_.find(flag.name);
    if (given == values_.end()) continue;
    bool said_elsewhere = !flag.value.empty() && given->second == std::vector{value_without(context_, flag)};
    if (!said_elsewhere) line += words_of(flag, given->second);
  }
  return text::one_line(line);
}

} // namespace quarry::cli
