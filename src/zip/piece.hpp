#pragma once
// Private to the room.
// One piece of a deflate stream: whole blocks, from a byte to a byte. The writer's streams are made of such pieces, one
// for each chunk (codec/deflate_chunk.hpp).
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace quarry::zip {

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
