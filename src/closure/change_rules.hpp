#pragma once
// Compares a set with the last good one, and with limits of its size. Codes Q421 to Q424. Pure.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "closure/package.hpp"
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::closure {

/// A file that shrank by more than this fraction has probably lost content.
constexpr double k_shrink_max = 0.2;

/// The set to compare with: the last one that people were content with.
struct LastGood {
  std::vector<Package> packages;
};
/// Reports versions that sort below the newest one of the last good set (Q421; a note if only the commit differs),
/// projects and tags that are missing (Q424), and files that shrank by more than k_shrink_max (Q423). Files are matched
/// by project and tags, without the version.
Findings check_change(const std::vector<Package>& set, const LastGood& last_good);

struct Budget {
  std::string project; ///< each file of this project may have `bytes`; empty: all files of the set together
  std::uint64_t bytes = 0;
};
/// "12GB", "800 MB", "torch=2.5GB": decimal units, as sizes are shown. Fails with invalid_argument C006.
Result<Budget> parse_budget(std::string_view text);

/// One finding (Q422) for each budget and file that exceeds it, and a warning for a project without a file.
Findings check_budgets(const std::vector<Package>& set, const std::vector<Budget>& budgets);

} // namespace quarry::closure
