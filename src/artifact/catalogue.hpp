#pragma once
// What artifacts a directory holds, as exploded directories and as archives. Reads names, manifests and checksum files;
// no archive is opened. Thread-safe (no state).
#include "artifact/name.hpp"
#include "base/finding.hpp"
#include "base/result.hpp"
#include "digest/sha256.hpp"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace quarry::artifact {

/// What a directory means by an exploded artifact and an archive of the same artifact.
enum class Twins : std::uint8_t {
  refused,      ///< they may differ: each has the defect A006, unless a fetch has unpacked the one into the other
  archive_made, ///< a build has packed the directory, as TheRock's cmake does: the archive alone is listed
  packed_there, ///< the same, and the directory alone is listed
};

struct ExplodedArtifact {
  Name name;
  std::string directory;          ///< path: the catalogue's directory joined with the artifact's name
  std::vector<std::string> bases; ///< from its manifest, in order, e.g. "core/clr/stage"; relative to `directory`
};

struct ArchivedArtifact {
  Name name;
  codec::Compression compression = codec::Compression::zstd;
  std::string file; ///< base name
  std::string path; ///< the catalogue's directory joined with `file`
  std::uint64_t size = 0;
  std::optional<Sha256> checksum; ///< from `{file}.sha256sum`; nullopt: there is none
};

struct Catalogue {
  std::string directory;
  std::vector<ExplodedArtifact> artifacts; ///< sorted by name
  std::vector<ArchivedArtifact> archives; ///< sorted by name; not those whose extraction stands beside them (see fetch)
  /// Errors: no manifest (A003), bad manifest (A004), unknown component (A002), one artifact twice (A006), bad checksum
  /// file (A011), a base directory that is missing (A005), a checksum file whose archive is missing (A033). Warnings: a
  /// file that looks like an artifact and is not (A001).
  Findings findings;
};

/// not_found D001 when the directory is missing. Defects of single artifacts are findings, and those artifacts are left
/// out: a caller that needs them all stops when has_errors(findings). An empty catalogue is a success.
Result<Catalogue> open_catalogue(const std::string& directory, Twins twins = Twins::refused);

/// The manifest of one exploded artifact: A003 when there is none, A004 when it is malformed.
Result<std::vector<std::string>> read_manifest(const std::string& artifact_directory);

} // namespace quarry::artifact
