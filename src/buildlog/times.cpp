#include "buildlog/times.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "buildlog/noise.hpp"
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/core.h>
#include <map>
#include <optional>

namespace quarry::buildlog {

namespace {
/// "1290.5" behind `label`; nullopt if it is not there.
std::optional<double> figure_behind(std::string_view text, std::string_view label) {
  auto at = text.find(label);
  if (at == text.npos) return std::nullopt;
  auto rest = text.substr(at + label.size());
  double value = 0;
  auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  bool sound = error == std::errc{} && std::isfinite(value) && value >= 0 && value < 1e8;
  return sound ? std::optional(value) : std::nullopt;
}

bool any_matches(const std::vector<Pattern>& patterns, std::string_view text) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const Pattern& p) { return p.matches(text); });
}

/// The seconds since the log began, as its stamps tell; 0 without stamps.
struct LogClock {
  bool stamped = false;
  std::int64_t begin_us = 0;
  double now = 0;

  /// Returns the seconds since the line before.
  double advance(const Line& line) {
    if (line.time_us == k_no_time) return 0;
    if (!stamped) begin_us = line.time_us;
    stamped = true;
    auto before = now;
    now = std::max(now, static_cast<double>(line.time_us - begin_us) / 1e6);
    return now - before;
  }
};

/// One phase that has begun.
struct Open {
  std::string name;
  int step = 0; ///< docker's; 0: not a step of docker
  bool bazel = false;
  double seconds = 0; ///< attributed so far
  double begin = 0;
};

/// Phases that are open, and what those that have ended took.
class Phases {
public:
  using Place = std::vector<Open>::iterator;

  /// Time that passes belongs to the phase that was begun last, or was raised last.
  void attribute(double seconds) {
    if (!open_.empty()) open_.back().seconds += seconds;
  }
  void raise(int step) {
    if (open_.empty() || open_.back().step == step) return;
    auto at = std::find_if(open_.begin(), open_.end(), [&](const Open& open) { return open.step == step; });
    if (at != open_.end()) std::rotate(at, at + 1, open_.end());
  }
  void open(Open phase, const LogClock& clock) {
    if (open_.size() >= k_open_max) return;
    phase.begin = clock.now;
    open_.push_back(std::move(phase));
  }
  /// `said`: what the tool itself printed; taken where the log has no stamps.
  void close(Place at, const LogClock& clock, double said = -1) {
    auto& phase = ended_[at->name];
    phase.name = at->name;
    ++phase.times;
    phase.seconds += clock.stamped || said < 0 ? at->seconds : said;
    if (clock.stamped && intervals_.size() < k_intervals_max) intervals_.push_back({at->name, at->begin, clock.now});
    open_.erase(at);
  }
  void close_all(const LogClock& clock) {
    while (!open_.empty()) close(open_.end() - 1, clock);
  }
  template <class Is> Place find(const Is& is) { return std::find_if(open_.begin(), open_.end(), is); }
  Place none() { return open_.end(); }

  /// Moves what has ended into the report. Returns the sum of the phases' seconds.
  double report(TimeReport& out) {
    double sum = 0;
    for (auto& [name, phase] : ended_) {
      sum += phase.seconds;
      out.phases.push_back(std::move(phase));
    }
    out.intervals = std::move(intervals_);
    return sum;
  }

private:
  std::vector<Open> open_;
  std::map<std::string, PhaseTime> ended_;
  std::vector<PhaseInterval> intervals_;
};

/// What Bazel's progress names, by its invocation and the action's name.
class Actions {
public:
  explicit Actions(const Rules& rules) : rules_(rules) {}

