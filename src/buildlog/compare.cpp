#include "buildlog/compare.hpp"

#include "base/ascii.hpp"
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <map>

namespace quarry::buildlog {

namespace {
using Rows = std::vector<std::vector<double>>;                         // [variant][what]
constexpr std::string_view k_of_phase = "phase ", k_of_step = "step "; // begin the names of durations

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// 1.4826 makes it the standard deviation of a normal distribution.
double spread(std::vector<double> values) {
  for (auto& value : values) value = std::fabs(value);
  return 1.4826 * median(std::move(values));
}

using Durations = std::map<std::string, double>;

Durations phases_and_actions(const TimeReport& report) {
  Durations found;
  for (const auto& phase : report.phases)
    if (phase.seconds >= k_common_seconds_min) found[std::string(k_of_phase) + phase.name] += phase.seconds;
  for (const auto& action : report.actions)
    if (action.seconds >= k_common_seconds_min) {
      auto& seconds = found[action.phase + ": " + action.name];
      seconds = std::max(seconds, action.seconds);
    }
  return found;
}

Durations steps(const TimeReport& report) {
  Durations found;
  for (const auto& step : report.steps)
    if (step.seconds >= k_common_seconds_min) found[std::string(k_of_step) + step.name] += step.seconds;
  return found;
}

struct Common {
  std::vector<std::string> names;
  Rows logs; // logarithms of seconds
};

Common common_of(const std::vector<TimeReport>& reports, Durations (*durations)(const TimeReport&)) {
  std::vector<Durations> all;
  for (const auto& report : reports) all.push_back(durations(report));
  Common common;
  common.logs.resize(reports.size());
  for (const auto& [name, seconds] : all.front()) {
    const auto& key = name;
    if (!std::all_of(all.begin(), all.end(), [&](const auto& one) { return one.contains(key); })) continue;
    common.names.push_back(key);
    for (std::size_t i = 0; i < all.size(); ++i) common.logs[i].push_back(std::log(all[i].at(key)));
  }
  return common;
}

struct Polished {
  std::vector<double> runner, what;
  Rows residual;
};

Polished polish(const Rows& logs) {
  constexpr int k_rounds = 10; // it settles after 3 or 4
  auto variants = logs.size(), count = logs.front().size();
  Polished out{std::vector<double>(variants), std::vector<double>(count), logs};
  for (int round = 0; round < k_rounds; ++round) {
    for (std::size_t k = 0; k < count; ++k) {
      std::vector<double> column;
      for (const auto& row : out.residual) column.push_back(row[k]);
      auto middle = median(std::move(column));
      out.what[k] += middle;
      for (auto& row : out.residual) row[k] -= middle;
    }
    for (std::size_t i = 0; i < variants; ++i) {
      auto middle = median(out.residual[i]);
      out.runner[i] += middle;
      for (auto& value : out.residual[i]) value -= middle;
    }
  }
  auto fastest = *std::min_element(out.runner.begin(), out.runner.end());
  for (auto& value : out.runner) value -= fastest;
  for (auto& value : out.what) value += fastest;
  return out;
}

double explained(const Polished& polished) {
  double mean = 0, by_runner = 0, rest = 0;
  for (auto value : polished.runner) mean += value / static_cast<double>(polished.runner.size());
  for (std::size_t i = 0; i < polished.runner.size(); ++i)
    for (auto value : polished.residual[i]) {
      by_runner += (polished.runner[i] - mean) * (polished.runner[i] - mean);
      rest += value * value;
    }
  return by_runner + rest > 0 ? by_runner / (by_runner + rest) : 0;
}

bool same_actions(const std::vector<TimeReport>& reports) {
  auto count = [](const TimeReport& report) {
    std::uint64_t sum = 0;
    for (const auto& build : report.builds) sum += build.actions;
    return sum;
  };
  auto first = count(reports.front());
  return first > 0 && std::all_of(reports.begin(), reports.end(), [&](const auto& r) { return count(r) == first; });
}

bool has_name(const std::string& phase, std::string_view part) {
  auto lower = [](char c) { return ascii::is_upper(c) ? static_cast<char>(c + 32) : c; };
  return std::search(phase.begin(), phase.end(), part.begin(), part.end(),
                     [&](char a, char b) { return lower(a) == lower(b); }) != phase.end();
}

Result<std::vector<double>> seconds_of(const std::vector<TimeReport>& reports, const std::string& name,
                                       const char* flag) {
  std::vector<double> seconds;
  bool found = false;
  for (const auto& report : reports) {
    double sum = 0;
    for (const auto& phase : report.phases)
      if (has_name(phase.name, name)) {
        sum += phase.seconds;
        found = true;
      }
    seconds.push_back(sum);
  }
  if (found && !name.empty()) return seconds;
  return fail(ErrorKind::invalid_argument, "X505",
              fmt::format("{} {}: no phase of these logs has such a name", flag, name),
              "`quarry time report FILE` lists the phases");
}

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (auto value : values) sum += value;
  return sum;
}
} // namespace

