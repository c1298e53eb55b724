#pragma once
// Private to the room.
// .kpack archives: "KPAK", u32 version, u64 place of the table of contents; blobs; the table in MessagePack, up to the
// end of the file (rocm-systems, shared/kpack/runtime/src/toc_parser.cpp).
#include "gpu/reading.hpp"
#include "gpu/thin_proof.hpp"
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace quarry::gpu {

constexpr std::size_t k_kpack_header = 16;

struct KpackBlob {
  std::uint64_t offset = 0, size = 0; ///< in the file
};
/// The code of one binary for one target.
struct KpackKernel {
  std::string binary, target;
  std::uint64_t ordinal = 0; ///< which blob
  std::uint64_t size = 0;    ///< decompressed
};
struct KpackArchive {
  bool packed = false; ///< each blob is a zstd stream; they stand behind each other in `frames`
  std::vector<KpackBlob> blobs;
  KpackBlob frames;
  std::vector<KpackKernel> kernels;
  std::string contents; ///< the table as it stands
};

/// Fails with corrupt (G101) or unsupported (G102). A blob or an ordinal may still be outside.
Result<KpackArchive> read_kpack_archive(const content::Rope& file);

/// The archive without the code of unwanted targets: its blobs and its rows in the table leave, other blobs move
/// together and keep their bytes, and the file gets shorter. Sets `thinned.file`, `after` and `changed`, or adds the
/// reason why code stays to `thinning.left`. Proven: the rows that stay name the same bytes. Fails with corrupt (G101)
/// and, if the proof fails, internal (G116).
Result<void> thin_kpack(Thinning& thinning, Thinned& thinned, std::string_view name);

} // namespace quarry::gpu