  /// A line of Bazel's `build`th invocation names an action, `passed` seconds after the line before.
  void take(const BazelProgress& progress, std::size_t build, const LogClock& clock, double passed) {
    auto key = fmt::format("{}\n{}", build, progress.action);
    auto found = seen_.find(key);
    if (found == seen_.end()) {
      if (seen_.size() >= k_actions_max) return;
      Seen fresh{{}, clock.now};
      fresh.action.name = shown(progress.action);
      fresh.action.device = any_matches(rules_.device_actions, progress.action);
      found = seen_.emplace(std::move(key), std::move(fresh)).first;
      without_phase_.push_back(&found->second.action);
    }
    auto& [action, first] = found->second;
    ++action.lines;
    if (last_ == &action) action.alone += passed;
    last_ = &action;
    action.seconds = std::max({action.seconds, progress.seconds, clock.stamped ? clock.now - first : 0});
  }
  /// A line that is not Bazel's progress stands between two of its lines.
  void interrupt() { last_ = nullptr; }
  /// The phase of an invocation is known when it ends.
  void name_phase(const std::string& phase) {
    for (auto* action : without_phase_) action->phase = phase;
    without_phase_.clear();
  }
  void report(TimeReport& out) {
    for (auto& [key, seen] : seen_) out.actions.push_back(std::move(seen.action));
  }

private:
  struct Seen {
    ActionTime action;
    double first = 0; ///< by the clock
  };
  const Rules& rules_;
  std::map<std::string, Seen> seen_; ///< addresses stay
  std::vector<ActionTime*> without_phase_;
  const ActionTime* last_ = nullptr;
};

/// The steps of a GitHub job.
class Steps {
public:
  void begin(const Line& line, std::string_view name, const LogClock& clock) {
    close(clock);
    if (steps_.size() >= k_steps_max) return;
    steps_.push_back({shown(name), clock.now, line.number});
    open_ = true;
  }
  void report(TimeReport& out, const LogClock& clock) {
    close(clock);
    if (clock.stamped) out.steps = std::move(steps_);
  }

private:
  void close(const LogClock& clock) {
    if (open_) steps_.back().seconds = clock.now - steps_.back().seconds; // until now, when it began
    open_ = false;
  }
  std::vector<StepTime> steps_;
  bool open_ = false;
};

class Tracker {
public:
  explicit Tracker(const Rules& rules) : rules_(rules), actions_(rules) {}

  void take(const Line& line) {
    ++lines_;
    auto passed = clock_.advance(line);
    phases_.attribute(passed);
    const auto text = line.text;
    if (line.step > 0) phases_.raise(line.step);
    BazelProgress progress;
    if (!text.empty() && (text[0] == '[' || text[0] == ' ') && parse_bazel(text, progress)) {
      if (!progress.action.empty()) actions_.take(progress, bazel_.builds.size(), clock_, passed);
      if (text[0] == '[') open_bazel();
      return;
    }
    actions_.interrupt();
    if (constexpr std::string_view k_step = "##[group]Run "; text.starts_with(k_step)) {
      phases_.close_all(clock_);
      steps_.begin(line, text.substr(k_step.size()), clock_);
    } else if (text == "Post job cleanup.") {
      steps_.begin(line, text, clock_);
    }
    if (text.starts_with("#") && docker(text)) return;
    if (bazel(text)) return;
    auto match = rules_.phase_lines.match(text);
    if (match.rule >= 0) marker(static_cast<std::size_t>(match.rule / 2), match.rule % 2 == 1, text);
  }

  Result<TimeReport> finish(const Input& input) {
    phases_.close_all(clock_);
    TimeReport out;
    out.name = input.name;
    out.variant = input.variant;
    out.stamped = clock_.stamped;
    out.lines = lines_;
    out.builds = std::move(bazel_.builds);
    auto sum = phases_.report(out);
    actions_.report(out);
    steps_.report(out, clock_);
    out.total = out.stamped ? clock_.now : sum;
    out.unattributed = std::max(0.0, out.total - sum);
    auto longest = [](const auto& a, const auto& b) { return a.seconds > b.seconds; };
    std::stable_sort(out.phases.begin(), out.phases.end(), longest);
    std::stable_sort(out.actions.begin(), out.actions.end(), longest);
    std::stable_sort(out.steps.begin(), out.steps.end(), longest);
    std::stable_sort(out.intervals.begin(), out.intervals.end(),
                     [](const auto& a, const auto& b) { return a.begin < b.begin; });
    if (!out.stamped && out.phases.empty())
      return fail(ErrorKind::invalid_argument, "X503", fmt::format("{} says nothing about time", input.name),
                  "take the log that GitHub offers for download, or run the build under teatime --log-timestamps");
    return out;
  }

private:
  std::string named(std::string_view subject, std::vector<Pattern> PhaseRule::* patterns, std::string otherwise) const {
    for (const auto& rule : rules_.phases)
      if (any_matches(rule.*patterns, subject)) return rule.name;
    return otherwise;
  }

