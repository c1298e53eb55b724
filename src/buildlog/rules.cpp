#include "buildlog/rules.hpp"

#include "base/text.hpp"
#include "base/toml.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::buildlog {

namespace {
constexpr std::string_view k_hint = "docs/formats/log-rules.md lists the keys and says what a pattern is";
const std::vector<std::string> k_failure_kinds = {"code",   "test",    "network",   "disk",  "memory",
                                                  "runner", "timeout", "cancelled", "access"};

Result<void> read_patterns(TomlTable& table, const std::string& key, std::vector<Pattern>& into, bool required) {
  std::vector<std::string> texts;
  TRY_DO(table.texts(key, texts));
  if (texts.empty() && required) return table.error(key, "is missing or empty");
  for (const auto& text : texts) {
    auto pattern = Pattern::parse(text);
    if (!pattern) return table.error(key, fmt::format("{:?} is not a pattern", text));
    into.push_back(std::move(*pattern));
  }
  return {};
}

class Reader {
public:
  Result<Rules> read(std::string_view text, const std::string& file) {
    TRY(auto root, TomlTable::parse({text, file}, {"X500", "X501", std::string(k_hint)}));
    std::string schema;
    TRY_DO(root.text("schema", schema, true));
    if (schema != "quarry.log-rules/1") return root.error("schema", "is not \"quarry.log-rules/1\"");
    TRY_DO(root.tables("noise", [&](TomlTable& t) { return noise(t); }));
    out_.failure_base = static_cast<int>(out_.noise.size());
    TRY_DO(root.tables("failure", [&](TomlTable& t) { return failure(t); }));
    out_.passing_base = out_.failure_base + static_cast<int>(out_.failures.size());
    TRY_DO(root.tables("passing", [&](TomlTable& t) { return passing(t); }));
    out_.warning_base = out_.passing_base + static_cast<int>(out_.passing.size());
    TRY_DO(root.tables("warning", [&](TomlTable& t) { return warning(t); }));
    TRY_DO(root.tables("tool", [&](TomlTable& t) { return tool(t); }));
    TRY_DO(root.tables("phase", [&](TomlTable& t) { return phase(t); }));
    TRY_DO(read_patterns(root, "device_actions", out_.device_actions, false));
    TRY_DO(root.finish());
    out_.lines.compile();
    out_.phase_lines.compile();
    return std::move(out_);
  }

private:
  Result<void> name(TomlTable& table, std::string& into, std::string_view kind) {
    TRY_DO(table.text("name", into, true));
    if (into.empty()) return table.error("name", "is empty");
    if (!names_.emplace(kind, into).second) return table.error("name", fmt::format("{:?} appears twice", into));
    return {};
  }

  Result<void> lines(TomlTable& table, int rule) {
    std::vector<Pattern> patterns;
    TRY_DO(read_patterns(table, "lines", patterns, true));
    for (auto& pattern : patterns)
      if (!out_.lines.add(std::move(pattern), rule))
        return table.error("lines", fmt::format("more than {} different texts begin anywhere in a line", k_words_max));
    return {};
  }

  Result<void> noise(TomlTable& table) {
    NoiseRule rule;
    std::string kind = "plain";
    TRY_DO(name(table, rule.name, "noise"));
    TRY_DO(table.choice("kind", kind, {"plain", "bazel", "insecure", "compiler"}));
    rule.kind = kind == "bazel"      ? NoiseRule::Kind::bazel
                : kind == "insecure" ? NoiseRule::Kind::insecure
                : kind == "compiler" ? NoiseRule::Kind::compiler
                                     : NoiseRule::Kind::plain;
    TRY_DO(table.text("hint", rule.hint));
    TRY_DO(read_patterns(table, "continues", rule.continues, false));
    TRY_DO(lines(table, static_cast<int>(out_.noise.size())));
    out_.noise.push_back(std::move(rule));
    return {};
  }

