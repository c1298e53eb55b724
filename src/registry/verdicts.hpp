#pragma once
// What the document of a verdict says (docs/formats/records.md, "verdict"). VerdictRecord holds its bytes, which
// signatures and digests are about; here they are read and written, by one list of fields. Pure.
#include "base/result.hpp"
#include "registry/records.hpp"
#include <string>
#include <string_view>
#include <vector>

namespace quarry::registry {

constexpr std::string_view k_ready = "ready", k_held = "held";

struct VerdictCell {
  Cell cell;
  SetDigest set;       ///< empty: the policy expects the cell, and no set has it; or an older program wrote the verdict
  std::string verdict; ///< k_ready or k_held
  bool waived = false;
  std::vector<WaiverDigest> waivers;
  std::vector<std::string> files;       ///< names of the files that the cell installs
  std::vector<EvidenceDigest> evidence; ///< the records that decided
  std::string unknown = {};
  bool ready() const { return verdict == k_ready; }
};

struct VerdictDocument {
  std::string verdict; ///< k_ready or k_held; empty: the document does not say it
  std::string policy;  ///< the policy's digest; empty: the document does not say it
  std::vector<VerdictCell> cells;
  std::vector<std::string> read; ///< keys of the records that were read
  std::string channel;           ///< where the sets were to go; empty in older verdicts
  LedgerDigest after;            ///< the channel's last move until then; empty: the channel did not exist
  std::string unknown = {};
};

/// As canonical JSON of quarry.verdict/1.
std::string to_json(const VerdictDocument& verdict);
/// Fails with B002 to B004 for what is not quarry.verdict/1, and with corrupt R012 for a field of another type or a
/// cell without `verdict` or `waived`: such a verdict says nothing.
Result<VerdictDocument> read_verdict(const VerdictRecord& record);

} // namespace quarry::registry
