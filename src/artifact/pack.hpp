#pragma once
// Exploded artifacts to archives with checksum files.
#include "artifact/source.hpp"
#include "tar/paths.hpp"
#include <string>
#include <vector>

namespace quarry::artifact {

struct PackOptions {
  codec::Compression compression = codec::Compression::zstd; ///< zstd or xz
  unsigned jobs = 1;                                         ///< threads for all archives together
  std::uint64_t max_ratio = tar::k_tar_ratio_max;            ///< T008 for what a fetch with this ratio would refuse
  std::function<void(std::uint64_t)> on_bytes = {}; ///< uncompressed bytes packed since the last call, from any thread
};

struct Packed {
  Name name;
  std::string file;                             ///< base name of the archive
  std::uint64_t size = 0, files = 0, bytes = 0; ///< of the archive; members other than directories; their bytes
  Sha256 digest;
  tar::CasePairs case_pairs; ///< T007 instead for Windows
};

/// Every exploded artifact of `source` (archives in it are left alone) to `output_directory`/{name}{suffix}, each
/// atomically, then its .sha256sum. The manifest comes first, then the rest sorted bytewise; equal trees give equal
/// bytes. All names and links are checked before the first byte is written (see check_exploded); A006 when the same
/// artifact stands there in the other format; A021 when there is nothing to pack. The first failure (in name order)
/// stops the work; finished archives stay.
Result<std::vector<Packed>> pack(const Source& source, const std::string& output_directory, const PackOptions& options);

} // namespace quarry::artifact
