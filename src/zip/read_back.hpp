#pragma once
// Whether an entry reads back as it was packed.
#include "content/rope.hpp"
#include "zip/reader.hpp"
#include "zip/writer.hpp"
#include <cstdint>
#include <span>

namespace quarry::zip {

struct PackedContent {
  const content::Rope& content;
  std::span<const std::uint32_t> pieces; ///< Written::pieces
  unsigned workers = 1;
  std::span<const std::size_t> taken = {}; ///< Written::taken
  const OldStream* old_stream = nullptr;   ///< that of the entry; must exist if `taken` is not empty
};

/// Inflates what is stored of the member, except pieces taken from elsewhere, and compares it with `expected.content`
/// and with the CRC. Piece by piece, on several threads, if there are pieces: each must inflate alone to its part of
/// the content, and end at a byte boundary between blocks. A piece for zeros with the same bytes as an inflated one is
/// not inflated again: what thinning leaves of a library has a thousand. A piece that was taken from an old stream is
/// compared with its bytes there, which were seen to inflate to the content when they were taken. Fails as
/// Reader::read() does, and if the content cannot be read. Memory: 4 MiB for each worker.
Result<bool> inflates_to(const Reader& zip, const Member& member, const PackedContent& expected);

} // namespace quarry::zip
