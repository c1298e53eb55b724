#pragma once
// What a fetch remembers about one artifact it completed, in the hidden directory `.quarry-fetch/` of its output
// directory. Written before the artifact appears, so that no artifact of ours is ever without it.
#include "artifact/name.hpp"
#include "base/result.hpp"
#include "digest/sha256.hpp"
#include <cstdint>
#include <optional>
#include <string>

namespace quarry::artifact {

constexpr std::string_view k_fetch_directory = ".quarry-fetch";

struct FetchState {
  std::string source;           ///< file name of the archive, or the directory it was copied from
  std::optional<Sha256> digest; ///< of the archive; nullopt for an exploded directory
  bool verified = false;        ///< the digest was promised by a checksum file
  std::uint64_t files = 0,
                bytes = 0; ///< entries that are no directories, and their bytes: re-counted before it is trusted
};

/// nullopt when there is none, or when it cannot be understood: then the work is done again.
std::optional<FetchState> read_fetch_state(const std::string& output_directory, const Name& name);
Result<void> write_fetch_state(const std::string& output_directory, const Name& name, const FetchState& state);
/// Counts the exploded artifact and compares: false when something was lost or added.
bool still_complete(const std::string& artifact_directory, const FetchState& state);

} // namespace quarry::artifact
