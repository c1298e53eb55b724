#include "s3/profile.hpp"

#include "base/text.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include <fmt/core.h>

namespace quarry::s3 {

namespace {

constexpr std::uint64_t k_file_max = 1 << 20; // thousands of profiles

std::string variable(const std::map<std::string, std::string>& environment, const std::string& name) {
  auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

Unexpected wrong(const std::string& file, std::size_t line) {
  return fail(ErrorKind::invalid_argument, "K010",
              fmt::format("{}:{}: neither a [section], nor `key = value`, nor a comment", file, line),
              "`aws configure list` reads the same file");
}

std::string without_comment(std::string_view value) { // " #" begins a comment, "#" inside a word does not
  auto at = value.find(" #");
  return std::string(text::trim(value.substr(0, at)));
}

Result<Ini> read_ini(const std::string& file) {
  if (file.empty() || !sys::exists(file)) return Ini();
  TRY(auto text, sys::read_file(file, k_file_max));
  return parse_ini({text, file});
}

} // namespace

Result<Ini> parse_ini(NamedText named) {
  const auto text = named.text;
  const std::string file(named.name);
  Ini ini;
  std::map<std::string, std::string>* section = nullptr;
  std::size_t number = 0;
  for (const auto& raw : text::lines(text)) {
    ++number;
    auto line = text::trim(raw);
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[') {
      auto end = line.find(']');
      if (end == line.npos) return wrong(file, number);
      section = &ini[std::string(text::trim(line.substr(1, end - 1)))];
      continue;
    }
    auto equals = line.find('=');
    if (!section || equals == line.npos || equals == 0) return wrong(file, number);
    auto key = text::lower(text::trim(line.substr(0, equals)));
    auto value = without_comment(line.substr(equals + 1));
    if (!value.empty()) (*section)[key] = value; // `s3 =` opens nested lines, whose keys follow
  }
  return ini;
}

Profile profile_of(const SharedFiles& files, const std::string& name) {
  const auto& [config, credentials] = files;
  Profile profile;
  profile.name = name;
  auto take = [&](const Ini& ini, const std::string& section) {
    auto found = ini.find(section);
    if (found == ini.end()) return;
    profile.found = true;
    for (const auto& [key, value] : found->second) profile.values[key] = value;
  };
  if (name == "default") take(config, "default");
  take(config, "profile " + name);
  take(credentials, name);
  return profile;
}

Result<SharedFiles> read_shared_files(const std::map<std::string, std::string>& environment) {
  auto home = variable(environment, "HOME");
  auto place = [&](const std::string& name, const std::string& fallback) {
    auto said = variable(environment, name);
    if (!said.empty()) return said.starts_with("~/") ? path::join(home, said.substr(2)) : said;
    return home.empty() ? std::string() : path::join(home, fallback);
  };
  SharedFiles files;
  TRY(files.config, read_ini(place("AWS_CONFIG_FILE", ".aws/config")));
  TRY(files.credentials, read_ini(place("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials")));
  return files;
}

std::string profile_name(const std::map<std::string, std::string>& environment) {
  auto name = variable(environment, "AWS_PROFILE");
  if (name.empty()) name = variable(environment, "AWS_DEFAULT_PROFILE");
  return name.empty() ? "default" : name;
}

} // namespace quarry::s3
