#pragma once
// Private to the room.
// Whether a record of evidence or a waiver counts, and if not, why not. Pure.
#include "gate/cells.hpp"
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace quarry::gate {

/// Clocks of test machines differ: a record may be this much ahead of ours (NTP keeps machines within seconds).
constexpr std::int64_t k_clock_skew_us = 5ll * 60 * 1'000'000;

enum class Standing : std::uint8_t {
  unrelated, ///< another suite, cell or set: not worth a word
  refused,   ///< meant for this cell, and does not count; `why` follows the words "one result"
  counts,
};
struct Standed {
  Standing standing = Standing::unrelated;
  std::string why;
  std::int64_t ended_us = 0;
};
/// Files by name and digest.
using Files = std::set<std::pair<Sha256, std::string>>;
struct Question {
  const Policy& policy;
  const CellPlan& plan;
  const std::string& suite;
  std::int64_t max_age_us, now_us;
  const Files& allied;             ///< of the release and of the target: what sets may be tested together with
  const SuiteRule* rule = nullptr; ///< of this suite; nullptr: none
  bool inherits = false;           ///< evidence of the candidate counts, too
  bool failure_opens = false;      ///< a failure was announced and makes the cell ready: it must show what a pass must
};
Standed stand(const registry::EvidenceRecord& evidence, const Question& question);

/// nullopt: the waiver is for something else. Empty text: it counts. Else why it does not.
std::optional<std::string> waiver_defect(const registry::WaiverRecord& waiver, const Policy& policy,
                                         const std::string& channel, const Question& question);

/// "2 h", "3 d": as coarse as people think about it.
std::string age_text(std::int64_t age_us);

} // namespace quarry::gate
