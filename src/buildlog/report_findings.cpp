#include "base/text.hpp"
#include "base/units.hpp"
#include "buildlog/report.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <set>
#include <utility>

namespace quarry::buildlog {

namespace {
constexpr std::uint64_t k_noise_lines_min = 1'000; // a shorter log can be read as it is
constexpr double k_noise_share_min = 0.5;

/// Line 0: the log as a whole.
std::string at(const LogReport& report, std::uint64_t line) {
  return line == 0 ? report.name : fmt::format("{}:{}", report.name, line);
}

Finding finding(std::string code, Severity severity, std::string place, std::string message, std::string fix = {}) {
  return {std::move(code), severity, std::move(place), std::move(message), std::move(fix)};
}

/// One finding over all logs: where it is first, how often, and in which logs.
struct Spread {
  std::string place; ///< in the first log
  std::uint64_t count = 0, lines = 0;
  std::vector<std::string> logs; ///< variants, in their order
  const LogReport* last = nullptr;

  void add(const LogReport& report, std::uint64_t line, std::uint64_t times) {
    if (!last) place = at(report, line);
    if (last != &report) logs.push_back(report.variant);
    last = &report;
    count += times;
  }
};

/// Spreads in the order of their first appearance.
template <typename Key> class Spreads {
public:
  Spread& operator[](const Key& key) {
    auto [known, fresh] = at_.try_emplace(key, all_.size());
    if (fresh) all_.emplace_back(key, Spread());
    return all_[known->second].second;
  }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

private:
  std::map<Key, std::size_t> at_;
  std::vector<std::pair<Key, Spread>> all_;
};

/// Nothing for one log; ", in all 4 logs", or ", in 2 of 4 logs: py3.11, py3.12".
std::string in_logs(const Spread& spread, std::size_t logs) {
  constexpr std::size_t k_logs_shown = 6;
  if (spread.logs.size() < 2) return {};
  if (spread.logs.size() == logs) return fmt::format(", in all {} logs", logs);
  return fmt::format(", in {} of {} logs: {}", spread.logs.size(), logs, text::first(spread.logs, k_logs_shown));
}

std::string times(std::uint64_t count) {
  return count == 1 ? std::string("once") : fmt::format("{} times", units::count(count));
}

void deadlines(const std::vector<LogReport>& reports, const FindingOptions& options, Findings& into) {
  // By day and subject: the nearest first.
  std::map<std::pair<std::int64_t, std::string>, std::pair<const Deprecation*, Spread>> spreads;
  for (const auto& report : reports)
    for (const auto& deprecation : report.deprecations) {
      if (deprecation.day < 0) continue;
      auto& [first, spread] = spreads[{deprecation.day, deprecation.subject}];
      if (!first) first = &deprecation;
      spread.add(report, deprecation.first, deprecation.count);
    }
  for (const auto& [key, found] : spreads) {
    const auto& [deprecation, spread] = found;
    auto left = deprecation->day - options.today;
    bool fails = options.fail_within >= 0 && left <= options.fail_within;
    auto days = units::things(static_cast<std::uint64_t>(left < 0 ? -left : left), "day");
    auto when = days + (left < 0 ? " ago" : " left");
    into.push_back(finding("X510", fails ? Severity::error : Severity::warning, spread.place,
                           fmt::format("{} {}, {}: {} ({} in {})", left < 0 ? "worked until" : "works until",
                                       deprecation->deadline, when, key.second, times(spread.count),
                                       units::things(spread.logs.size(), "log")),
                           "change what is deprecated, or pin the version that still accepts it"));
  }
}

void insecure(const std::vector<LogReport>& reports, const Rules& rules, Findings& into) {
  Spread spread;
  for (const auto& report : reports)
    if (report.insecure_requests > 0) spread.add(report, report.insecure_first, report.insecure_requests);
  if (spread.count == 0) return;
  auto rule = std::find_if(rules.noise.begin(), rules.noise.end(),
                           [](const NoiseRule& r) { return r.kind == NoiseRule::Kind::insecure; });
  into.push_back(finding(
      "X511", Severity::warning, spread.place,
      fmt::format("{} sent without checking the server's certificate{}",
                  spread.count == 1 ? "1 HTTPS request was" : units::count(spread.count) + " HTTPS requests were",
                  in_logs(spread, reports.size())),
      rule == rules.noise.end() ? "" : rule->hint));
}

/// Each name once, and no more than a line holds.
std::string names_of(const std::set<std::string>& names) {
  constexpr std::size_t k_names_shown = 6;
  return text::first(std::vector<std::string>(names.begin(), names.end()), k_names_shown);
}

void verbose_calls(const std::vector<LogReport>& reports, const Rules& rules, Findings& into) {
  for (const auto& tool : rules.tools) {
    Spreads<std::string> spreads;
    for (const auto& report : reports) {
      std::set<std::string> loud, quiet;
      std::uint64_t lines = 0, first = 0;
      for (const auto& call : report.calls) {
        if (call.tool != tool.name) continue;
        (call.noise > 0 ? loud : quiet).insert(call.subject);
        lines += call.noise;
        if (call.noise > 0 && first == 0) first = call.line;
      }
      if (!loud.empty() && !quiet.empty())
        spreads[fmt::format("{} and not for {}", names_of(loud), names_of(quiet))].add(report, first, lines);
    }
    for (const auto& [subjects, spread] : spreads)
      into.push_back(finding("X512", Severity::warning, spread.place,
                             fmt::format("{} is verbose for {}: {}{}", tool.name, subjects,
                                         units::things(spread.count, "line"), in_logs(spread, reports.size())),
                             tool.fix));
  }
}

/// The wheels of a project differ by the tag of the Python from variant to variant, so the project is what they share.
void copies(const std::vector<LogReport>& reports, Findings& into) {
  Spreads<std::string> spreads;
  std::map<std::string, const WheelCopy*> first;
  for (const auto& report : reports)
    for (const auto& copy : report.copies) {
      first.try_emplace(copy.project, &copy);
      spreads[copy.project].add(report, copy.line, 1);
    }
  for (const auto& [project, spread] : spreads) {
    const auto& copy = *first.at(project);
    into.push_back(finding("X513", Severity::warning, spread.place,
                           fmt::format("{} has two files in one directory: {} and {}{}", project, copy.first_name,
                                       copy.second_name, in_logs(spread, reports.size())),
                           "remove the wheel that auditwheel has read: a glob takes the first one"));
  }
}

void passing(const std::vector<LogReport>& reports, Findings& into) {
  Spreads<std::pair<std::string, std::string>> spreads;
  for (const auto& report : reports)
    for (const auto& warning : report.passing)
      spreads[{warning.name, warning.fix}].add(report, warning.first, warning.count);
  for (const auto& [warning, spread] : spreads)
    into.push_back(finding("X514", Severity::warning, spread.place,
                           fmt::format("the tests pass, and {}: {}{}", warning.first, times(spread.count),
                                       in_logs(spread, reports.size())),
                           warning.second));
}

void noise(const std::vector<LogReport>& reports, Findings& into) {
  Spreads<std::pair<std::string, std::string>> spreads;
  for (const auto& report : reports) {
    double share = report.lines == 0 ? 0 : static_cast<double>(report.noise_lines) / static_cast<double>(report.lines);
    if (report.lines < k_noise_lines_min || share < k_noise_share_min) continue;
    auto& spread = spreads[{report.noise.front().source, report.noise.front().hint}];
    spread.add(report, 0, report.noise_lines);
    spread.lines += report.lines;
  }
  for (const auto& [source, spread] : spreads)
    into.push_back(
        finding("X515", Severity::note, spread.place,
                fmt::format("{} of {} lines say nothing: most of them {}{}",
                            units::percent(static_cast<double>(spread.count), static_cast<double>(spread.lines)),
                            units::count(spread.lines), source.first, in_logs(spread, reports.size())),
                source.second));
}

/// The line of the proof is that of the first log, whose line is the place, too.
void failures(const std::vector<LogReport>& reports, Findings& into) {
  Spreads<std::string> spreads;
  std::map<std::string, const Failure*> first;
  for (const auto& report : reports) {
    if (!report.failure) continue;
    auto message = fmt::format("{}: {}", report.failure->name, report.failure->text);
    first.try_emplace(message, &*report.failure);
    spreads[message].add(report, report.failure->line, 1);
  }
  for (const auto& [message, spread] : spreads) {
    const auto& one = *first.at(message);
    into.push_back(
        finding("X517", Severity::error, spread.place, message + in_logs(spread, reports.size()),
                one.line == one.proof_line ? "" : fmt::format("line {} reports that the job failed", one.proof_line)));
  }
}
} // namespace

Findings findings_of(const std::vector<LogReport>& reports, const Rules& rules, const FindingOptions& options) {
  Findings found;
  failures(reports, found);
  deadlines(reports, options, found);
  insecure(reports, rules, found);
  verbose_calls(reports, rules, found);
  copies(reports, found);
  passing(reports, found);
  noise(reports, found);
  return found;
}

} // namespace quarry::buildlog
