#pragma once
// Locks that keep files (docs/formats/lock.md): `locks/{digest}.json`. A lock names the sets whose files a
// pylock.toml names; until the lock's `until` retention leaves them alone.
#include "base/result.hpp"
#include "registry/registry.hpp"
#include <string>
#include <vector>

namespace quarry::registry {

struct LockRecord {            ///< quarry.kept-lock/1
  std::vector<SetDigest> sets; ///< sorted, each once, at least one
  Timestamp until;
  std::string source;   ///< what was locked: "channel:stable"
  std::string pylock;   ///< the file that it keeps usable, as it was written
  std::string who, why; ///< may be empty
  std::string unknown = {};
};
using LockDigest = DigestOf<LockRecord>;

/// Returns the canonical bytes, without a newline at the end.
std::string to_json(const LockRecord& record);
/// Writes the record if-absent. One that list_locks() could not read is not written: R012, R007. Other costs and errors
/// are those of store::put_once().
Result<LockDigest> put_lock(ObjectStore& store, const LockRecord& record);
/// All locks of the store, sorted by digest; other names are ignored. A lock that cannot be read might keep any set. So
/// one unreadable lock fails the call: R011, R012, R007, B002 to B004. One that is removed meanwhile is left out. One
/// listing, and a read for each, eight at the same time.
Result<std::vector<Stored<LockRecord>>> list_locks(ObjectReader& store);

} // namespace quarry::registry
