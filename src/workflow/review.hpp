#pragma once
// `workflow review`: what a change does to the workflows, against what its description and commit titles say.
#include "workflow/changes.hpp"
#include "workflow/graph.hpp"
#include "workflow/history.hpp"
#include "workflow/lint.hpp"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace quarry::workflow {

/// An error is important, a warning a suggestion, a note a note.
struct ReviewFinding {
  Located located;
  std::string status; ///< "new", "existed before, now x4"
};

/// How long one variant took, from logs or test reports.
struct RecordedTime {
  std::string variant;
  double minutes = 0;
};

struct ReviewOptions {
  LintOptions lint;
  std::optional<std::string> description;
  std::string description_name; ///< for places of findings
  std::vector<RecordedTime> builds;
  bool has_runs = false; ///< logs or reports of a run are given
};

struct Review {
  History history;
  Changes changes;
  Graph before, after;                 ///< the changed workflows with those they call and are called by
  std::vector<ReviewFinding> findings; ///< important first, then by file and line
  std::vector<std::string> right;      ///< what was checked and found right
  std::vector<std::string> test_plan, not_looked_at;
  std::size_t factor = 1; ///< the largest growth of a matrix
};

/// Compares two states of a repository. Fails as read_repository does for `after`; a base without workflows is empty.
Result<Review> review(Tree& before, Tree& after, History history, const ReviewOptions& options);

} // namespace quarry::workflow
