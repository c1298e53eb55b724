#include "pages/remarks.hpp"

#include "registry/empty_extras.hpp"
#include "registry/waived.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::pages {

std::vector<std::string> remarks_about(const registry::ViewRecord& view, const std::string& project) {
  std::vector<std::string> remarks;
  for (const auto& one : registry::empty_extras_of(view))
    if (project.empty() || one.project == project)
      remarks.push_back(fmt::format("{} cannot be installed from here: {} is held back.", registry::name_of(one),
                                    one.lacks.empty() ? "what it names" : one.lacks));
  for (const auto& one : registry::waived_of(view)) {
    if (!project.empty() && !std::ranges::binary_search(one.projects, project)) continue;
    auto remark = fmt::format("Not tested: {} (waiver {})", registry::sentence_of(one), one.waiver.short_hex());
    if (std::ranges::find(remarks, remark) == remarks.end()) remarks.push_back(std::move(remark)); // of several sets
  }
  return remarks;
}

} // namespace quarry::pages
