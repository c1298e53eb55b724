#pragma once
// Proving what is in a store, and sealing what others put there.
#include "base/finding.hpp"
#include "digest/ed25519.hpp"
#include "publish/adoption.hpp"
#include "publish/plan.hpp"
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace quarry::publish {

/// Which objects this process has read and hashed, by key and ETag, so that planning again after another writer moved
/// does not read a release again. Thread-safe.
class Hashed {
public:
  std::optional<Sha256> find(const store::ObjectInfo& object) const;
  void add(const store::ObjectInfo& object, const Sha256& digest);

private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, Sha256> known_;
};

struct VerifyOptions {
  unsigned workers = 1;
  std::function<void(std::uint64_t)> on_progress = {}; ///< bytes of files verified so far; by one thread at a time
  bool recorded_is_enough = false;                     ///< a digest that the store checked and kept is believed
  Hashed* hashed = nullptr;                            ///< what need not be read again; may be null
};

/// Reads every file and sidecar of the sets, `workers` files at a time, and compares them with their records. Returns
/// findings by file name: P020 (a file is missing), P021 (other bytes), P022 (a sidecar is missing or other). Fails
/// only with what stops the reading itself, and with R018 if two sets disagree about a file.
Result<Findings> verify_sets(store::ObjectReader& store, const std::vector<registry::SealedSet>& sets,
                             const VerifyOptions& options);

/// Returns the directories at or below a key prefix that hold distributions, in python/, pytorch/ or jax/ of a run:
/// "…/python/g" for "…/python/g/dist/x.whl". Costs one listing of everything below.
Result<std::vector<std::string>> package_directories(store::ObjectReader& store, const std::string& prefix);

struct AdoptOptions {
  Describe describe;
  sys::Timestamp now;
  std::string tool;
  unsigned workers = 1;
  std::function<void(std::uint64_t)> on_progress = {};
  std::string temporary = "/tmp"; ///< where files of a store that is elsewhere are put for as long as they are read
  bool keep_notes = false;        ///< in such a store: note each file that was read, so that a killed run is resumed
  /// Called before the first file is read, with the files and bytes that will be.
  std::function<void(std::uint64_t files, std::uint64_t bytes)> on_start = {};
  /// Names of files or projects that may stay outside of the seal if they cannot be sealed (`--replace`).
  std::vector<std::string> let_go = {};
};
/// Returns a plan for each of the package_directories() below `prefix`; each file is verified completely where it lies,
/// `workers` at a time. Executing the plans (publish::execute) adds missing sidecars, set records, seals and pages; no
/// file is touched. Fails with not_found P001 if there is no directory, P060, P061, and as make_plan() (plan.hpp) and
/// `describe` do; a package that `let_go` names is left out instead, with warning P123. P110 if `let_go` names
/// something that can be sealed.
Result<std::vector<Plan>> plan_adoptions(store::ObjectStore& store, const std::string& prefix,
                                         const AdoptOptions& options);

/// The same for the packages of a directory outside a run, flat or in a directory for each project, that no set there
/// has. nullopt if there are none. A package that the directory's pages, or what was taken over there, yank stays
/// yanked. Fails with P052 as check_place() (distribute.hpp) does, and with P121 for a page that cannot be read.
Result<std::optional<Plan>> plan_sealing(store::ObjectStore& store, const std::string& directory,
                                         const AdoptOptions& options);
/// Whether the packages that a plan found are as they were before they were read: another tool may have replaced or
/// removed one meanwhile (precondition_failed P111). Only a plan of an adoption has any. A listing of each directory.
Result<void> still_as_read(store::ObjectReader& store, const Plan& plan);
/// For the log of the distribution that a sealed directory becomes; `why` may be empty.
struct Sealing {
  sys::Timestamp now;
  std::string who, why = {};
  Completion completion = {}; ///< its key signs this move, too
};
/// Writes the record and the seal of such a plan, then the pages of the directory as a distribution, and removes the
/// notes. Returns warnings P050 and P113. Fails as distribute() (distribute.hpp) does, and with precondition_failed
/// P111 as still_as_read() does: that is looked at before anything is written, and again before the seal.
Result<Findings> seal_in_place(store::ObjectStore& store, const Plan& plan, const Sealing& sealing);
/// Removes the notes of a plan of plan_adoptions() that was executed. One listing for each directory.
Result<void> forget_notes(store::ObjectStore& store, const Plan& plan);

} // namespace quarry::publish
