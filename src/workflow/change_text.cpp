// Changes in words.
#include "base/text.hpp"
#include "workflow/changes_parts.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::workflow {

std::string flow_text(const Node& node) {
  if (node.is_scalar()) return node.text;
  std::vector<std::string> parts;
  for (const auto& item : node.items) parts.push_back(flow_text(item));
  for (const auto& member : node.members) parts.push_back(member.key + ": " + flow_text(member.value));
  return node.is_sequence() ? "[" + text::join(parts, ", ") + "]" : "{" + text::join(parts, ", ") + "}";
}

std::string values_of(const Node& column) {
  std::vector<std::string> values;
  for (const auto& item : column.items) values.push_back(flow_text(item));
  return column.is_scalar() ? column.text : text::join(values, ", ");
}

namespace {
using ChangeKind = Change::Kind;
using What = Change::What;

/// At commas outside of brackets: the reverse of values_of.
std::vector<std::string> split_values(std::string_view values) {
  std::vector<std::string> found;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < values.size(); ++at) {
    if (values[at] == '{' || values[at] == '[') ++depth;
    if (values[at] == '}' || values[at] == ']') --depth;
    if (depth > 0 || !values.substr(at).starts_with(", ")) continue;
    found.emplace_back(values.substr(begin, at - begin));
    begin = at + 2;
  }
  if (begin < values.size()) found.emplace_back(values.substr(begin));
  return found;
}

/// The values of `some` that `others` lacks, in back quotes; at most three.
std::string values_without(const std::string& some, const std::string& others) {
  auto list = split_values(others);
  std::set<std::string> known(list.begin(), list.end());
  std::vector<std::string> found;
  for (const auto& value : split_values(some))
    if (!known.contains(value)) found.push_back("`" + value + "`");
  return text::first(found, 3);
}

constexpr std::size_t k_values_shown = 100; // characters of both sides that a line holds

/// What a matrix key with long values gains and loses.
std::string value_changes(const Change& change) {
  auto more = values_without(change.after, change.before), fewer = values_without(change.before, change.after);
  if (more.empty() && fewer.empty()) return "order or number of its values differs";
  if (fewer.empty()) return "gains " + more;
  return more.empty() ? "loses " + fewer : fmt::format("gains {}; loses {}", more, fewer);
}

constexpr std::size_t k_lines_shown = 2, k_line_bytes = 70;

std::string beginning_of(std::string_view line, std::size_t bytes) {
  if (line.size() <= bytes) return std::string(line);
  auto kept = line.substr(0, bytes);
  return std::string(kept.substr(0, text::utf8_prefix(kept))) + "…";
}

/// The lines that `some` has more often than `others`, in back quotes.
std::string lines_without(const std::string& some, const std::string& others) {
  auto list = script_lines(others);
  std::multiset<std::string> known(list.begin(), list.end());
  std::vector<std::string> found;
  for (auto& line : script_lines(some)) {
    if (auto same = known.find(line); same != known.end()) {
      known.erase(same);
      continue;
    }
    std::ranges::replace(line, '`', '\'');
    found.push_back("`" + beginning_of(line, k_line_bytes) + "`");
  }
  return text::first(found, k_lines_shown);
}

std::string command_changes(const Change& change) {
  auto more = lines_without(change.after, change.before), fewer = lines_without(change.before, change.after);
  if (more.empty() && fewer.empty()) return "the order of its lines differs";
  if (fewer.empty()) return "gains " + more;
  return more.empty() ? "loses " + fewer : fmt::format("gains {}; loses {}", more, fewer);
}

std::string_view kind_name(ChangeKind kind) {
  switch (kind) {
  case ChangeKind::input: return "input";
  case ChangeKind::output: return "output";
  case ChangeKind::secret: return "secret";
  case ChangeKind::argument: return "argument";
  case ChangeKind::call: return "target";
  case ChangeKind::matrix: return "matrix key";
  case ChangeKind::fallback: return "fallback of the ref of";
  case ChangeKind::ref: return "argument";
  case ChangeKind::trigger: return "trigger";
  case ChangeKind::permission: return "permission";
  case ChangeKind::setting: return "key";
  case ChangeKind::command: return "commands of step";
  case ChangeKind::job: return "job";
  case ChangeKind::step: return "step";
  default: return "file";
  }
}

std::string subject_of(const Change& change) {
  if (change.kind == ChangeKind::file) return change.name;
  if (change.kind == ChangeKind::call) return change.where; // which names the target
  auto subject = fmt::format("{} `{}`", kind_name(change.kind), change.name);
  return change.where.empty() ? subject : subject + fmt::format(" ({})", change.where);
}

/// Whether a change that adds or removes says the value, too.
bool shows_value(ChangeKind kind) {
  return kind == ChangeKind::setting || kind == ChangeKind::ref || kind == ChangeKind::trigger;
}

/// In one line.
std::string plain(std::string_view value) { return text::join(text::split_any(value, " \n\t\r"), " "); }

std::string shown(std::string_view value) {
  return value.empty() ? std::string("empty") : "`" + beginning_of(value, k_values_shown) + "`";
}

/// Both values; of long ones that begin alike, what stands a little before the first difference.
std::string before_and_after(const Change& change) {
  constexpr std::size_t k_context = 20;
  auto before = plain(change.before), after = plain(change.after);
  auto [first, second] = std::ranges::mismatch(before, after);
  auto same = static_cast<std::size_t>(first - before.begin());
  bool is_long = std::max(before.size(), after.size()) > k_values_shown && same > 2 * k_context;
  if (is_long) {
    auto begin = same - k_context;
    while (begin > 0 && (static_cast<unsigned char>(before[begin]) & 0xC0) == 0x80) --begin; // within a character
    before = "…" + before.substr(begin);
    after = "…" + after.substr(begin);
  }
  return fmt::format("{} is now {}", shown(before), shown(after));
}
} // namespace

std::vector<std::string> script_lines(std::string_view script) {
  std::vector<std::string> found;
  for (const auto& line : text::lines(script))
    if (auto trimmed = text::trim(line); !trimmed.empty() && trimmed[0] != '#') found.emplace_back(trimmed);
  return found;
}

std::string sentence(const Change& change) {
  auto subject = subject_of(change);
  if (change.what != What::changed) {
    const auto& value = change.what == What::added ? change.after : change.before;
    auto detail = change.detail.empty() ? "" : " " + change.detail;
    auto more = shows_value(change.kind) && !value.empty() ? ": " + shown(plain(value)) : "";
    return subject + detail + (change.what == What::added ? " added" : " removed") + more;
  }
  if (change.kind == ChangeKind::command) return fmt::format("{}: {}", subject, command_changes(change));
  if (change.kind == ChangeKind::matrix && change.before.size() + change.after.size() > k_values_shown)
    return fmt::format("{}: {}", subject, value_changes(change));
  if (change.kind == ChangeKind::trigger && change.before.size() + change.after.size() > k_values_shown)
    return fmt::format("{}: {} {}", subject, change.detail, value_changes(change));
  auto detail = change.detail.empty() ? "" : change.detail + " ";
  return fmt::format("{}: {}{}", subject, detail, before_and_after(change));
}

} // namespace quarry::workflow