  Result<void> failure(TomlTable& table) {
    FailureRule rule;
    TRY_DO(name(table, rule.name, "failure"));
    TRY_DO(table.choice("kind", rule.kind, k_failure_kinds, true));
    TRY_DO(table.flag("proof", rule.proof));
    TRY_DO(table.flag("effect", rule.effect));
    TRY_DO(table.flag("traceback", rule.traceback));
    TRY_DO(lines(table, out_.failure_base + static_cast<int>(out_.failures.size())));
    out_.failures.push_back(std::move(rule));
    return {};
  }

  Result<void> passing(TomlTable& table) {
    PassingRule rule;
    TRY_DO(name(table, rule.name, "passing"));
    TRY_DO(table.text("fix", rule.fix));
    TRY_DO(lines(table, out_.passing_base + static_cast<int>(out_.passing.size())));
    out_.passing.push_back(std::move(rule));
    return {};
  }

  Result<void> warning(TomlTable& table) {
    WarningRule rule;
    TRY_DO(name(table, rule.name, "warning"));
    TRY_DO(table.flag("below", rule.below));
    TRY_DO(lines(table, out_.warning_base + static_cast<int>(out_.warnings.size())));
    out_.warnings.push_back(std::move(rule));
    return {};
  }

  Result<void> tool(TomlTable& table) {
    ToolRule rule;
    TRY_DO(name(table, rule.name, "tool"));
    TRY_DO(table.text("noise", rule.noise, true));
    bool known = std::any_of(out_.noise.begin(), out_.noise.end(), [&](const auto& n) { return n.name == rule.noise; });
    if (!known) return table.error("noise", fmt::format("no [[noise]] is called {:?}", rule.noise));
    TRY_DO(table.text("fix", rule.fix));
    TRY_DO(read_patterns(table, "begin", rule.begin, true));
    out_.tools.push_back(std::move(rule));
    return {};
  }

  Result<void> phase(TomlTable& table) {
    PhaseRule rule;
    TRY_DO(name(table, rule.name, "phase"));
    TRY_DO(read_patterns(table, "begin", rule.begin, false));
    TRY_DO(read_patterns(table, "end", rule.end, false));
    TRY_DO(read_patterns(table, "docker", rule.docker, false));
    TRY_DO(read_patterns(table, "bazel", rule.bazel, false));
    if (rule.begin.empty() && rule.docker.empty() && rule.bazel.empty())
      return table.error("begin", "is missing, and so are docker and bazel: nothing begins the phase");
    auto number = 2 * static_cast<int>(out_.phases.size());
    bool fits = true;
    for (const auto& pattern : rule.begin) fits = fits && out_.phase_lines.add(pattern, number);
    for (const auto& pattern : rule.end) fits = fits && out_.phase_lines.add(pattern, number + 1);
    if (!fits)
      return table.error("begin", fmt::format("more than {} different texts begin anywhere in a line", k_words_max));
    out_.phases.push_back(std::move(rule));
    return {};
  }

  static std::vector<std::string> watched() {
    return {"warning: ", "deprecated", "will be removed", "no longer be supported", "end of life", " passed", ".whl"};
  }

  Rules out_{.noise = {},
             .failures = {},
             .passing = {},
             .warnings = {},
             .tools = {},
             .phases = {},
             .device_actions = {},
             .lines = PatternSet(watched()),
             .phase_lines = PatternSet()};
  std::set<std::pair<std::string, std::string>> names_; // of each kind
};
} // namespace

Result<Rules> parse_rules(NamedText named) {
  const auto text = named.text;
  const std::string file(named.name);
  if (text.size() > k_rules_bytes_max)
    return fail(ErrorKind::invalid_argument, "X500", fmt::format("{} has more than {} bytes", file, k_rules_bytes_max),
                std::string(k_hint));
  return Reader().read(text, file);
}

} // namespace quarry::buildlog
