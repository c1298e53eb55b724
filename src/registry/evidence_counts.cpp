#include "registry/evidence_counts.hpp"

#include <algorithm>
#include <utility>

namespace quarry::registry {

bool counts_its_rows(const EvidenceRecord& evidence) {
  using Kind = Outcome::Kind;
  if (evidence.rows.empty()) return true;
  for (const auto& [kind, count] :
       {std::pair(Kind::passed, evidence.passed), std::pair(Kind::failed, evidence.failed),
        std::pair(Kind::skipped, evidence.skipped), std::pair(Kind::error, evidence.errors)}) {
    auto rows = std::ranges::count_if(evidence.rows, [&](const TestRow& row) { return row.outcome == kind; });
    if (static_cast<std::uint64_t>(rows) != count) return false;
  }
  return evidence.passed + evidence.failed + evidence.skipped + evidence.errors == evidence.rows.size();
}

} // namespace quarry::registry
