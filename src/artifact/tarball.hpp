#pragma once
// One archive with a whole SDK: artifacts merged into one tree, as TheRock's releases have it.
#include "artifact/tree.hpp"
#include "base/result.hpp"
#include "digest/sha256.hpp"
#include <functional>
#include <string>
#include <vector>

namespace quarry::artifact {

struct TarballOptions {
  unsigned workers = 1;
  TreeOptions trees;                                ///< how archives are read
  std::function<void(std::uint64_t)> on_bytes = {}; ///< uncompressed bytes packed since the last call
};

struct Tarball {
  std::string path;
  std::uint64_t size = 0, files = 0, bytes = 0; ///< of the archive; members other than directories; their bytes
  Sha256 digest;
};

/// The artifacts `names` of the catalogue as one .tar.gz at `path`, which appears complete, and its checksum file. Base
/// directories are left out; directories are members of their own, all sorted bytewise. The bytes depend on the
/// artifacts alone. corrupt A015: two artifacts bring one path. T0xx: a name or link that a reader would refuse.
/// Nothing is unpacked: files are read from where they lie. Memory: the names, and gzip blocks for each worker.
Result<Tarball> write_tarball(const Catalogue& catalogue, const std::vector<Name>& names, const std::string& path,
                              const TarballOptions& options);

} // namespace quarry::artifact
