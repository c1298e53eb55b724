#include "buildlog/report.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <unordered_map>

namespace quarry::buildlog {

namespace {

/// The same for two lines that differ in numbers only. FNV-1a, 64 bits: 20,000 templates meet with 1e-11.
std::uint64_t template_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  bool digit = false;
  for (char c : text.substr(0, k_shown_bytes_max)) {
    bool is_digit = ascii::is_digit(c);
    if (is_digit && digit) continue;
    digit = is_digit;
    hash = (hash ^ static_cast<unsigned char>(is_digit ? '0' : c)) * 0x100000001b3;
  }
  return hash;
}

/// "= 1482 passed, 11 skipped in 181.22s =" of pytest.
bool is_test_summary(std::string_view text) {
  return (text.starts_with("=") || (!text.empty() && ascii::is_digit(text[0]))) && text.find(" passed") != text.npos &&
         text.find(" in ") != text.npos;
}

std::string wheel_project(std::string_view line) {
  auto end = line.find(".whl");
  if (end == line.npos) return {};
  auto begin = line.find_last_of(" /'\"", end);
  auto name = line.substr(begin == line.npos ? 0 : begin + 1);
  return std::string(name.substr(0, name.find('-')));
}

/// Lines that come again and again, with other numbers in them.
class RepeatedLines {
public:
  void take(const Line& line) {
    auto text = text::trim(line.text);
    if (text.empty()) return;
    auto hash = template_of(text);
    auto at = templates_.find(hash);
    if (at == templates_.end()) {
      if (templates_.size() >= k_templates_max) return;
      at = templates_.emplace(hash, RepeatedLine{shown(text), 0, line.number}).first;
    }
    ++at->second.count;
  }

  /// Moves the most frequent ones out, most lines first.
  std::vector<RepeatedLine> most_frequent() {
    constexpr std::uint64_t k_repeats_min = 10;
    std::vector<RepeatedLine> lines;
    for (auto& [hash, line] : templates_)
      if (line.count >= k_repeats_min) lines.push_back(std::move(line));
    std::sort(lines.begin(), lines.end(),
              [](const auto& a, const auto& b) { return a.count != b.count ? a.count > b.count : a.first < b.first; });
    if (lines.size() > k_repeated_max) lines.resize(k_repeated_max);
    return lines;
  }

private:
  std::unordered_map<std::uint64_t, RepeatedLine> templates_;
};

/// Whether the log is of a success: its first failure, the summaries of pytest, and what passing tests print.
class Verdict {
public:
  explicit Verdict(const Rules& rules) : rules_(rules), failures_(rules), passing_(rules.passing.size()) {}

  void begin_step(const Line& line) { failures_.begin_step(line.number); }
  /// `gh run view --log` names the step in each line; those that it cannot tell apart are "UNKNOWN STEP".
  void enter_step(const Line& line) {
    if (line.job_step == step_) return;
    step_ = line.job_step;
    begin_step(line);
    failures_.name_step(step_ == "UNKNOWN STEP" ? std::string_view() : line.job_step);
  }
  /// `rule`: of all patterns for lines; -1 if none matches.
  void take(const Line& line, int rule) {
    failures_.take(line, rule >= rules_.failure_base && rule < rules_.passing_base ? rule - rules_.failure_base : -1);
    if (rule >= rules_.passing_base && rule < rules_.warning_base)
      passing(line, static_cast<std::size_t>(rule - rules_.passing_base));
  }
  void test_summary(const Line& line) {
    bool failed = line.text.find(" failed") != line.text.npos || line.text.find(" error") != line.text.npos;
    test_passed_ = (!is_test_ || test_passed_) && !failed;
    is_test_ = true;
    auto text = text::trim(line.text);
    while (text.starts_with('=')) text.remove_prefix(1);
    while (text.ends_with('=')) text.remove_suffix(1);
    test_summary_ = shown(text::trim(text));
  }

  void report(LogReport& out) {
    out.failure = failures_.first();
    out.is_test = is_test_;
    out.test_passed = test_passed_ && !out.failure;
    out.test_summary = std::move(test_summary_);
    if (out.is_test && out.test_passed)
      for (auto& warning : passing_)
        if (warning.count > 0) out.passing.push_back(std::move(warning));
  }

private:
  void passing(const Line& line, std::size_t rule) {
    const auto& meaning = rules_.passing[rule];
    auto& warning = passing_[rule];
    if (warning.count++ == 0) warning = {meaning.name, meaning.fix, shown(text::trim(line.text)), 1, line.number};
  }

