#pragma once
// Proving what is in a store, and sealing what others put there.
#include "base/finding.hpp"
#include "publish/plan.hpp"
#include <functional>
#include <string>
#include <vector>

namespace quarry::publish {

struct VerifyOptions {
  unsigned workers = 1;
  std::function<void(std::uint64_t)> on_progress = {}; ///< bytes hashed
  bool recorded_is_enough = false;                     ///< a digest that the store checked and kept is believed
};

/// Every file of the sets is read and compared with its record, every sidecar too. Findings: P020 (a file is missing),
/// P021 (other bytes), P022 (a sidecar is missing or other). An error is only what stops the reading itself.
Result<Findings> verify_sets(store::ObjectStore& store, const std::vector<registry::SealedSet>& sets,
                             const VerifyOptions& options);

/// The directories of packages at or below a key prefix that hold distributions: "…/python/g" for
/// "…/python/g/dist/x.whl".
Result<std::vector<std::string>> package_directories(store::ObjectStore& store, const std::string& prefix);

struct AdoptOptions {
  Describe describe;
  sys::Timestamp now;
  std::string tool;
  unsigned workers = 1;
  std::function<void(std::uint64_t)> on_progress = {};
};
/// A plan for each package directory below `prefix`: each file verified completely where it lies. not_found P001 when
/// there is none. Executing the plans (publish::execute) adds missing sidecars, set records, seals and pages; no file
/// is touched.
Result<std::vector<Plan>> plan_adoptions(store::ObjectStore& store, const std::string& prefix,
                                         const AdoptOptions& options);

} // namespace quarry::publish
