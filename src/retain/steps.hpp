#pragma once
// Private to the room.
// The states of one set: tombstoned -> purging -> purged, or tombstoned -> kept. Each step is one compare-and-swap of
// its record, so of two commands one goes on and the other stops.
#include "base/result.hpp"
#include "retain/inventory.hpp"
#include <cstdint>
#include <string>

namespace quarry::retain {

struct Change {
  registry::PlanDigest plan;
  std::int64_t now_us = 0, grace_us = 0;
  std::string who, why;
};

/// First the record, which holds the seal, then the seal goes: nobody finds the set without one of the two.
Result<void> tombstone(store::ObjectStore& store, const Entry& entry, const std::string& rule, const Change& change);
/// First the state, so that no purge begins any more, then the seal comes back. A purge that has removed nothing may
/// restore, too.
Result<void> restore(store::ObjectStore& store, const Entry& entry, const Change& change);
/// From here on `retain undo` is refused.
Result<void> begin_purge(store::ObjectStore& store, const Entry& entry, const Change& change);
Result<void> end_purge(store::ObjectStore& store, const Entry& entry, const Change& change);

} // namespace quarry::retain
