#include "trial/suite.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/toml.hpp"
#include "base/units.hpp"
#include "registry/records.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::trial {

namespace {
constexpr std::uint64_t k_suite_bytes_max = 1u << 20;
constexpr std::uint64_t k_files_bytes_max = 16u << 20;
constexpr std::size_t k_files_max = 100;
constexpr std::string_view k_directory = "data/suites/", k_ending = ".toml";
constexpr std::string_view k_files_place = "{suite}", k_report_place = "{junit}";

bool is_name(const std::string& text) {
  auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  };
  return !text.empty() && text.front() != '.' && std::all_of(text.begin(), text.end(), fits);
}

bool mentions(const std::vector<std::string>& command, std::string_view place) {
  return std::any_of(command.begin(), command.end(),
                     [&](const std::string& word) { return word.find(place) != word.npos; });
}

Result<void> read_files(TomlTable& table, const ReadSuiteFile& read, SuiteDefinition& into) {
  std::vector<std::string> names;
  TRY_DO(table.texts("files", names));
  std::sort(names.begin(), names.end());
  if (names.size() > k_files_max) return table.error("files", fmt::format("has more than {} names", k_files_max));
  std::uint64_t bytes = 0;
  for (const auto& name : names) {
    if (!is_name(name))
      return table.error("files", fmt::format("{:?} is not the name of a file beside this one", name));
    if (!into.files.empty() && into.files.back().name == name)
      return table.error("files", fmt::format("{:?} is there twice", name));
    TRY(auto content, read(name), "while reading the files of suite " + into.name);
    bytes += content.size();
    if (bytes > k_files_bytes_max)
      return table.error("files", fmt::format("have more than {} bytes", k_files_bytes_max));
    into.files.push_back({name, std::move(content)});
  }
  if (into.files.empty() && mentions(into.command, k_files_place))
    return table.error("command", "names {suite}, and there are no files");
  return {};
}

Result<void> read_limits(TomlTable& table, SuiteDefinition& into) {
  std::string backend = "gpu", deadline;
  TRY_DO(table.flag("gpu", into.gpu));
  TRY_DO(table.choice("backend", backend, {"gpu", "cpu"}));
  into.cpu = backend == "cpu";
  if (into.cpu && into.gpu) return table.error("gpu", "is true, and backend is \"cpu\"");
  TRY_DO(table.integer("min_passed", into.min_passed));
  if (into.min_passed < 1) return table.error("min_passed", "must be at least 1");
  TRY_DO(table.integer("shards", into.shards));
  if (into.shards < 1 || into.shards > static_cast<std::int64_t>(registry::k_shards_max))
    return table.error("shards", fmt::format("must be 1 to {}", registry::k_shards_max));
  TRY_DO(table.text("deadline", deadline));
  if (deadline.empty()) return {};
  auto parsed = units::parse_duration_ms(deadline);
  if (!parsed || *parsed == 0) return table.error("deadline", fmt::format("{:?} is not a duration like 15m", deadline));
  into.deadline_ms = *parsed;
  return {};
}

Result<SuiteDefinition> read_at(const std::string& path) {
  TRY(auto text, sys::read_file(path, k_suite_bytes_max), "while reading the suite");
  auto beside = [&](const std::string& name) {
    return sys::read_file(path::join(std::string(path::dirname(path)), name), k_files_bytes_max);
  };
  return parse_suite({text, path}, beside);
}
} // namespace

bool SuiteDefinition::has_report() const { return mentions(command, k_report_place); }

Result<SuiteDefinition> parse_suite(NamedText named, const ReadSuiteFile& read) {
  TRY(auto root, TomlTable::parse(named, {"X026", "X027", "docs/formats/suite.md lists the keys"}));
  SuiteDefinition suite;
  std::string schema;
  TRY_DO(root.choice("schema", schema, {"quarry.suite/1"}, true));
  TRY_DO(root.text("name", suite.name, true));
  if (!is_name(suite.name)) return root.error("name", fmt::format("{:?} is not the name of a suite", suite.name));
  if (suite.name == "rocm-sdk" || suite.name == "command")
    return root.error("name", fmt::format("{:?} is the name of another suite", suite.name));
  TRY_DO(root.text("about", suite.about));
  TRY_DO(root.texts("command", suite.command));
  if (suite.command.empty() || suite.command.front().empty()) return root.error("command", "is missing or empty");
  TRY_DO(read_limits(root, suite));
  TRY_DO(read_files(root, read, suite));
  TRY_DO(root.finish());
  suite.digest = sha256(canonical_suite(suite));
  return suite;
}

std::string canonical_suite(const SuiteDefinition& suite) {
  auto files = Json::array();
  for (const auto& file : suite.files) files.push_back({{"name", file.name}, {"sha256", sha256(file.bytes).hex()}});
  Json json{{"schema", "quarry.suite/1"}, {"name", suite.name}, {"command", suite.command}, {"files", files}};
  if (suite.gpu) json["gpu"] = true;
  if (suite.cpu) json["backend"] = "cpu";
  if (suite.min_passed != 1) json["min_passed"] = suite.min_passed;
  if (suite.shards != 1) json["shards"] = suite.shards;
  if (suite.deadline_ms != 0) json["deadline_ms"] = suite.deadline_ms;
  return json::text(json);
}

Result<std::optional<SuiteDefinition>> find_suite(const Resources& resources, const std::string& named) {
  if (named.find('/') != named.npos || named.ends_with(k_ending)) {
    TRY(auto suite, read_at(named));
    return std::optional(std::move(suite));
  }
  auto key = fmt::format("{}{}{}", k_directory, named, k_ending);
  auto text = resources.read(key);
  if (!text) return std::optional<SuiteDefinition>();
  auto beside = [&](const std::string& name) -> Result<std::string> {
    if (auto bytes = resources.read(fmt::format("{}{}", k_directory, name))) return std::move(*bytes);
    return fail(ErrorKind::not_found, "X027", fmt::format("{}: files: {}{} does not exist", key, k_directory, name),
                "put it beside the definition");
  };
  TRY(auto suite, parse_suite({*text, key}, beside));
  if (suite.name != named)
    return fail(ErrorKind::invalid_argument, "X027",
                fmt::format("{}: name: {:?} is not what the file is called", key, suite.name), "rename one of the two");
  return std::optional(std::move(suite));
}

std::string unread_suite(const std::string& name) {
  auto file = fmt::format("{}{}{}", k_directory, name, k_ending);
  if (!sys::exists(file)) return {};
  return fmt::format("{} is read by its name only at the top of a git repository: name the file itself, `{}`, or make "
                     "the repository, `git init`",
                     file, file);
}

std::vector<std::string> suite_names(const Resources& resources) {
  std::vector<std::string> names;
  for (const auto& file : resources.list(k_directory))
    if (file.ends_with(k_ending))
      names.push_back(file.substr(k_directory.size(), file.size() - k_directory.size() - k_ending.size()));
  return names;
}

} // namespace quarry::trial
