#include "base/text.hpp"
#include "base/units.hpp"
#include "buildlog/report.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <set>

namespace quarry::buildlog {

namespace {
constexpr std::uint64_t k_noise_lines_min = 1'000; // a shorter log can be read as it is
constexpr double k_noise_share_min = 0.5;

std::string at(const LogReport& report, std::uint64_t line) { return fmt::format("{}:{}", report.name, line); }

Finding finding(std::string code, Severity severity, std::string place, std::string message, std::string fix = {}) {
  return {std::move(code), severity, std::move(place), std::move(message), std::move(fix)};
}

/// One deprecation over all logs: in how many, and how often.
struct Spread {
  const LogReport* report = nullptr;
  const Deprecation* deprecation = nullptr;
  std::uint64_t count = 0, logs = 0;
};

void deadlines(const std::vector<LogReport>& reports, const FindingOptions& options, Findings& into) {
  std::map<std::string, Spread> spreads;
  for (const auto& report : reports)
    for (const auto& deprecation : report.deprecations) {
      if (deprecation.day < 0) continue;
      auto& spread = spreads[deprecation.subject];
      if (!spread.report) spread = {&report, &deprecation, 0, 0};
      spread.count += deprecation.count;
      ++spread.logs;
    }
  for (const auto& [subject, spread] : spreads) {
    auto left = spread.deprecation->day - options.today;
    bool fails = options.fail_within >= 0 && left <= options.fail_within;
    auto when = left < 0 ? fmt::format("{} days ago", -left) : fmt::format("{} days left", left);
    into.push_back(finding("X510", fails ? Severity::error : Severity::warning,
                           at(*spread.report, spread.deprecation->first),
                           fmt::format("works until {}, {}: {} ({} in {})", spread.deprecation->deadline, when, subject,
                                       spread.count == 1 ? "once" : fmt::format("{} times", units::count(spread.count)),
                                       units::things(spread.logs, "log")),
                           "change what is deprecated, or pin the version that still accepts it"));
  }
}

void insecure(const LogReport& report, const Rules& rules, Findings& into) {
  if (report.insecure_requests == 0) return;
  auto rule = std::find_if(rules.noise.begin(), rules.noise.end(),
                           [](const NoiseRule& r) { return r.kind == NoiseRule::Kind::insecure; });
  into.push_back(finding("X511", Severity::warning, at(report, report.insecure_first),
                         fmt::format("{} HTTPS requests were sent without checking the server's certificate",
                                     units::count(report.insecure_requests)),
                         rule == rules.noise.end() ? "" : rule->hint));
}

/// Each name once, and no more than a line holds.
std::string names_of(const std::set<std::string>& names) {
  constexpr std::size_t k_names_shown = 6;
  return text::first(std::vector<std::string>(names.begin(), names.end()), k_names_shown);
}

void verbose_calls(const LogReport& report, const Rules& rules, Findings& into) {
  for (const auto& tool : rules.tools) {
    std::set<std::string> loud, quiet;
    std::uint64_t lines = 0, first = 0;
    for (const auto& call : report.calls) {
      if (call.tool != tool.name) continue;
      (call.noise > 0 ? loud : quiet).insert(call.subject);
      lines += call.noise;
      if (call.noise > 0 && first == 0) first = call.line;
    }
    if (loud.empty() || quiet.empty()) continue;
    into.push_back(finding("X512", Severity::warning, at(report, first),
                           fmt::format("{} is verbose for {} and not for {}: {} lines", tool.name, names_of(loud),
                                       names_of(quiet), units::count(lines)),
                           tool.fix));
  }
}

void noise(const LogReport& report, Findings& into) {
  double share = report.lines == 0 ? 0 : static_cast<double>(report.noise_lines) / static_cast<double>(report.lines);
  if (report.lines < k_noise_lines_min || share < k_noise_share_min) return;
  into.push_back(
      finding("X515", Severity::note, report.name,
              fmt::format("{} of {} lines say nothing: most of them {}",
                          units::percent(static_cast<double>(report.noise_lines), static_cast<double>(report.lines)),
                          units::count(report.lines), report.noise.front().source),
              report.noise.front().hint));
}

void failure(const LogReport& report, Findings& into) {
  if (!report.failure) return;
  const auto& found = *report.failure;
  into.push_back(finding(
      "X517", Severity::error, at(report, found.line), fmt::format("{}: {}", found.name, found.text),
      found.line == found.proof_line ? "" : fmt::format("line {} reports that the job failed", found.proof_line)));
}
} // namespace

Findings findings_of(const std::vector<LogReport>& reports, const Rules& rules, const FindingOptions& options) {
  Findings found;
  for (const auto& report : reports) failure(report, found);
  deadlines(reports, options, found);
  for (const auto& report : reports) {
    insecure(report, rules, found);
    verbose_calls(report, rules, found);
    for (const auto& copy : report.copies)
      found.push_back(finding(
          "X513", Severity::warning, at(report, copy.line),
          fmt::format("{} has two files in one directory: {} and {}", copy.project, copy.first_name, copy.second_name),
          "remove the wheel that auditwheel has read: a glob takes the first one"));
    for (const auto& warning : report.passing)
      found.push_back(finding(
          "X514", Severity::warning, at(report, warning.first),
          fmt::format("the tests pass, and {}: {} times", warning.name, units::count(warning.count)), warning.fix));
    noise(report, found);
  }
  return found;
}

} // namespace quarry::buildlog
