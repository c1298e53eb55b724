#include "buildlog/times.hpp"

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

/// One phase that has begun.
struct Open {
  std::string name;
  int step = 0; ///< docker's; 0: not a step of docker
  bool bazel = false;
  double seconds = 0; ///< attributed so far
  double begin = 0;
};

class Tracker {
public:
  explicit Tracker(const Rules& rules) : rules_(rules) {}

  void take(const Line& line) {
    ++out_.lines;
    auto passed = advance(line);
    const auto text = line.text;
    if (line.step > 0) raise(line.step);
    BazelProgress progress;
    if (!text.empty() && (text[0] == '[' || text[0] == ' ') && parse_bazel(text, progress)) {
      if (!progress.action.empty()) action(progress, passed);
      if (text[0] == '[') open_bazel();
      return;
    }
    last_action_ = nullptr;
    if (text.starts_with("##[group]Run ")) close_all();
    if (text.starts_with("#") && docker(text)) return;
    if (bazel(text)) return;
    auto match = rules_.phase_lines.match(text);
    if (match.rule >= 0) marker(static_cast<std::size_t>(match.rule / 2), match.rule % 2 == 1, text);
  }

  Result<TimeReport> finish(const Input& input) {
    close_all();
    out_.name = input.name;
    out_.variant = input.variant;
    double sum = 0;
    for (auto& [name, phase] : phases_) {
      sum += phase.seconds;
      out_.phases.push_back(std::move(phase));
    }
    out_.total = out_.stamped ? now_ : sum;
    out_.unattributed = std::max(0.0, out_.total - sum);
    for (auto& [key, action] : actions_) out_.actions.push_back(std::move(action));
    auto longest = [](const auto& a, const auto& b) { return a.seconds > b.seconds; };
    std::stable_sort(out_.phases.begin(), out_.phases.end(), longest);
    std::stable_sort(out_.actions.begin(), out_.actions.end(), longest);
    std::stable_sort(out_.intervals.begin(), out_.intervals.end(),
                     [](const auto& a, const auto& b) { return a.begin < b.begin; });
    if (!out_.stamped && out_.phases.empty())
      return fail(ErrorKind::invalid_argument, "X503", fmt::format("{} says nothing about time", input.name),
                  "take the log that GitHub offers for download, or run the build under teatime --log-timestamps");
    return std::move(out_);
  }

private:
  /// The seconds since the line before, which belong to the phase that was begun last.
  double advance(const Line& line) {
    if (line.time_us == k_no_time) return 0;
    if (!out_.stamped) begin_us_ = line.time_us;
    out_.stamped = true;
    auto now = static_cast<double>(line.time_us - begin_us_) / 1e6;
    auto passed = std::max(0.0, now - now_);
    now_ = std::max(now_, now);
    if (!open_.empty()) open_.back().seconds += passed;
    return passed;
  }

  void raise(int step) {
    if (open_.empty() || open_.back().step == step) return;
    auto at = std::find_if(open_.begin(), open_.end(), [&](const Open& open) { return open.step == step; });
    if (at != open_.end()) std::rotate(at, at + 1, open_.end());
  }

  void open(Open phase) {
    if (open_.size() >= k_open_max) return;
    phase.begin = now_;
    open_.push_back(std::move(phase));
  }

  /// `said`: what the tool itself printed; taken where the log has no stamps.
  void close(std::vector<Open>::iterator at, double said = -1) {
    auto& phase = phases_[at->name];
    phase.name = at->name;
    ++phase.times;
    phase.seconds += out_.stamped || said < 0 ? at->seconds : said;
    if (out_.stamped && out_.intervals.size() < k_intervals_max) out_.intervals.push_back({at->name, at->begin, now_});
    open_.erase(at);
  }
  void close_all() {
    while (!open_.empty()) close(open_.end() - 1);
  }

  std::string named(std::string_view subject, std::vector<Pattern> PhaseRule::* patterns, std::string otherwise) const {
    for (const auto& rule : rules_.phases)
      if (any_matches(rule.*patterns, subject)) return rule.name;
    return otherwise;
  }

