#pragma once
// What a fetch remembers about one artifact it completed, in the hidden directory `.quarry-fetch/` of its output
// directory. Written before the artifact appears, so that no artifact of ours is ever without it.
#include "artifact/listing.hpp"
#include "artifact/name.hpp"
#include "base/result.hpp"
#include "digest/sha256.hpp"
#include <cstdint>
#include <optional>
#include <string>

namespace quarry::artifact {

constexpr std::string_view k_fetch_directory = ".quarry-fetch";

struct FetchState {
  std::string source;                 ///< file name of the archive, or the directory it was copied from
  std::optional<Sha256> digest;       ///< of the archive; nullopt for an exploded directory
  bool verified = false;              ///< the digest was promised by a checksum file
  std::uint64_t files = 0, bytes = 0; ///< entries that are not directories, and their bytes
  std::optional<Sha256> listing = {}; ///< of `{artifact}.files`; nullopt in states of older versions
};

/// nullopt when there is none, or when it cannot be understood: then the work is done again.
std::optional<FetchState> read_fetch_state(const std::string& output_directory, const Name& name);
/// Writes the listing, then the state with the listing's digest.
Result<void> write_fetch_state(const std::string& output_directory, const Name& name, const FetchState& state,
                               const Listing& listing);
/// Compares the exploded artifact in the output directory with the recorded listing (see same_entry()): false when
/// anything was changed, lost or added, or when nothing is recorded. Costs one lstat(2) per entry.
bool still_complete(const std::string& output_directory, const Name& name, const FetchState& state);

} // namespace quarry::artifact
