#pragma once
// Compares a set with the last good one, and with limits of its size. Codes Q421 to Q424. Pure.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "closure/package.hpp"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

/// What people get today: the newest version of each project at a place, such as "channel stable".
struct ShownVersions {
  std::string where;
  /// By project and release, "2.10.0" of 2.10.0+rocm7 (Version::base_version().key()).
  std::map<std::pair<std::string, std::string>, dist::Version> newest;
};
/// Reports projects whose newest version in the set sorts below the newest that is shown of the same release (Q421; a
/// note if only the commit differs), such as 2.10.0+rocm10 below 2.10.0+rocm7. An index that shows 2.10 may get 2.9.1,
/// and projects or releases that are not shown have no finding.
Findings check_shown_versions(const std::vector<Package>& set, const ShownVersions& shown);

struct Budget {
  std::string project; ///< each file of this project may have `bytes`; empty: all files of the set together
  std::uint64_t bytes = 0;
};
/// "12GB", "800 MB", "torch=2.5GB": decimal units, as sizes are shown. Fails with invalid_argument C006.
Result<Budget> parse_budget(std::string_view text);

/// One finding (Q422) for each budget and file that exceeds it, and a warning for a project without a file.
Findings check_budgets(const std::vector<Package>& set, const std::vector<Budget>& budgets);

} // namespace quarry::closure
