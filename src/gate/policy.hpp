#pragma once
// A promotion policy: which suites must have passed on which cells, how old a result may be, and how skipped, flaky and
// expected results count (docs/formats/policy.md). A reviewed TOML file; a plain value once it is parsed.
#include "base/data_text.hpp"
#include "base/platform.hpp"
#include "base/result.hpp"
#include "digest/sha256.hpp"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::gate {

enum class Mode : std::uint8_t { enforce, report_only };
enum class NoRunner : std::uint8_t { held, waive };
/// held: an expected failure holds like any other. waive: it does not hold. strict: it does not hold, and an unexpected
/// pass does, until the entry is removed from the policy; so entries do not outlive their reason.
enum class ExpectedFailure : std::uint8_t { held, waive, strict };
enum class Skipped : std::uint8_t { passed, failed };
/// latest: the newest result that counts decides. any_failure_holds: one failure within max_age holds. Both may ask for
/// more results than one: Policy::last_n_pass.
enum class Flaky : std::uint8_t { latest, any_failure_holds };
/// Who may have made a waiver: anybody, the approver alone, or anybody but the approver.
enum class Requester : std::uint8_t { anybody, approver, another };
enum class FamilyState : std::uint8_t { tested, no_runner, expected_failure };

/// One [[require]]: on each cell that the patterns cover, every suite must have passed.
struct Requirement {
  std::vector<std::string> platforms, families; ///< globs; "*" is any
  std::vector<std::string> pythons;             ///< "3.12"; "*": evidence from one Python, whichever, is enough
  std::vector<std::string> frameworks;          ///< empty text: the SDK itself
  std::string backend = {};                     ///< "cpu": only for sets without a GPU family; empty: needs a GPU
  std::vector<std::string> suites;
  std::int64_t max_age_us = 0; ///< 0: the policy's
  int line = 0;
};

/// One [[family]]: what is known about the machines of these families.
struct FamilyFact {
  std::vector<std::string> platforms, families; ///< globs
  FamilyState state = FamilyState::tested;
  std::string counts_as; ///< "held", "waive" or "strict" for these families; empty: what [states] says
  std::string reason;
  std::int64_t until_us = 0; ///< when the entry expires; 0: never
  int line = 0;
};

/// One [[suite]]: what a result of this suite must show to count.
struct SuiteRule {
  std::string name;
  std::vector<std::string> digests; ///< of its definition; empty: any
  bool packaged = false;            ///< only the tests inside the tested `rocm` package count
  bool gpu = false;                 ///< only runs on a machine with a GPU of the cell's family count
  bool reported = false;            ///< a report's own statement about the GPU is enough, if a signer has signed it
  std::int64_t min_passed = 1;
  std::int64_t last_n_pass = 0; ///< 0: what [states] says
};

/// One [[signer]]: whose signatures count.
struct Signer {
  std::string name; ///< of waivers: the approver
  std::string key;  ///< Ed25519, 32 bytes in base64
  bool evidence = false, waivers = false, verdicts = false;
  std::vector<std::string> moves; ///< of the channel that it protects: words of k_signed_moves (signers.hpp)
  std::string revoked;            ///< why its signatures do not count any more; empty: they count
};

/// "rocm[libraries-gfx1153]": an extra that a package may keep although the project it needs is held back.
struct EmptyExtra {
  std::string project, extra; ///< both normalised
  std::string text() const;   ///< "rocm[libraries-gfx1153]"
  auto operator<=>(const EmptyExtra&) const = default;
};

/// One [[machine]]: set aside, because its results mislead.
struct SetAside {
  std::string name;   ///< as evidence has it in `machine.host`
  std::string reason; ///< for the people who read the verdict
  std::int64_t until_us = 0;
};

/// [attempts]: how long an announced job may take before it counts as stuck.
struct Patience {
  static constexpr std::int64_t k_default_us = 6ll * 3600 * 1'000'000; ///< the longest that GitHub lets a job run
  std::int64_t queue_us = k_default_us;                                ///< waiting for a machine
  std::int64_t run_us = k_default_us;                                  ///< running without a result
};

