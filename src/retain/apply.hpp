#pragma once
// Carries out a plan, and takes it back. Every step may be the last: the same call completes the rest.
#include "base/result.hpp"
#include "pages/projection.hpp"
#include "retain/look.hpp"
#include <string>
#include <vector>

namespace quarry::retain {

struct Author {
  std::string who, why;
};
struct Applied {
  registry::PlanDigest plan;
  std::vector<Leaving> tombstoned, purged, restored;
  std::vector<Spared> spared; ///< named since the plan was made: their files stay
  std::uint64_t bytes = 0;    ///< of the files that were removed
  Findings notes;
};

/// The time by which sets are old, from the store's clock. Fails with unsupported O201 if the store has no clock or
/// ignores conditional writes: then nothing is removed there. Writes and removes one object.
Result<std::int64_t> time_for_retention(store::ObjectStore& store);

/// Whether a plan of this digest was begun, here or by a run that was killed. One head.
Result<bool> was_begun(store::ObjectReader& store, const registry::PlanDigest& digest);
/// The plan as it is now, without what the one that was begun does not hold: what is left of it. Fails with R010.
Result<Plan> rest_of(store::ObjectReader& store, const registry::PlanDigest& digest, const Plan& now);

/// In this order: the plan is stored (`retention/plans/{digest}.json`); seals of `restore` come back; those of
/// `tombstone` go, after a record that holds them, and come back if a channel or a lock names the set by now; pages of
/// the directories follow; then files of `purge` go, unless something names them by now. Fails with precondition_failed
/// R003 if another command was faster.
Result<Applied> apply(store::ObjectStore& store, const Inventory& inventory, const Plan& plan, const Author& author);

struct Undo {
  std::optional<registry::PlanDigest> plan; ///< all that it tombstoned
  std::vector<registry::SetDigest> sets;    ///< and these
};
struct Undone {
  std::vector<Leaving> restored;
  std::vector<registry::SetDigest> earlier; ///< an earlier run put them back; perhaps it was killed before the pages
  std::vector<registry::SetDigest> gone;    ///< too late: their files are being removed, or are gone
};
/// Puts the seals back, then writes the pages of the directories, also of the sets that an earlier run put back. The
/// age of a set counts from when its seal came back. Fails with not_found O202 if retention retired nothing of that,
/// or if nothing is left to put back and some of it is gone; and with R003.
Result<Undone> undo(store::ObjectStore& store, const Inventory& inventory, const Undo& what, const Author& author);

} // namespace quarry::retain
