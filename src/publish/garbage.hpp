#pragma once
// Collecting records that nothing names: mark and sweep in two runs, beside writers that may be about to name one.
// The order of steps, and why no interleaving loses a record, is in docs/formats/store.md ("Garbage").
#include "base/finding.hpp"
#include "base/result.hpp"
#include "store/object_store.hpp"
#include <cstdint>
#include <string>
#include <vector>

namespace quarry::publish {

struct Garbage {
  std::uint64_t leftovers = 0;     ///< temporaries of killed writers that were removed; 0 in a dry run
  std::vector<std::string> keys;   ///< removed now: views, shards, ledger entries and unsealed sets that nothing names
  std::vector<std::string> marked; ///< nothing names these either: a run after the grace time removes them
  Findings notes;                  ///< P080: an earlier view of a channel is lost
};
struct CollectGarbageOptions {
  std::int64_t grace_us = 0; ///< between mark and removal; also the least age of temporaries
  std::int64_t now_us = 0;   ///< of a dry run; else the store's own clock is asked, with one object that is written
  bool dry_run = false;
};

/// Marks every record that no move of any channel's ledger names, and removes those that were marked at least a grace
/// time ago, were not written since and are still not named. Files, sealed sets, evidence and waivers are kept, and so
/// is an object without a known time. A broken ledger or a lost current view of a channel is an error (R010, R011,
/// R017): what it names is not known. After any error the records that were removed until then stay removed, and the
/// next run goes on. Costs one request per move and view of each channel, two per set that no channel names, and a few
/// per removal; eight at the same time. All keys that channels name are in memory.
Result<Garbage> collect_garbage(store::ObjectStore& store, const CollectGarbageOptions& options);

} // namespace quarry::publish
