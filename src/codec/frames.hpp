#pragma once
// A compressed stream read at any place. It works where the stream is cut into independent pieces that say their sizes:
// zstd frames (RFC 8878), xz blocks (their index). What `Compressor` writes is; a single endless frame is not.
#include "base/result.hpp"
#include "codec/compression.hpp"
#include "content/rope.hpp"
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace quarry::codec {

struct StreamFrame {
  std::uint64_t offset = 0, size = 0; ///< in the uncompressed stream
  std::uint64_t packed_offset = 0, packed_size = 0;
  int check = 0; ///< xz: the kind of check behind the block
};

/// Reads headers only. nullopt: the stream cannot be read at any place (gzip, one endless frame, frames of more than 64
/// MiB). Errors: T002 when the headers do not hold together, T012. The content is proven by decompress() alone.
Result<std::optional<std::vector<StreamFrame>>> find_frames(const content::Rope& packed, Compression compression);

/// Decoded frames that several streams share: at most `bytes_max`, and at least one for each reader. Thread-safe.
class FrameCache {
public:
  explicit FrameCache(std::uint64_t bytes_max);
  ~FrameCache();
  struct State;
  State& state() { return *state_; }

private:
  std::unique_ptr<State> state_;
};

/// The uncompressed stream as a source. Readers that go forward side by side decode different frames at the same time.
/// read() fails with T002 where a frame is damaged.
std::shared_ptr<const content::Source> open_frames(content::Rope packed, Compression compression,
                                                   std::vector<StreamFrame> frames, std::shared_ptr<FrameCache> cache);

} // namespace quarry::codec
