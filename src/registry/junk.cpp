#include "registry/junk.hpp"

#include "base/units.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::registry {

namespace {
constexpr std::size_t k_told_max = 10; // enough to see a pattern in the names
constexpr const char* k_fix = "find out who wrote it; restore it from a copy, or remove it";
} // namespace

void tell_junk(const std::vector<Junk>& junk, Findings& findings) {
  for (std::size_t i = 0; i < std::min(junk.size(), k_told_max); ++i)
    findings.push_back({"R021", Severity::warning, junk[i].key, "it counts for nothing: " + junk[i].defect, k_fix});
  if (junk.size() <= k_told_max) return;
  auto place = junk.front().key.substr(0, junk.front().key.rfind('/') + 1);
  findings.push_back({"R021", Severity::warning, place,
                      fmt::format("{} here count for nothing; the first {} are named above",
                                  units::things(junk.size(), "object"), k_told_max),
                      "find out who may write there, and remove them: each is read for every verdict"});
}

} // namespace quarry::registry