  /// "#12 [ 7/20] RUN …", "#12 DONE 540.2s", "#12 CACHED": docker's own words about a step.
  bool docker(std::string_view text) {
    std::size_t at = 1;
    int step = 0;
    while (at < text.size() && at < 6 && text[at] >= '0' && text[at] <= '9') step = step * 10 + (text[at++] - '0');
    if (at == 1 || at >= text.size() || text[at] != ' ') return false;
    auto rest = text.substr(at + 1);
    auto open_step =
        std::find_if(open_.begin(), open_.end(), [&](const Open& o) { return o.step == step && step > 0; });
    if (rest.starts_with("[")) {
      auto command = rest.substr(std::min(rest.find("] ") + 2, rest.size()));
      if (open_step == open_.end()) open({named(command, &PhaseRule::docker, "docker"), step, false, 0, 0});
      return true;
    }
    bool ends = rest.starts_with("DONE") || rest.starts_with("CACHED") || rest.starts_with("ERROR");
    if (ends && open_step != open_.end()) close(open_step, figure_behind(rest, "DONE ").value_or(-1));
    return ends;
  }

  std::vector<Open>::iterator bazel_phase() {
    return std::find_if(open_.begin(), open_.end(), [](const Open& o) { return o.bazel; });
  }
  void open_bazel() {
    if (bazel_phase() == open_.end()) {
      open({"Bazel", 0, true, 0, 0});
      target_.clear();
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
      target_ = shown(said.substr(label == said.npos ? 9 : label, said.find(' ', label) - label));
      bazel_phase()->name = named(target_, &PhaseRule::bazel, "Bazel " + target_);
      return true;
    }
    if (auto elapsed = figure_behind(said, "Elapsed time: ")) return end_bazel(said, *elapsed);
    if (auto at = said.find(" total action"); at != said.npos && !out_.builds.empty()) {
      auto words = text::split_any(said.substr(0, at), " ,");
      std::string digits;
      for (auto word = words.rbegin(); word != words.rend() && text::parse_u64(*word); ++word) digits.insert(0, *word);
      out_.builds.back().actions = text::parse_u64(digits).value_or(0);
      return true;
    }
    return false;
  }

  bool end_bazel(std::string_view said, double elapsed) {
    open_bazel();
    auto phase = bazel_phase();
    out_.builds.push_back({phase->name, target_, elapsed, figure_behind(said, "Critical Path: ").value_or(-1), 0});
    for (auto& [key, action] : actions_)
      if (action.phase.empty()) action.phase = phase->name;
    close(phase, elapsed);
    return true;
  }

  void marker(std::size_t number, bool ends, std::string_view text) {
    const auto& rule = rules_.phases[number];
    auto at =
        std::find_if(open_.begin(), open_.end(), [&](const Open& o) { return o.name == rule.name && o.step == 0; });
    if (ends && at != open_.end()) close(at, figure_behind(text, " in ").value_or(-1));
    if (!ends && at == open_.end()) open({rule.name, 0, false, 0, 0});
  }

  void action(const BazelProgress& progress, double passed) {
    auto key = fmt::format("{}\n{}", out_.builds.size(), progress.action);
    auto found = actions_.find(key);
    if (found == actions_.end()) {
      if (actions_.size() >= k_actions_max) return;
      ActionTime fresh;
      fresh.name = shown(progress.action);
      fresh.device = any_matches(rules_.device_actions, progress.action);
      found = actions_.emplace(std::move(key), std::move(fresh)).first;
      first_seen_[&found->second] = now_;
    }
    auto& action = found->second;
    ++action.lines;
    if (last_action_ == &action) action.alone += passed;
    last_action_ = &action;
    auto seen = out_.stamped ? now_ - first_seen_[&action] : 0;
    action.seconds = std::max({action.seconds, progress.seconds, seen});
  }

  const Rules& rules_;
  TimeReport out_;
  std::vector<Open> open_;
  std::map<std::string, PhaseTime> phases_;
  std::map<std::string, ActionTime> actions_; // by invocation and name; addresses stay
  std::map<const ActionTime*, double> first_seen_;
  const ActionTime* last_action_ = nullptr;
  std::string target_;
  std::int64_t begin_us_ = 0;
  double now_ = 0;
};
} // namespace

Result<TimeReport> report_times(const Input& input, const Rules& rules) {
  Tracker tracker(rules);
  TRY_DO(read_lines(input, [&](const Line& line) { tracker.take(line); }));
  return tracker.finish(input);
}

} // namespace quarry::buildlog
