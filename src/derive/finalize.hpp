#pragma once
// `release finalize`: makes the packages of a release from those of its candidate, by changing their version.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "dist/version_change.hpp"
#include "registry/derivations.hpp"
#include "registry/registry.hpp"
#include <functional>
#include <string>
#include <vector>

namespace quarry::derive {

struct FinalizeRequest {
  std::vector<registry::SealedSet> sets; ///< of the candidate
  std::string version;                   ///< of the release: "7.2.0"
  std::string candidate_version = {};    ///< the version to replace; empty: the version of the package `rocm`
};

struct PlannedPackage {
  registry::FileRecord candidate;
  std::string version; ///< in the release; the candidate's own if the package is copied
  bool copied = false; ///< its version does not contain the candidate's, so name and bytes stay
};
struct PlannedSet {
  registry::SealedSet candidate;
  std::string directory; ///< its name below the output directory: "linux-python-gfx94X-dcgpu"
  std::string area;      ///< python, pytorch or jax
  std::vector<PlannedPackage> packages;
};
struct FinalizePlan {
  dist::VersionChange change;
  std::vector<PlannedSet> sets;
  std::vector<registry::SetDigest> unchanged; ///< sets in which no package changes: the release takes them as they are
};

/// Fails with invalid_argument: O100 if the request names no candidate version and the sets do not hold exactly one
/// version of `rocm`; O106 if no package changes; M004 and M016 as dist::VersionChange::create() does. Pure.
Result<FinalizePlan> plan_finalize(const FinalizeRequest& request);

struct Execution {
  std::string output_dir;
  registry::ReleaseDigest release = {}; ///< written into the derivation records; may be empty
  unsigned workers = 1;
  std::function<void(std::uint64_t)> on_progress = {}; ///< gets the bytes done so far; one thread at a time
};
struct MadeSet {
  std::string path; ///< the directory that `publish` takes
  registry::DerivationRecord record;
  Findings findings;   ///< O104
  bool before = false; ///< an earlier run made it
};
inline constexpr const char* k_derivation_file = "derivation.json"; ///< beside `dist`

/// Fails with already_exists O103 if a directory of the plan holds packages without a record that they were made of
/// this set for this version, and for this release. Reads directories and records only.
Result<void> check_output(const FinalizePlan& plan, const Execution& execution);

/// Writes `{output_dir}/{directory}/dist` and `derivation.json` for each planned set, from the bytes in the store.
/// Proves each new package (prove_package) and searches it for the candidate's version. If the process is killed,
/// calling it again completes the work: sets whose packages lie there as their record says are left as they are. Fails
/// with corrupt O105 if a file is not what was sealed; already_exists O103 if a directory holds other packages, or
/// altered ones, before anything is written; invalid_argument O101 for a package that pins the candidate and would keep
/// its name; and as renew_package() does. Costs reading each file twice and inflating each new package once.
Result<std::vector<MadeSet>> finalize(store::ObjectReader& store, const FinalizePlan& plan, const Execution& execution);

} // namespace quarry::derive
