#pragma once
// What a set lost, or made worse, since the last good one; and how large it may be. Codes Q421 to Q424. Pure.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "closure/package.hpp"
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::closure {

/// A file that lost more than this part of its size has most often lost content.
constexpr double k_shrink_max = 0.2;

/// Against the last good set: a version that sorts below the newest one there (Q421; a note if only a commit differs),
/// a project or a tag that is missing (Q424), a file that shrank by more than k_shrink_max (Q423). Files are matched by
/// project and tags, without the version.
struct LastGood {
  std::vector<Package> packages;
};
Findings check_change(const std::vector<Package>& set, const LastGood& last_good);

struct Budget {
  std::string project; ///< whose files it bounds, each of them; empty: all files together
  std::uint64_t bytes = 0;
};
/// "12GB", "800 MB", "torch=2.5GB": decimal units, as sizes are shown. Fails with invalid_argument C006.
Result<Budget> parse_budget(std::string_view text);

/// One finding (Q422) for each budget and file that exceeds it, and a warning for a project without a file.
Findings check_budgets(const std::vector<Package>& set, const std::vector<Budget>& budgets);

} // namespace quarry::closure