  /// "#12 [ 7/20] RUN …", "#12 DONE 540.2s", "#12 CACHED": docker's own words about a step.
  bool docker(std::string_view text) {
    std::size_t at = 1;
    int step = 0;
    while (at < text.size() && at < 6 && ascii::is_digit(text[at])) step = step * 10 + (text[at++] - '0');
    if (at == 1 || at >= text.size() || text[at] != ' ') return false;
    auto rest = text.substr(at + 1);
    auto open_step = phases_.find([&](const Open& o) { return o.step == step && step > 0; });
    if (rest.starts_with("[")) {
      auto command = rest.substr(std::min(rest.find("] ") + 2, rest.size()));
      if (open_step == phases_.none())
        phases_.open({named(command, &PhaseRule::docker, "docker"), step, false, 0, 0}, clock_);
      return true;
    }
    bool ends = rest.starts_with("DONE") || rest.starts_with("CACHED") || rest.starts_with("ERROR");
    if (ends && open_step != phases_.none())
      phases_.close(open_step, clock_, figure_behind(rest, "DONE ").value_or(-1));
    return ends;
  }

  Phases::Place bazel_phase() {
    return phases_.find([](const Open& o) { return o.bazel; });
  }
  void open_bazel() {
    if (bazel_phase() == phases_.none()) {
      phases_.open({"Bazel", 0, true, 0, 0}, clock_);
      bazel_.target.clear();
    }
  }

  bool bazel(std::string_view text) {
    if (text.starts_with("Starting local Bazel server") || text.starts_with("Loading: ") ||
        text.starts_with("Analyzing: ") || text.starts_with("Computing main repo mapping")) {
      open_bazel();
      return true;
    }
    if (!text.starts_with("INFO: ")) return false;
    auto said = text.substr(6);
    if (said.starts_with("Analyzed ")) {
      open_bazel();
      auto label = said.find("//");
      bazel_.target = shown(said.substr(label == said.npos ? 9 : label, said.find(' ', label) - label));
      bazel_phase()->name = named(bazel_.target, &PhaseRule::bazel, "Bazel " + bazel_.target);
      return true;
    }
    if (auto elapsed = figure_behind(said, "Elapsed time: ")) return end_bazel(said, *elapsed);
    if (auto at = said.find(" total action"); at != said.npos && !bazel_.builds.empty()) {
      auto words = text::split_any(said.substr(0, at), " ,");
      std::string digits;
      for (auto word = words.rbegin(); word != words.rend() && text::parse_u64(*word); ++word) digits.insert(0, *word);
      bazel_.builds.back().actions = text::parse_u64(digits).value_or(0);
      return true;
    }
    return false;
  }

  bool end_bazel(std::string_view said, double elapsed) {
    open_bazel();
    auto phase = bazel_phase();
    bazel_.builds.push_back(
        {phase->name, bazel_.target, elapsed, figure_behind(said, "Critical Path: ").value_or(-1), 0});
    actions_.name_phase(phase->name);
    phases_.close(phase, clock_, elapsed);
    return true;
  }

  void marker(std::size_t number, bool ends, std::string_view text) {
    const auto& rule = rules_.phases[number];
    auto at = phases_.find([&](const Open& o) { return o.name == rule.name && o.step == 0; });
    auto said = ends ? figure_behind(text, " in ") : std::nullopt;
    if (ends && at == phases_.none() && said) { // `pytest -q` prints its end alone
      phases_.open({rule.name, 0, false, 0, 0}, clock_);
      at = phases_.find([&](const Open& o) { return o.name == rule.name && o.step == 0; });
    }
    if (ends && at != phases_.none()) phases_.close(at, clock_, said.value_or(-1));
    if (!ends && at == phases_.none()) phases_.open({rule.name, 0, false, 0, 0}, clock_);
  }

  const Rules& rules_;
  std::uint64_t lines_ = 0;
  LogClock clock_;
  Phases phases_;
  Actions actions_;
  Steps steps_;
  struct {
    std::vector<BazelBuild> builds;
    std::string target; ///< of the present invocation
  } bazel_;
};
} // namespace

Result<TimeReport> report_times(const Input& input, const Rules& rules) {
  Tracker tracker(rules);
  TRY_DO(read_lines(input, [&](const Line& line) { tracker.take(line); }));
  return tracker.finish(input);
}

} // namespace quarry::buildlog
