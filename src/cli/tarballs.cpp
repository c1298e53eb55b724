#include "cli/tarballs.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "dist/version.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>

namespace quarry::cli {

using artifact::SourceItem;

namespace {
constexpr std::size_t k_versions_shown = 5;

/// Behind the last dash: a version has none.
std::string version_of_tarball(const SourceItem& item) { return item.name.name.substr(item.name.name.rfind('-') + 1); }

bool is_for_platform(const SourceItem& item, const std::string& platform) {
  return item.name.name.find("-dist-" + platform + "-") != std::string::npos;
}

/// Whether eight digits of the version, with no digit beside them, are the date.
bool has_date(const std::string& version, const std::string& date) {
  auto is_digit = [&](std::size_t i) { return i < version.size() && ascii::is_digit(version[i]); };
  for (std::size_t at = 0; (at = version.find(date, at)) != version.npos; ++at)
    if ((at == 0 || !is_digit(at - 1)) && !is_digit(at + date.size())) return true;
  return false;
}

bool is_older(const std::string& left, const std::string& right) {
  auto one = dist::Version::parse(left), other = dist::Version::parse(right);
  if (one && other) return *one < *other;
  return !one && (other || left < right);
}

/// The newest of each family.
std::vector<SourceItem> newest_of_each(std::vector<SourceItem> items) {
  std::map<std::string, std::size_t> newest;
  for (std::size_t i = 0; i < items.size(); ++i) {
    auto [known, fresh] = newest.try_emplace(items[i].name.target, i);
    if (!fresh && is_older(version_of_tarball(items[known->second]), version_of_tarball(items[i]))) known->second = i;
  }
  std::vector<SourceItem> kept;
  for (const auto& [family, i] : newest) kept.push_back(std::move(items[i]));
  return kept;
}

Unexpected none_passes(const std::vector<SourceItem>& tarballs) {
  if (tarballs.empty())
    return fail(ErrorKind::not_found, "A049", "there is no tarball among what was found",
                "add `--tarballs`: without it the artifacts of a run are taken");
  std::vector<std::string> versions;
  for (const auto& item : tarballs) versions.push_back(version_of_tarball(item));
  std::sort(versions.begin(), versions.end(), is_older);
  versions.erase(std::unique(versions.begin(), versions.end()), versions.end());
  std::reverse(versions.begin(), versions.end());
  return fail(ErrorKind::not_found, "A049", "no tarball has the version, date and platform that are asked for",
              fmt::format("there are {}", text::first(versions, k_versions_shown)));
}
} // namespace

Result<std::vector<SourceItem>> chosen_tarballs(std::vector<SourceItem> items, const Arguments& arguments) {
  auto glob = arguments.get("--sdk-version"), date = arguments.get("--date");
  bool newest = arguments.has("--newest");
  if (!newest && glob.empty() && date.empty()) return items;
  if (!date.empty() && (date.size() != 8 || !text::parse_u64(date)))
    return fail(ErrorKind::invalid_argument, "A049", fmt::format("--date must be YYYYMMDD, not {}", date),
                "write it as in the version: `--date 20260818`");
  std::vector<SourceItem> others, tarballs, kept;
  for (auto& item : items) (item.name.whole_sdk() ? tarballs : others).push_back(std::move(item));
  for (const auto& item : tarballs) {
    auto version = version_of_tarball(item);
    bool fits = (glob.empty() || text::glob_match(glob, version)) && (date.empty() || has_date(version, date)) &&
                (!newest || is_for_platform(item, arguments.get("--platform")));
    if (fits) kept.push_back(item);
  }
  if (kept.empty()) return none_passes(tarballs);
  if (newest) kept = newest_of_each(std::move(kept));
  std::move(kept.begin(), kept.end(), std::back_inserter(others));
  return others;
}

} // namespace quarry::cli
