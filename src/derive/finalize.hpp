#pragma once
// `release finalize`: the packages of a candidate's sets with the version of the release.
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
  std::string candidate_version = {};    ///< that it replaces; empty: the version of the package `rocm`
};

struct PlannedPackage {
  registry::FileRecord candidate;
  std::string version; ///< afterwards; that of the candidate if the package is copied
  bool copied = false; ///< its version does not name the candidate: same name, same bytes
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
  std::vector<registry::SetDigest> unchanged; ///< sets of which no package would change: they stay in the release
};

/// Fails with invalid_argument O100 if the sets hold no or several versions of `rocm` and the request names none, O106
/// if no package changes, M004 and M016 as dist::VersionChange::create() says. Pure.
Result<FinalizePlan> plan_finalize(const FinalizeRequest& request);

struct Execution {
  std::string output_dir;
  registry::ReleaseDigest release = {}; ///< for the records; may be empty
  unsigned workers = 1;
  std::function<void(std::uint64_t)> on_progress = {}; ///< bytes of packages that are done; by one thread at a time
};
struct MadeSet {
  std::string path; ///< the directory that `publish` takes
  registry::DerivationRecord record;
  Findings findings; ///< O104
};
inline constexpr const char* k_derivation_file = "derivation.json"; ///< beside `dist`

/// Fails with already_exists O103 if a directory of the plan holds packages. Reads directories only.
Result<void> check_output(const FinalizePlan& plan, const std::string& output_dir);

/// Makes `{output_dir}/{directory}/dist` and `derivation.json` of each planned set, from the bytes in the store. What
/// is made is proven (prove_package) and searched for the candidate's version. Killed anywhere, the same call makes it
/// again. Fails with corrupt O105 if a file is not what was sealed, already_exists O103 if a directory holds other
/// packages (all are looked at before the first is written), invalid_argument O101 for a package that pins the
/// candidate and would keep its name, and as renew_package() does. Costs reading each file twice, and inflating each
/// package that is made, once.
Result<std::vector<MadeSet>> finalize(store::ObjectStore& store, const FinalizePlan& plan, const Execution& execution);

} // namespace quarry::derive
