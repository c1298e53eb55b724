#include "cli/grouped.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <set>
#include <tuple>

namespace quarry::cli {

namespace {
constexpr std::size_t k_places_shown = 3;
} // namespace

Findings grouped(const Findings& findings, std::string_view whole) {
  std::map<std::tuple<std::string, Severity, std::string, std::string>, std::size_t> group_of;
  std::vector<std::vector<std::string>> places;
  Findings groups;
  for (const auto& finding : findings) {
    auto [known, fresh] =
        group_of.try_emplace({finding.code, finding.severity, finding.message, finding.fix}, groups.size());
    if (fresh) {
      groups.push_back(finding);
      places.emplace_back();
    }
    places[known->second].push_back(finding.place);
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    bool all = !whole.empty() && groups[i].code == whole;
    groups[i].place = text::first(places[i], all ? places[i].size() : k_places_shown);
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  std::set<std::string> said;
  for (auto& group : groups)
    if (!said.insert(group.fix).second) group.fix.clear();
  return groups;
}

} // namespace quarry::cli
