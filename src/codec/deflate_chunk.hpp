#pragma once
// One chunk of an entry as a byte-aligned run of deflate blocks (RFC 1951), so that chunks made by several threads,
// even by several encoders, join to one stream. The bytes depend on the chunk, the 32 KiB before it and the profile, on
// nothing else.
#include "codec/profile.hpp"
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace quarry::codec {

/// Every chunk but the last of an entry has this size: part of the format, since it decides the bytes.
constexpr std::size_t k_chunk_bytes = 1u << 20;
/// What a chunk may refer back to (RFC 1951 §2); only ISA-L does.
constexpr std::size_t k_history_bytes = 32u << 10;

enum class ChunkMethod : std::uint8_t { stored, fast, dense };

struct ChunkInput {
  std::span<const std::byte> data;    ///< at most k_chunk_bytes, not empty
  std::span<const std::byte> history; ///< the bytes before, at most k_history_bytes; empty for the first chunk
  bool last = false;                  ///< ends the stream
};

struct Encoded {
  ChunkMethod method = ChunkMethod::stored;
  std::size_t size = 0;
};

/// The size of `bytes` as stored blocks, which no encoded chunk exceeds.
constexpr std::size_t encoded_bytes_max(std::size_t bytes) { return bytes + 5 * ((bytes + 65534) / 65535); }

class ChunkEncoder { ///< working memory of one thread
public:
  explicit ChunkEncoder(Profile profile);
  ~ChunkEncoder();
  ChunkEncoder(const ChunkEncoder&) = delete;
  ChunkEncoder& operator=(const ChunkEncoder&) = delete;

  /// `out` must hold encoded_bytes_max(input.data.size()).
  Encoded encode(const ChunkInput& input, std::span<std::byte> out);

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace quarry::codec
