#pragma once
// The report of `workflow review`: Markdown for a pull request or a job summary, text, JSON. Pure.
#include "base/json.hpp"
#include "cli/sections.hpp"
#include "workflow/review.hpp"
#include <string>
#include <vector>

namespace quarry::cli {

constexpr std::size_t k_shown_changes = 40; ///< GitHub cuts a job summary at 1 MiB; --format json has all

struct ReviewReport {
  workflow::Review review;
  std::vector<Section> tables; ///< times and tests of a run
};

/// "2 important findings, 1 suggestion, 3 notes".
std::string review_counts(const workflow::Review& review);
/// Fails as workflow::mermaid does (Y160).
Result<std::string> review_markdown(const ReviewReport& report);
std::string review_text(const ReviewReport& report, Look look);
/// {"schema": "quarry.workflow-review/1", …}
Json review_json(const ReviewReport& report);

} // namespace quarry::cli
