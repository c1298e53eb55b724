#pragma once
// Private to the room.
// The engine of the zip writer: cuts entries into chunks, and reads, digests and deflates them on several threads,
// while one consumer gets them in order. Memory is a window of chunks, whatever the files' sizes.
#include "base/result.hpp"
#include "codec/deflate_chunk.hpp"
#include "zip/writer.hpp"
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace quarry::zip {

/// A finished chunk. The spans live until the consumer returns.
struct PackedChunk {
  std::size_t entry = 0;    ///< index into the entries
  std::uint64_t offset = 0; ///< of its data in the entry
  bool last = false;        ///< of its entry
  std::span<const std::byte> data, packed;
  codec::ChunkMethod method = codec::ChunkMethod::stored;
  std::uint32_t crc = 0; ///< of data
  Sha256 sha256;         ///< of the whole entry, in its last chunk only
  bool taken = false;    ///< `packed` are bytes of Entry::old_stream
};

using ChunkConsumer = std::function<Result<void>(const PackedChunk&)>;

/// Calls `consume` on the calling thread for every chunk of every entry, in order; an empty entry is one empty chunk.
/// Returns the first error in that order, whatever the timing.
Result<void> run_pipeline(std::span<const Entry> entries, codec::Profile profile, unsigned workers,
                          const ChunkConsumer& consume);

} // namespace quarry::zip
