#include "cli/settings.hpp"

#include "base/text.hpp"
#include "base/toml.hpp"
#include "cli/parse.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::cli {

namespace {
constexpr std::uint64_t k_file_max = 1 << 20; // a settings file is a screen of text
constexpr std::string_view k_prefix = "QUARRY_";
constexpr std::string_view k_settings_hint = "`quarry config show --origin` lists the settings";

bool is_switch(const Flag& flag) { return flag.value.empty(); }

Result<std::optional<std::string>> read_value(TomlTable& table, const Flag& flag, const std::string& key) {
  if (flag.name == "--jobs") {
    std::int64_t number = 0;
    TRY_DO(table.integer(key, number));
    return std::optional(std::to_string(number));
  }
  if (is_switch(flag)) {
    bool on = false;
    TRY_DO(table.flag(key, on));
    return on ? std::optional<std::string>("") : std::nullopt;
  }
  std::string value;
  TRY_DO(table.text(key, value));
  return std::optional(std::move(value));
}

std::string beside_file(std::string value, const std::string& file) {
  constexpr std::string_view k_scheme = "file:";
  if (!value.starts_with(k_scheme) || value.size() == k_scheme.size() || value[k_scheme.size()] == '/') return value;
  return std::string(k_scheme) + path::normal(path::join(path::dirname(file), value.substr(k_scheme.size())));
}
} // namespace

std::string setting_key(std::string_view variable) {
  if (variable.starts_with(k_prefix)) variable.remove_prefix(k_prefix.size());
  return text::replace_all(text::lower(variable), "_", "-");
}

std::vector<const Flag*> configurable_flags(std::span<const Command> commands) {
  std::map<std::string, const Flag*> found;
  auto add = [&](const std::vector<Flag>& flags) {
    for (const auto& flag : flags)
      if (flag.environment.starts_with(k_prefix)) found.emplace(flag.environment, &flag);
  };
  add(global_flags());
  for (const auto& command : commands) add(command.flags);
  std::vector<const Flag*> flags;
  for (const auto& [variable, flag] : found) flags.push_back(flag);
  return flags;
}

Result<Settings> Settings::load(const std::vector<std::string>& files, std::span<const Command> commands) {
  Settings settings;
  auto flags = configurable_flags(commands);
  for (const auto& file : files) {
    if (!sys::exists(file)) continue;
    TRY(auto content, sys::read_file(file, k_file_max));
    TRY(auto table, TomlTable::parse({content, file}, {"C020", "C021", std::string(k_settings_hint)}));
    for (const auto* flag : flags) {
      auto key = setting_key(flag->environment);
      if (!table.has(key)) continue;
      TRY(auto value, read_value(table, *flag, key));
      auto origin = fmt::format("{}:{}", file, table.line_of(key));
      if (!value) continue;
      if (!is_switch(*flag)) TRY_DO(check_value(*flag, *value, fmt::format("{}: {}", origin, key)));
      settings.values_.try_emplace(key, Setting{beside_file(*value, file), origin});
    }
    TRY_DO(table.finish());
    settings.files_.push_back(file);
  }
  return settings;
}

const Setting* Settings::find(std::string_view key) const {
  auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

std::string repository_root(const std::string& directory) {
  for (auto at = directory; !at.empty(); at = path::dirname(at)) {
    if (sys::exists(path::join(at, ".git"))) return at;
    if (at == "/" || at == ".") break;
  }
  return "";
}

std::vector<std::string> settings_files(const std::string& directory,
                                        const std::map<std::string, std::string>& environment) {
  std::vector<std::string> files;
  auto root = repository_root(directory);
  for (auto at = directory;; at = path::dirname(at)) {
    files.push_back(path::join(at, "quarry.toml"));
    if (root.empty() || at == root) break;
  }
  // The nearest file of a repository is its settings; those further up are not mixed in.
  auto nearest = std::find_if(files.begin(), files.end(), [](const auto& file) { return sys::exists(file); });
  std::vector<std::string> result;
  if (nearest != files.end()) result.push_back(*nearest);
  auto variable = [&](const std::string& name) {
    auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  };
  auto home = variable("XDG_CONFIG_HOME");
  if (home.empty() && !variable("HOME").empty()) home = path::join(variable("HOME"), ".config");
  if (path::is_absolute(home)) result.push_back(path::join(home, "quarry/config.toml"));
  return result;
}

Result<void> apply_settings(const std::vector<Flag>& flags, const std::map<std::string, std::string>& environment,
                            const Settings& settings, Arguments& arguments) {
  for (const auto& flag : flags) {
    if (flag.environment.empty() || arguments.values.contains(flag.name)) continue;
    auto variable = environment.find(flag.environment);
    if (variable != environment.end() && !variable->second.empty()) {
      if (is_switch(flag)) {
        if (variable->second == "0") continue;
        arguments.values[flag.name] = {""};
        arguments.origins[flag.name] = flag.environment;
        continue;
      }
      TRY_DO(check_value(flag, variable->second, flag.environment));
      arguments.values[flag.name] = {variable->second};
      arguments.origins[flag.name] = flag.environment;
    } else if (const auto* setting = settings.find(setting_key(flag.environment))) {
      arguments.values[flag.name] = {setting->value};
      arguments.origins[flag.name] = setting->origin;
    }
  }
  return {};
}

} // namespace quarry::cli
