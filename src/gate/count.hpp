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
  unrelated, ///< about another suite, cell or set: no reason names it
  refused,   ///< about this suite and cell, and does not count; `why` says it, for evidence behind "one result"
  counts,
};
struct EvidenceStatus {
  Standing standing = Standing::unrelated;
  std::string why;
  std::int64_t ended_us = 0; ///< never later than the store got it
};
struct WaiverStatus {
  Standing standing = Standing::unrelated;
  std::string why; ///< a refused one does not count
};
/// Files by name and digest.
using Files = std::set<std::pair<Sha256, std::string>>;
struct Question {
  const Policy& policy;
  const CellPlan& plan;
  const std::string& suite;
  std::int64_t max_age_us, now_us;
  const Files& allied;             ///< files of the release and of the target, which may be tested together with a set
  const SuiteRule* rule = nullptr; ///< of this suite; nullptr: none
  bool inherits = false;           ///< evidence of the candidate counts, too
  /// The policy expects a failure, and lets the cell move with it. Such a failure must meet the rules for a pass.
  bool failure_opens = false;
};
/// Whether the record counts for the question, but for its signature (gate/signed.hpp). `stored_us`: when the store got
/// it, by the store's clock; 0: not known. A machine's clock may be ahead: no result counts as one that came later than
/// that, and a pass that is more than k_clock_skew_us ahead of it never counts.
EvidenceStatus assess(const registry::EvidenceRecord& evidence, const Question& question, std::int64_t stored_us);
/// Why a record on these files and this suite is about another cell, where the two cells differ in framework or backend
/// alone; empty for any other record. It goes behind "one result".
std::string near_miss(const registry::EvidenceRecord& evidence, const Question& question);
/// Whether the waiver counts for moves of `channel`, but for its signature and its revocation.
WaiverStatus assess(const registry::WaiverRecord& waiver, const std::string& channel, const Question& question);

/// An age in the largest unit that suits it: "50 min", "2 h", "3 d".
std::string age_text(std::int64_t age_us);

} // namespace quarry::gate
