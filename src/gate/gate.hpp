#pragma once
// The gate: a pure function from policy, sets, evidence and waivers to a verdict with reasons. It reads no file and no
// clock, so the same input always gives the same verdict. Thread-safe.
#include "base/finding.hpp"
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
  /// About the subjects and their candidates, perhaps also others, each with the sha256 of its bytes, by which
  /// signatures and revocations name it.
  std::vector<registry::Stored<registry::EvidenceRecord>> evidence;
  std::vector<registry::Stored<registry::WaiverRecord>> waivers;
  std::int64_t now_us = 0;
  std::vector<std::string> keys = {};          ///< of the evidence and waivers that were read, or not readable; sorted
  std::vector<registry::SetDigest> asked = {}; ///< whose evidence was read
  Findings notes = {};                         ///< what was left out: R021, R022, G024
  std::vector<Subject> present = {};           ///< sets of the source that the target has already; for [expect]
  std::vector<Subject> elsewhere = {};         ///< sets of the source that go to other targets; only for [expect]
  /// The target's files of other projects with which the subjects were tested: a framework is tested with the ROCm that
  /// people get from the target.
  std::vector<registry::FileRecord> shown = {};
  std::vector<Expectation> expectations = {};              ///< those of the release and of `--expect`
  signature::Envelopes signatures = {};                    ///< of evidence and waivers (load_for_policy)
  std::set<registry::WaiverDigest> revoked = {};           ///< waivers that were revoked
  std::map<registry::SetDigest, std::string> derived = {}; ///< sets that were made from a candidate, with its version
  /// The candidates' evidence, rewritten to name the sets that were made from them (derived.hpp). It does not count for
  /// the policy's `derived_suites`, which must pass on the new files.
  std::vector<registry::Stored<registry::EvidenceRecord>> inherited = {};
  std::vector<registry::AttemptRecord> attempts = {}; ///< to test the subjects, sorted by time
  registry::LedgerDigest after = {}; ///< the channel's last move so far; empty: the channel does not exist
  registry::PolicyDigest bound = {}; ///< protects the channel; empty: none does
  /// When the store got evidence, by its clock. What is left out counts by the time that it says itself.
  std::map<registry::EvidenceDigest, std::int64_t> stored_us = {};
};

enum class Decision : std::uint8_t { ready, held };
std::string_view to_string(Decision decision);

/// What is known about one suite on one cell. The first four states come from a result that counts, the next seven from
/// attempts; no_runner is said by an attempt or by the policy.
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
  untested,    ///< nobody has announced a test; the last one
};
std::string_view to_string(SuiteState state);

/// Results of a suite on one cell that count; older ones than the policy takes do not.
struct ResultCount {
  std::size_t passed = 0, all = 0;
};
struct SuiteStanding {
  std::string suite;
  SuiteState state = SuiteState::untested;
  std::string job = {};     ///< of the attempt that says so
  ResultCount results = {}; ///< one may decide, and the others show how it came about
};

struct CellVerdict {
  registry::Cell cell;     ///< python empty: one Python, whichever
  registry::SetDigest set; ///< the set with the cell's files; empty: [expect] names the cell and no set has it
  Decision verdict = Decision::held;
  bool waived = false;                            ///< ready only because of a waiver, or of the policy's own exception
  std::vector<std::string> reasons;               ///< sentences without a full stop; never empty
  std::vector<registry::EvidenceDigest> evidence; ///< the records that decided
  std::vector<std::string> untested;              ///< suites without a result that counts; each holds the cell
  std::vector<registry::EvidenceDigest> failed;   ///< records of failures; each holds the cell
  std::vector<std::string> files;                 ///< file names that the cell installs, sorted
  std::vector<registry::WaiverDigest> waivers;    ///< the waivers that made it ready, sorted
  /// Held because its files could not be installed without files that are held. A waiver does not change this.
  bool not_installable = false;
  std::vector<SuiteStanding> suites = {}; ///< one for each required suite, by name
};

struct Verdict {
  Decision verdict = Decision::ready; ///< always ready with a report-only policy; `would_hold` has its decision
  bool would_hold = false;
  std::string policy, policy_digest;
  Mode mode = Mode::enforce;
  std::vector<std::string> openly = {}; ///< what the policy says that it lacks
  std::vector<CellVerdict> cells;       ///< of each subject as plan_cells() orders them; then those of missing_cells()
  Findings notes = {};                  ///< G030: a suspect machine; G031: an attempt from the future; G032
};

/// A cell is ready if every suite that the policy requires for it has passed, within the policy's maximum age, on
/// exactly the cell's files: the wheels of its platform and Python that belong to its family or to no family, and the
/// sdists. Evidence does not count if it is about other digests, another cell or another set; if it covers only a part;
/// if it is too old, dated in the future, or has passed more than five minutes after the store got it; if it was made
/// from an unsealed source; or if it contradicts itself. A family that no requirement covers is held. A record about
/// several sets counts for each of them if each other file in it belongs to this release or is shown by the target.
Verdict judge(const Policy& policy, const Case& input);

/// The files of a set that may move although other cells of the set are held. A family moves if all of its cells on the
/// platform are ready; the files that it shares with other families (core, devel, meta) move with it.
struct Movable {
  registry::SetDigest set;
  bool whole = false;             ///< no cell is held: the set moves as it is
  std::vector<std::string> files; ///< names of the files that may move, sorted; empty: none may
  std::vector<registry::Cell> held;
};
std::vector<Movable> movable(const Verdict& verdict); ///< one for each set, in the verdict's order

} // namespace quarry::gate
