#pragma once
// What retention did with a set (docs/formats/retention.md): `{directory}/retired/{set}.json`. The set's own record
// stays for ever; this one says whether its files can still be had. It is replaced by compare-and-swap.
#include "base/result.hpp"
#include "registry/registry.hpp"
#include <optional>
#include <string>
#include <vector>

namespace quarry::registry {

struct RetiredRecord { ///< quarry.retired/1
  SetDigest set;
  std::string directory; ///< of the set
  /// tombstoned: the seal is about to be removed or is gone; the files are there. purging: files are being removed.
  /// purged: the files are gone. kept: the seal is about to be written again or is back (`retain undo`). The record is
  /// written before the seal is removed or written again. A killed run may leave a seal that does not fit the state:
  /// only the seal decides whether the set counts.
  Retirement state;
  std::string rule;        ///< that decided, such as "nightly"
  PlanDigest plan;         ///< with which it was tombstoned
  Timestamp since;         ///< when it came to this state, by the store's clock
  Timestamp until;         ///< its files are not removed before, by the store's clock
  std::string seal;        ///< the bytes of the seal, to be put back
  std::string who, why;    ///< of the last change; may be empty
  std::uint64_t files = 0; ///< how many the set has
  std::uint64_t bytes = 0; ///< of these files
  std::string unknown = {};
};
struct Retired {
  RetiredRecord record;
  std::string etag;
};

/// `{directory}/retired/{set}.json`. Pure.
std::string retired_key(const std::string& directory, const SetDigest& set);
/// The set of such a key; nullopt for any other key. Pure.
std::optional<SetDigest> set_of_retired_key(std::string_view key);
/// Returns the canonical bytes, without a newline at the end.
std::string to_json(const RetiredRecord& record);
/// nullopt: retention has never touched the set. Fails with B002 to B004, R007 and R012, also for the record of another
/// set or directory. One read.
Result<std::optional<Retired>> read_retired(ObjectReader& store, const std::string& directory, const SetDigest& set);
/// Replaces `expected` by `next`; nullopt: the record must not exist yet. After any failure the record is read. Then:
///   it is `next`                               success: the write arrived, or another run wrote the same
///   another writer was faster                  precondition_failed R003
///   the reply was lost and nothing changed     R004: the write may still arrive
///   put() failed in another way                that error
///   the record cannot be read                  the error of that read; the outcome is unknown
/// The caller has checked that the store does not ignore conditional writes. One write, and a read after a failure.
Result<void> swap_retired(ObjectStore& store, const std::optional<Retired>& expected, const RetiredRecord& next);
/// What is about to leave a directory: tombstoned or being purged, in the order of the keys. One invalid record fails
/// the call: B002 to B004, R007, R012. What is not called like a record is passed over, and one that is removed
/// meanwhile is left out. One listing, and a read for each record there, eight at the same time.
Result<std::vector<RetiredRecord>> leaving_from(ObjectReader& store, const std::string& directory);

} // namespace quarry::registry