/// [expect]: what a release must contain. Empty lists expect nothing.
struct Expectation {
  std::vector<Platform> platforms; ///< all else is expected on each of them
  std::vector<std::string> families, pythons, projects;
  std::vector<std::string> frameworks; ///< for each of the Pythons and families
};

/// What a policy that protects a channel must have, unless it says openly that it does not: `openly = ["unsigned"]`.
struct Openly {
  bool is_unsigned = false;               ///< "unsigned": results count without a signature
  bool expects_nothing = false;           ///< "nothing_expected": a family whose job never ran is missed by nobody
  bool any_command = false;               ///< "any_command": a required suite is only a name
  std::vector<std::string> words() const; ///< as the policy has them
};

struct Policy {
  std::string name, file, digest; ///< digest: sha256 of canonical_json(), so that comments and file names do not count
  Mode mode = Mode::enforce;
  std::int64_t max_age_us = 0;              ///< evidence older than this is stale
  std::int64_t waiver_max_age_us = 0;       ///< the longest time from a waiver's creation to its expiry
  std::vector<std::string> approvers;       ///< who may waive
  std::vector<std::string> family_projects; ///< "rocm-sdk-libraries-{family}": projects that belong to one family
  NoRunner no_runner = NoRunner::held;
  ExpectedFailure expected_failure = ExpectedFailure::held;
  Skipped skipped = Skipped::passed;
  Flaky flaky = Flaky::latest;
  std::int64_t last_n_pass = 1; ///< so many of the newest results that count must exist, and must have passed
  Requester requester = Requester::anybody;
  std::vector<SuiteRule> suites; ///< each name once
  /// The suites that must pass on the files of a release that was made from a candidate. For all other suites the
  /// candidate's evidence counts. Empty: the candidate's evidence counts for no suite.
  std::vector<std::string> derived_suites;
  std::vector<Signer> signers;         ///< each key once
  std::vector<SetAside> machines = {}; ///< each name once
  Patience patience = {};
  std::vector<Requirement> requirements;
  Expectation expectation;
  Openly openly = {};
  std::vector<EmptyExtra> empty_extras; ///< sorted
  std::vector<FamilyFact> families;     ///< the first one that covers a cell applies
};

/// The suites that must pass, derived ones too, and are only a name, sorted: no [[suite]] says by `digest` or
/// `packaged` what was run. Without rocm-sdk, whose name `quarry test` gives to no command. Pure.
std::vector<std::string> unbound_suites(const Policy& policy);
/// Says of an unbound suite by which definition alone it counts, and updates the policy's digest. Pure.
void bind_suite(Policy& policy, const std::string& name, const Sha256& digest);
/// Takes the word any_command out of a policy whose suites are all bound, and updates its digest. Pure.
void take_back_any_command(Policy& policy);

/// Fails with invalid_argument G001 (not TOML) or G002 (`file:line: key: what is wrong`): an unknown key, a wrong type,
/// an unknown value, or a policy that requires nothing. Unknown input is never ignored: a typo must not open a gate.
Result<Policy> parse_policy(NamedText named);

/// Returns the policy as canonical JSON (docs/formats/policy.md), as `policies/{digest}.json` of a store has it. The
/// keys of the first version are written with their defaults. A key that came later is written only where it differs
/// from its default, so that a policy that does not use it keeps its bytes and its digest: otherwise
/// parse_stored_policy() would refuse the policies to which channels are bound. Pure.
std::string canonical_json(const Policy& policy);
/// Reads canonical JSON. `name` is what messages call it, such as its key. Fails with invalid_argument G002, also if
/// canonical_json() of the result would give other bytes: a policy that guards a channel must be read completely.
Result<Policy> parse_stored_policy(NamedText named);

/// What a file of `--expect` adds to every policy: TOML with the keys of [expect].
struct ExpectationFile {
  std::string name, text;
};
/// invalid_argument G001, G002.
Result<Expectation> parse_expectation(const ExpectationFile& file);

/// "14d", "36h", "90m" as microseconds; a unit is needed. invalid_argument G003.
Result<std::int64_t> parse_age(std::string_view text);
/// A day ("2026-12-15": its last microsecond) or an RFC 3339 time. invalid_argument G004.
Result<std::int64_t> parse_until(std::string_view text);

} // namespace quarry::gate
