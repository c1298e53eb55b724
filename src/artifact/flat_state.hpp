#pragma once
// Private to the room.
// Which artifact owns which path of a flat output directory: `.quarry-fetch/flat.json`.
#include "artifact/listing.hpp"
#include "base/result.hpp"
#include "digest/sha256.hpp"
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace quarry::artifact {

/// Written twice by each merge: before its first change with the new owners incomplete, after its last with them
/// complete. Killed in between, their paths are a mixture of two versions, and the next fetch does them again.
struct FlatState {
  struct Owner {
    bool complete = false;        ///< its merge has ended
    std::optional<Sha256> digest; ///< of its archive; nullopt when it came from a directory, or is incomplete
    bool verified = false;        ///< the digest was promised by a checksum file
    std::uint64_t files = 0, bytes = 0;
    Listing entries;
  };
  std::map<std::string, Owner> owners; ///< by artifact
  /// Paths of older versions that a merge which did not end may have left. A fetch made them, and no owner has them.
  std::set<std::string> passing;
};

/// Returns an empty state when there is none, or when anything in it is not what a fetch writes (a path that leads
/// outside, say): then no file counts as made by a fetch. Owners of a state of an older version are incomplete.
FlatState read_flat_state(const std::string& output_directory);
Result<void> write_flat_state(const std::string& output_directory, const FlatState& state);

} // namespace quarry::artifact
