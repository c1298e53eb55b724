#include "artifact/case_rule.hpp"

#include "base/units.hpp"
#include <fmt/core.h>

namespace quarry::artifact {

bool names_windows(std::string_view place) {
  for (std::string_view end : {"/", "tarballs", "/"})
    if (place.ends_with(end)) place.remove_suffix(end.size());
  return place.ends_with("-windows");
}

tar::CaseRule case_rule_of(const SourceItem& item) {
  bool windows = item.windows || (item.name.whole_sdk() && item.name.name.find("-dist-windows-") != std::string::npos);
  return windows ? tar::CaseRule::refuse : tar::CaseRule::note;
}

void note_case_pairs(const tar::CasePairs& pairs, const std::string& place, Findings& findings) {
  if (pairs.count == 0) return;
  auto more = pairs.count > 1 ? fmt::format(", and so are {} more", units::things(pairs.count - 1, "pair")) : "";
  findings.push_back({"T013", Severity::note, place,
                      fmt::format("{} and {} are one name on Windows and macOS{}", pairs.first, pairs.second, more),
                      "no wheel can hold both: leave one out of the packages, or rename it"});
}

} // namespace quarry::artifact
