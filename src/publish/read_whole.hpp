#pragma once
// Private to the room.
// One package of another tool, read to its last byte where it lies: for a seal.
#include "publish/adopt_notes.hpp"
#include "publish/verify.hpp"
#include <optional>

namespace quarry::publish {

struct ReadWhole {
  PlannedFile planned; ///< present; with its key
  Findings warnings;
  std::optional<Error> defect = {}; ///< why it cannot be sealed; names the key. The rest is empty then
};

/// Reads and verifies the package. Where `notes` have the object from an earlier run, with the same ETag, only METADATA
/// of a wheel is read again. In a store that is not on this machine's disks its bytes pass through
/// `options.temporary`; afterwards, with `options.keep_notes`, a note is written. A package that
/// `options.describe` refuses, or P060 does, is a success with a defect.
Result<ReadWhole> read_whole(store::ObjectStore& store, const store::ObjectInfo& object, const AdoptNotes& notes,
                             const AdoptOptions& options);

/// Whether read_whole() would read it. Pure.
bool must_be_read(const store::ObjectInfo& object, const AdoptNotes& notes);

} // namespace quarry::publish
