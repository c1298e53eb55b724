#pragma once
// Reads what retention decides about. Writes nothing.
#include "base/result.hpp"
#include "retain/closed.hpp"
#include "retain/inventory.hpp"
#include "retain/plan.hpp"
#include "store/object_store.hpp"

namespace quarry::retain {

/// Every set that is sealed or retired, and what names sets: a channel or an earlier view of it, a lock whose
/// time has not come, a set that was made of another. Fails with R010, R011, R017 if what a channel names is not known,
/// and as registry::list_locks() does; a set whose record or seal cannot be read is left alone and noted (R021). Costs
/// a listing and two reads for each set, and what publish::Reachable does; eight at the same time.
Result<Inventory> look(store::ObjectStore& store, std::int64_t now_us);

/// What would be done now: make_plan(), without the sets that others need. `now_us` 0: the ages
/// of sets are not known, and none leaves.
/// Besides what look() costs, reads the METADATA of every sealed set if one would leave.
Result<Plan> plan_retention(store::ObjectReader& store, const Inventory& inventory, const Rules& rules,
                            std::int64_t now_us);

} // namespace quarry::retain
