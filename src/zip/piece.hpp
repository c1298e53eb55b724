#pragma once
// Private to the room.
// One piece of a deflate stream: whole blocks, from a byte to a byte. The writer's streams are made of such pieces, one
// for each chunk (codec/deflate_chunk.hpp).
#include "content/rope.hpp"
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace quarry::zip {

/// Whether a part of the rope consists of Rope::zeros(). Reads nothing: zeros that a file holds do not count.
bool is_zeros(const content::Rope& rope, std::uint64_t begin, std::uint64_t size);

struct Piece {
  std::span<const std::byte> packed;
  std::span<const std::byte> history; ///< what the stream gave before: at most the last codec::k_history_bytes
  bool last = false;                  ///< ends the stream
};

class PieceInflater { ///< working memory of one thread
public:
  PieceInflater();
  ~PieceInflater();
  PieceInflater(const PieceInflater&) = delete;
  PieceInflater& operator=(const PieceInflater&) = delete;

  /// Whether the piece inflates to exactly `data`, at most codec::k_chunk_bytes, and ends where a block ends and a byte
  /// ends: what follows it in the stream is read as if it stood alone.
  bool gives(const Piece& piece, std::span<const std::byte> data);

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace quarry::zip