  const Rules& rules_;
  FailureFinder failures_;
  std::vector<PassingWarning> passing_; ///< by the number of its rule
  bool is_test_ = false, test_passed_ = false;
  std::string test_summary_;
  std::string step_; ///< of the last line, if the lines name it
};

class Analyzer {
public:
  explicit Analyzer(const Rules& rules) : rules_(rules), noise_(rules), verdict_(rules) {}

  void take(const Line& line) {
    ++out_.lines;
    out_.bytes += line.bytes;
    if (line.time_us != k_no_time) {
      if (out_.begin_us == k_no_time) out_.begin_us = line.time_us;
      out_.end_us = std::max(out_.end_us, line.time_us);
    }
    verdict_.enter_step(line);
    auto match = rules_.lines.match(line.text);
    if (match.rule >= rules_.warning_base) match.words |= rules_.lines.watched_in(line.text); // it may be a deprecation
    if (match.rule < 0 && noise_.continues(line)) return noise_.take(line, noise_.last());
    if (match.rule >= 0 && match.rule < rules_.failure_base) return noise(line, match.rule);
    noise_.interrupt(line);
    significant(line, match);
  }

  LogReport finish() {
    noise_.finish();
    warnings_.finish();
    out_.noise = noise_.rows();
    out_.runs = noise_.runs();
    out_.noise_lines = noise_.lines();
    out_.warnings = warnings_.warnings();
    out_.deprecations = warnings_.deprecations();
    out_.uncounted_warnings = warnings_.uncounted();
    out_.copies = wheels_.copies();
    verdict_.report(out_);
    out_.repeated = repeated_.most_frequent();
    return std::move(out_);
  }

private:
  void noise(const Line& line, int rule) {
    noise_.take(line, rule);
    switch (rules_.noise[static_cast<std::size_t>(rule)].kind) {
    case NoiseRule::Kind::compiler: warnings_.compiler(line); break;
    case NoiseRule::Kind::insecure:
      if (out_.insecure_requests++ == 0) out_.insecure_first = line.number;
      break;
    case NoiseRule::Kind::bazel:
    case NoiseRule::Kind::plain: break;
    }
    if (!out_.calls.empty())
      for (auto tool = rules_.tools.begin(); tool != rules_.tools.end(); ++tool)
        if (tool->noise == rules_.noise[static_cast<std::size_t>(rule)].name) count_for_call(*tool);
  }

  void count_for_call(const ToolRule& tool) {
    for (auto call = out_.calls.rbegin(); call != out_.calls.rend(); ++call)
      if (call->tool == tool.name) {
        ++call->noise;
        return;
      }
  }

  void significant(const Line& line, const PatternSet::Match& match) {
    verdict_.take(line, match.rule);
    if (line.text.starts_with("##[group]Run ")) verdict_.begin_step(line);
    bool wheel = (match.words >> k_wheel & 1) != 0;
    if (wheel || match.rule < 0) tool_calls(line, wheel);
    if (wheel) wheels_.take(line);
    if ((match.words >> k_passed & 1) != 0 && is_test_summary(line.text)) verdict_.test_summary(line);
    bool counted = false;
    if ((match.words & ((1u << k_wheel) - 1)) != 0)
      counted = warnings_.words(line, match.words);
    else
      warnings_.other(line);
    if (!counted && match.rule >= rules_.warning_base)
      warnings_.by_rule(line, rules_.warnings[static_cast<std::size_t>(match.rule - rules_.warning_base)]);
    if (match.rule < 0) repeated_.take(line);
  }

  void tool_calls(const Line& line, bool wheel) {
    if (!wheel || out_.calls.size() >= k_calls_max) return;
    for (const auto& tool : rules_.tools)
      if (std::any_of(tool.begin.begin(), tool.begin.end(), [&](const Pattern& p) { return p.matches(line.text); }))
        out_.calls.push_back({tool.name, wheel_project(line.text), line.number, 0});
  }

  const Rules& rules_;
  LogReport out_;
  NoiseCounter noise_;
  Verdict verdict_;
  WarningCounter warnings_;
  WheelWatcher wheels_;
  RepeatedLines repeated_;
};

} // namespace

Result<LogReport> report_log(const Input& input, const Rules& rules) {
  Analyzer analyzer(rules);
  TRY_DO(read_lines(input, [&](const Line& line) { analyzer.take(line); }));
  auto report = analyzer.finish();
  report.name = input.name;
  report.variant = input.variant;
  return report;
}

} // namespace quarry::buildlog