Result<TimeComparison> compare_times(const std::vector<TimeReport>& reports) {
  if (reports.size() < 2)
    return fail(ErrorKind::invalid_argument, "X504", "one log has nothing to be compared with",
                "name two logs or more");
  auto common = common_of(reports, phases_and_actions);
  TimeComparison out;
  // Not both: a step's time holds that of its phases.
  if (common.names.size() < k_common_min) {
    common = common_of(reports, steps);
    out.by_steps = true;
  }
  if (common.names.size() < k_common_min)
    return fail(
        ErrorKind::invalid_argument, "X504",
        fmt::format("the logs have fewer than {} phases and actions, and {} steps, of {:g} s or more in common; "
                    "{} are needed",
                    k_common_min, common.names.size(), k_common_seconds_min, k_common_min),
        "compare logs of the same job; `quarry time report` shows what each of them has");
  auto polished = polish(common.logs);
  out.common = common.names.size();
  out.runner_share = explained(polished);
  out.same_actions = same_actions(reports);
  std::vector<double> all;
  for (const auto& row : polished.residual) all.insert(all.end(), row.begin(), row.end());
  auto unusual = std::max(4 * spread(all), std::log(1.25)); // less is within the scatter of runs
  for (std::size_t i = 0; i < reports.size(); ++i) {
    // 1.96 standard errors of a median, which are 1.2533 times those of a mean.
    auto half = 1.96 * 1.2533 * spread(polished.residual[i]) / std::sqrt(static_cast<double>(common.names.size()));
    RunnerFactor runner{reports[i].variant,
                        reports[i].total,
                        std::exp(polished.runner[i]),
                        std::exp(polished.runner[i] - half),
                        std::exp(polished.runner[i] + half),
                        0};
    for (std::size_t k = 0; k < common.names.size(); ++k) {
      auto expected = std::exp(polished.runner[i] + polished.what[k]), seconds = std::exp(common.logs[i][k]);
      if (common.names[k].starts_with(k_of_phase) || common.names[k].starts_with(k_of_step))
        runner.content += seconds - expected;
      if (std::fabs(polished.residual[i][k]) > unusual)
        out.effects.push_back({reports[i].variant, common.names[k], seconds, expected});
    }
    out.runners.push_back(std::move(runner));
  }
  std::stable_sort(out.effects.begin(), out.effects.end(), [](const auto& a, const auto& b) {
    return std::fabs(a.seconds - a.expected) > std::fabs(b.seconds - b.expected);
  });
  return out;
}

Result<TargetCount> parse_targets(const std::string& text) {
  unsigned now = 0, then = 0;
  constexpr unsigned k_targets_max = 1000; // there are about 60 in LLVM
  auto equals = text.find('=');
  auto number = [](const std::string& digits) -> unsigned {
    if (digits.empty() || digits.size() > 4 || digits.find_first_not_of("0123456789") != digits.npos) return 0;
    return static_cast<unsigned>(std::stoul(digits));
  };
  if (equals != text.npos) now = number(text.substr(0, equals)), then = number(text.substr(equals + 1));
  if (now >= 1 && then >= 1 && then <= now && now <= k_targets_max) return TargetCount{now, then};
  return fail(ErrorKind::invalid_argument, "X505",
              fmt::format("--targets {} is not NOW=THEN with THEN at most NOW", text),
              "write --targets 9=2 for a build of nine targets that two would be enough for");
}

Saving fewer_targets(const std::vector<TimeReport>& reports, TargetCount targets) {
  auto share = static_cast<double>(targets.then) / targets.now;
  Saving saving{fmt::format("--targets {}={}", targets.now, targets.then),
                "device compilations that the build waited for, at least",
                {},
                0};
  for (const auto& report : reports) {
    double saved = 0;
    for (const auto& action : report.actions)
      if (action.device) saved += std::min(action.alone, action.seconds * (1 - share));
    saving.seconds.push_back(saved);
  }
  saving.total = sum_of(saving.seconds);
  return saving;
}

Result<Saving> cached_phase(const std::vector<TimeReport>& reports, const std::string& name) {
  TRY(auto seconds, seconds_of(reports, name, "--cached"));
  auto total = sum_of(seconds);
  return Saving{"--cached " + name, "the whole phase, in every variant", std::move(seconds), total};
}

Result<Saving> shared_phase(const std::vector<TimeReport>& reports, const std::string& name) {
  TRY(auto seconds, seconds_of(reports, name, "--shared"));
  auto longest = std::max_element(seconds.begin(), seconds.end());
  *longest = 0; // one variant still does it; the longest, to promise the least
  auto total = sum_of(seconds);
  return Saving{"--shared " + name, "the phase in all variants but the slowest", std::move(seconds), total};
}

} // namespace quarry::buildlog
