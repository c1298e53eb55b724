#include "buildlog/failure.hpp"

#include "buildlog/noise.hpp"
#include <algorithm>
#include <cctype>

namespace quarry::buildlog {

namespace {
/// "ValueError: text", "subprocess.TimeoutExpired: text", "KeyboardInterrupt". Other programs may write in between.
bool names_exception(std::string_view line) {
  auto name = line.substr(0, line.find(':'));
  bool upper = false;
  for (char c : name) {
    auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) == 0 && c != '_' && c != '.') return false;
    upper = upper || std::isupper(byte) != 0;
  }
  return upper && (name.size() == line.size() || line.substr(name.size()).starts_with(": "));
}
bool is_github(std::string_view line) { return line.starts_with("##[error]"); }
} // namespace

/// What a traceback ends with is what failed. Returns the rule that is left for the line.
int FailureFinder::end_traceback(const Line& line, int rule) {
  if (line.number > causes_.back().line.number + k_traceback_lines_max) traceback_ = false;
  if (!names_exception(line.text)) return rule;
  traceback_ = false;
  if (rule >= 0 && rules_.failures[static_cast<std::size_t>(rule)].proof) return rule;
  auto& cause = causes_.back();
  cause.line = {line.number, shown(line.text)};
  cause.behind.clear();
  cause.before.assign(recent_.begin(), recent_.end());
  return -1;
}

void FailureFinder::take(const Line& line, int rule) {
  if (line.text.empty()) return;
  // Copying every line would cost more than reading it: one is kept only until its buffer is used again.
  auto keep = [&](std::vector<ContextLine>& into) {
    if (into.size() < k_context_lines) into.push_back({line.number, shown(line.text)});
  };
  for (auto at = causes_.rbegin(); at != causes_.rend() && at->behind.size() < k_context_lines; ++at) keep(at->behind);
  if (proof_) keep(proof_->behind);
  if (traceback_) rule = end_traceback(line, rule);
  if (rule >= 0) {
    const auto& meaning = rules_.failures[static_cast<std::size_t>(rule)];
    Candidate found{rule, {line.number, shown(line.text)}, {recent_.begin(), recent_.end()}, {}, step_name_};
    // A tool's own words prove less than GitHub's: the step went on after them if a later one ends with `##[error]`.
    bool went_on = proof_ && proof_step_ != step_ && !is_github(proof_->line.text);
    if (meaning.proof && (!proof_ || (went_on && is_github(line.text)))) {
      proof_ = found;
      proof_step_ = step_;
    }
    // After the proof, one more cause may come: ninja prints `FAILED:` before the compiler's words.
    if (!meaning.effect && (!proof_ || went_on || line.number <= proof_->line.number + k_cause_distance_max)) {
      if (causes_.size() >= k_candidates_max) causes_.pop_front();
      causes_.push_back(std::move(found));
      traceback_ = meaning.traceback;
    }
  }
  if (recent_.size() == k_context_lines) {
    auto reused = std::move(recent_.front());
    recent_.pop_front();
    recent_.push_back(std::move(reused));
  } else {
    recent_.emplace_back();
  }
  recent_.back().number = line.number;
  recent_.back().text.assign(line.text.substr(0, k_shown_bytes_max));
}

std::optional<Failure> FailureFinder::first() const {
  if (!proof_) return std::nullopt;
  auto begin = proof_step_;
  if (begin == 0 && proof_->line.number > k_cause_distance_max) begin = proof_->line.number - k_cause_distance_max;
  auto cause = std::find_if(causes_.begin(), causes_.end(), [&](const Candidate& c) { return c.line.number >= begin; });
  bool decides = !rules_.failures[static_cast<std::size_t>(proof_->rule)].effect; // a time limit, a lost runner
  const auto& chosen = decides || cause == causes_.end() ? *proof_ : *cause;
  const auto& rule = rules_.failures[static_cast<std::size_t>(chosen.rule)];
  Failure failure{rule.name,     rule.kind,           chosen.line.number, chosen.line.text, chosen.before,
                  chosen.behind, proof_->line.number, proof_->line.text,  chosen.step};
  for (auto& line : failure.before) line.text = shown(line.text);
  return failure;
}

} // namespace quarry::buildlog
