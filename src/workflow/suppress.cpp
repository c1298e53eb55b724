// Comments that accept a finding: `# quarry: ignore Y125 reason="one release branch" until=2026-12-31`.
#include "base/codes.hpp"
#include "base/day.hpp"
#include "base/text.hpp"
#include "workflow/fix.hpp"
#include "workflow/lint.hpp"
#include "workflow/rules.hpp"
#include "workflow/yaml.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <optional>
#include <utility>

namespace quarry::workflow {

namespace {
// A file with one of these was not read, or not whole.
constexpr std::string_view k_unread[] = {codes::not_yaml, codes::file_beyond_bound, codes::duplicate_key,
                                         codes::bad_expression};

struct Suppression {
  Position at;
  std::vector<std::string> codes;
  std::string reason, until;
  std::string text;                    ///< the comment up to the end of its last part
  bool own_line = false, last = false; ///< last: nothing follows it on its line
};

bool is_code(std::string_view word) {
  constexpr std::uint64_t k_first = 101, k_last = 145;
  auto number = word.size() == 4 && word[0] == 'Y' ? text::parse_u64(word.substr(1)) : std::nullopt;
  return number && *number >= k_first && *number <= k_last;
}

/// The value behind `key`, and in `end` the place behind it, if that is further on.
std::string quoted_after(std::string_view line, std::string_view key, std::size_t& end) {
  auto at = line.find(key);
  if (at == line.npos) return "";
  at += key.size();
  bool quoted = line.substr(at).starts_with('"');
  auto stop = quoted ? line.find('"', at + 1) : std::min(line.find_first_of(" \t", at), line.size());
  if (stop == line.npos) return "";
  end = std::max(end, quoted ? stop + 1 : stop);
  return std::string(quoted ? line.substr(at + 1, stop - at - 1) : line.substr(at, stop - at));
}

std::optional<Suppression> read(std::string_view line, std::uint32_t number) {
  auto at = line.find(k_suppression);
  if (at == line.npos) return std::nullopt;
  Suppression found;
  found.at = {number, static_cast<std::uint32_t>(at + 1)};
  found.own_line = text::trim(line.substr(0, at)).empty();
  auto rest = line.substr(at + k_suppression.size());
  std::size_t end = 0;
  found.reason = quoted_after(rest, "reason=", end);
  found.until = quoted_after(rest, "until=", end);
  found.text = line.substr(at, k_suppression.size() + end);
  found.last = text::trim(rest.substr(end)).empty();
  auto head = rest.substr(0, std::min(rest.find("reason="), rest.find("until=")));
  found.codes = text::split_any(head, ", \t");
  return found;
}

std::string defect_of(const Suppression& one) {
  if (one.codes.empty()) return "it names no code";
  for (const auto& code : one.codes)
    if (!is_code(code)) return fmt::format("`{}` is not a code of this check", code);
  if (one.reason.empty()) return "it gives no reason=\"…\"";
  if (!is_day(one.until)) return "it has no until=YYYY-MM-DD that is a day";
  return "";
}

bool covers(const Suppression& one, const Located& finding) {
  auto line = one.own_line ? one.at.line + 1 : one.at.line;
  return finding.at.line == line && std::find(one.codes.begin(), one.codes.end(), finding.code) != one.codes.end();
}
/// Whether two documents say the same, wherever their parts are.
bool same_values(const Node& a, const Node& b) {
  auto same_member = [](const Member& x, const Member& y) { return x.key == y.key && same_values(x.value, y.value); };
  return a.kind == b.kind && a.text == b.text &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), same_values) &&
         std::equal(a.members.begin(), a.members.end(), b.members.begin(), b.members.end(), same_member);
}

/// The edit that removes a suppression; none if a finding may still need it (--with would show it, or a file could not
/// be read), if something follows it, or if it is not a comment of YAML but a line of a script or Dockerfile.
std::optional<Edit> removal_of(const Suppression& one, const File& file, const Report& report) {
  auto unread = [](const Located& finding) {
    return std::ranges::any_of(k_unread, [&](std::string_view code) { return finding.code == code; });
  };
  if (!file.root.is_mapping() || !report.not_looked_at.empty() || !one.last ||
      std::any_of(report.findings.begin(), report.findings.end(), unread))
    return std::nullopt;
  Located finding{file.path, one.at, "Y107", Severity::warning, "", "", Edit{one.text, ""}};
  auto parsed = parse_yaml({edited(file.text, {&finding}).text, file.path});
  if (!parsed.readable || !same_values(parsed.root, file.root)) return std::nullopt;
  return finding.edit;
}
} // namespace

void apply_suppressions(const File& file, const std::string& today, Report& report) {
  if (file.text.find(k_suppression) == std::string::npos) return;
  std::uint32_t number = 0;
  for (const auto& line : text::lines(file.text)) {
    auto one = read(line, ++number);
    if (!one) continue;
    auto tell = [&](std::string code, Severity severity, std::string message, std::string fix,
                    std::optional<Edit> edit = {}) {
      report.findings.push_back(
          {file.path, one->at, std::move(code), severity, std::move(message), std::move(fix), std::move(edit)});
    };
    if (auto defect = defect_of(*one); !defect.empty()) {
      tell("Y105", Severity::error, fmt::format("this suppression has no effect: {}", defect),
           "write `# quarry: ignore Y125 reason=\"why\" until=2027-01-31`");
      continue;
    }
    if (one->until < today) { // both are written alike, so texts compare as days do
      tell("Y106", Severity::warning, fmt::format("this suppression ended on {}: {}", one->until, one->reason),
           "fix the finding, or set a new day");
      continue;
    }
    auto covered = [&](const Located& finding) { return finding.file == file.path && covers(*one, finding); };
    for (const auto& finding : report.findings)
      if (covered(finding)) report.suppressed.push_back({finding, one->reason, one->until});
    if (std::erase_if(report.findings, covered) == 0 && file.readable) // else its findings are not known
      tell("Y107", Severity::warning, "this suppression matches no finding", "remove the comment",
           removal_of(*one, file, report));
  }
}

} // namespace quarry::workflow
