#include "workflow/review.hpp"

#include "base/codes.hpp"
#include "workflow/review_parts.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <tuple>

namespace quarry::workflow {

namespace {

Result<Repository> read_or_empty(Tree& tree) {
  auto repository = read_repository(tree);
  if (repository || !repository.error().is(codes::no_workflow)) return repository;
  Repository empty; // the change adds the first workflow
  empty.tree = &tree;
  return empty;
}

std::string status_of(std::size_t before, std::size_t after) {
  return fmt::format("existed before, now x{}", (after + before - 1) / before);
}

/// What a finding is about: its file, its code and the first name in its message. The rest of a message, such as a list
/// of other places, may change while the defect stays.
std::string subject_of(const Located& one) {
  auto begin = one.message.find('`');
  auto end = begin == std::string::npos ? begin : one.message.find('`', begin + 1);
  return one.file + '\n' + one.code + '\n' + (end == std::string::npos ? "" : one.message.substr(begin, end - begin));
}

/// Takes the finding of `gone` that is about the same, if there is one.
bool take_same_subject(std::vector<Located>& gone, const Located& fresh) {
  auto same =
      std::find_if(gone.begin(), gone.end(), [&](const Located& one) { return subject_of(one) == subject_of(fresh); });
  if (same == gone.end()) return false;
  gone.erase(same);
  return true;
}

/// Whether a change made a file unreadable: what it held before is then neither gone nor repaired.
bool hides_a_file(const Sides& sides, const History& history) {
  return std::ranges::any_of(sides.after.files,
                             [&](const auto& file) { return !file->readable && history.find(file->path); });
}

/// New findings, and old ones in files that run more often than before.
void review_lint(const Report& before, const Report& now, const Sides& sides, Review& review) {
  auto fresh = now;
  remove_known(fresh, before);
  auto gone = before;
  remove_known(gone, now);
  for (const auto& one : fresh.findings)
    review.findings.push_back({one, take_same_subject(gone.findings, one) ? "existed before, has changed" : "new"});
  bool hidden = hides_a_file(sides, review.history);
  if (hidden) review.not_looked_at.emplace_back("what the change repairs: a changed file cannot be read");
  for (const auto& one : gone.findings)
    if (!hidden && sides.after.find(one.file) && (one.severity != Severity::note || one.code == codes::empty_ref))
      review.right.push_back(
          fmt::format("fixed: {} at {} of the base: {}", one.code, to_finding(one).place, one.message));
  auto old_runs = repetitions(sides.before), new_runs = repetitions(sides.after);
  auto old = now;
  remove_known(old, fresh);
  for (const auto& one : old.findings) {
    auto was = old_runs.find(one.file), is = new_runs.find(one.file);
    // What is wrong in a Dockerfile or in another repository is built by each variant.
    bool of_all = was == old_runs.end() && is == new_runs.end();
    if (one.severity == Severity::note) continue;
    if (of_all && review.factor > 1) review.findings.push_back({one, status_of(1, review.factor)});
    if (was == old_runs.end() || is == new_runs.end() || is->second <= was->second) continue;
    review.findings.push_back({one, status_of(was->second, is->second)});
  }
  for (const auto& [what, count] : now.not_looked_at) review.not_looked_at.push_back(fmt::format("{} {}", count, what));
}

void draw(const Sides& sides, Review& review) {
  GraphOptions options;
  for (const auto& file : review.history.files)
    if (sides.before.find(file.path) || sides.after.find(file.path)) options.only.insert(file.path);
  if (options.only.empty()) return;
  review.before = graph_of(sides.before, options);
  review.after = graph_of(sides.after, options);
}

auto order(const ReviewFinding& one) {
  return std::make_tuple(-static_cast<int>(one.located.severity), one.located.file, one.located.at.line,
                         one.located.at.column, one.located.code, one.located.message);
}
} // namespace

Result<Review> review(Tree& before_tree, Tree& after_tree, History history, const ReviewOptions& options) {
  TRY(auto before, read_or_empty(before_tree));
  TRY(auto after, read_repository(after_tree));
  Review review;
  review.history = std::move(history);
  Sides sides{before, after, options};
  auto old_report = lint_repository(before, options.lint);
  auto compared = options.lint;
  compared.base = &before_tree;
  auto new_report = lint_repository(after, compared);
  review.changes = compare(before, after);
  for (const auto& growth : review.changes.growths)
    review.factor = std::max(review.factor, growth.after / std::max<std::size_t>(growth.before, 1));
  review_lint(old_report, new_report, sides, review);
  review_claims(sides, review);
  review_changes(sides, review);
  plan_tests(sides, review);
  draw(sides, review);
  std::sort(review.findings.begin(), review.findings.end(),
            [](const ReviewFinding& a, const ReviewFinding& b) { return order(a) < order(b); });
  return review;
}

} // namespace quarry::workflow
