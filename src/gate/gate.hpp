#pragma once
// The gate: a pure function from policy, sets, evidence and waivers to a verdict with reasons. Nothing is read, no
// clock is asked; the same input gives the same verdict for ever. Thread-safe.
#include "base/finding.hpp"
#include "gate/family.hpp"
#include "gate/policy.hpp"
#include "registry/attempts.hpp"
#include "registry/registry.hpp"
#include "signature/stored.hpp"
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace quarry::gate {

/// A set that wants to move, with its digest (sets/{digest}.json).
struct Subject {
  registry::SetDigest digest;
  registry::SetRecord set;
};

/// Everything that a verdict depends on.
struct Case {
  std::string channel;           ///< where the sets are to go; waivers name it
  std::vector<Subject> subjects; ///< only what is new to the target
  /// All there is, each with the sha256 of its bytes in the store, by which signatures and revocations name it.
  std::vector<registry::Stored<registry::EvidenceRecord>> evidence;
  std::vector<registry::Stored<registry::WaiverRecord>> waivers;
  std::int64_t now_us = 0;
  std::vector<std::string> keys = {};  ///< of evidence and waivers that were looked at, sorted; junk, too
  Findings notes = {};                 ///< R021: objects among evidence and waivers that count for nothing
  std::vector<Subject> present = {};   ///< of the same release, and in the target already: [expect] counts them
  std::vector<Subject> elsewhere = {}; ///< of the same release, for other targets: only [expect] counts them
  /// What the target shows of projects that sets were tested together with: a framework is tested with the ROCm that
  /// people get.
  std::vector<registry::FileRecord> shown = {};
  std::vector<Expectation> expectations = {};              ///< besides the policy's: of the release, and of `--expect`
  signature::Envelopes signatures = {};                    ///< of evidence and waivers (load_for_policy)
  std::set<registry::WaiverDigest> revoked = {};           ///< waivers that count for nothing any more
  std::map<registry::SetDigest, std::string> derived = {}; ///< sets that were made of a candidate, and its version
  /// The candidates' evidence, as if it named the sets that were made of them. The suites of the policy's
  /// `derived_suites` must have passed on the new files all the same.
  std::vector<registry::Stored<registry::EvidenceRecord>> inherited = {};
  std::vector<registry::AttemptRecord> attempts = {}; ///< to test the subjects, sorted by time
};

enum class Decision : std::uint8_t { ready, held };
std::string_view to_string(Decision decision);

/// What is known of one suite on one cell. The first four come from a result that counts, the next seven from attempts.
enum class SuiteState : std::uint8_t {
  passed,
  failed,
  ran_into_deadline,
  expected_failure, ///< it failed, as the policy has announced
  waiting,          ///< for a machine
  queued_too_long,
  running,
  no_result, ///< the job ran, and left no result
  skipped,
  cancelled,
  timed_out,   ///< the job, not the suite
  no_runner,   ///< there is no machine for it
  not_counted, ///< there is a result, and it does not count
  untested,    ///< nobody has announced a test
};
std::string_view to_string(SuiteState state);

struct SuiteStanding {
  std::string suite;
  SuiteState state = SuiteState::untested;
  std::string job = {}; ///< of the attempt that says so
};

struct CellVerdict {
  registry::Cell cell;     ///< python empty: one Python, whichever
  registry::SetDigest set; ///< that the cell's files are in; empty: what [expect] names and no set brings
  Decision verdict = Decision::held;
  bool waived = false;                            ///< ready only because somebody, or the policy, took the risk
  std::vector<std::string> reasons;               ///< sentences without a full stop; never empty
  std::vector<registry::EvidenceDigest> evidence; ///< the records that decided
  std::vector<std::string> untested;              ///< suites that hold the cell because no result of them counts
  std::vector<registry::EvidenceDigest> failed;   ///< the records that hold the cell
  std::vector<std::string> files;                 ///< file names that the cell installs, sorted
  std::vector<registry::WaiverDigest> waivers;    ///< those that made it ready, sorted
  /// Held because of what stays behind: people could not install its files. No waiver helps.
  bool not_installable = false;
  std::vector<SuiteStanding> suites = {}; ///< one for each required suite, by name
};

struct Verdict {
  Decision verdict = Decision::ready; ///< with a report-only policy always ready; `would_hold` tells
  bool would_hold = false;
  std::string policy, policy_digest;
  Mode mode = Mode::enforce;
  std::vector<CellVerdict> cells; ///< in order of the subjects, then platform, family, python, framework
  Findings notes = {};            ///< G030: a machine that is suspect; G031: an attempt from the future
};

/// A cell is ready when every suite that the policy requires there has passed, lately enough, on exactly the cell's
/// files: the wheels of its platform and Python that belong to its family or to none, and the sdists. Evidence never
/// counts when it is for other digests or another cell or set, covers only a part, is stale or future-dated, was made
/// from an unsealed source, or contradicts itself. A family that no requirement covers is held. A record of several
/// sets counts for each of them when every other file in it is of this release or shown by the target.
Verdict judge(const Policy& policy, const Case& input);

/// What of a set may move without its held cells. A family moves when all of its cells on the platform are ready; with
/// it go the files that it shares with others (core, devel, meta).
struct Movable {
  registry::SetDigest set;
  bool whole = false;             ///< nothing is held: the set moves as it is
  std::vector<std::string> files; ///< file names that may move, sorted; empty: nothing
  std::vector<registry::Cell> held;
};
std::vector<Movable> movable(const Verdict& verdict); ///< one for each set, in the verdict's order

} // namespace quarry::gate
