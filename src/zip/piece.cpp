#include "zip/piece.hpp"

#include "codec/deflate_chunk.hpp"
#include <algorithm>
#include <cstring>
#include <isa-l/igzip_lib.h>

namespace quarry::zip {

namespace {
// ISA-L's API lacks the const.
std::uint8_t* raw(const std::byte* p) { return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(p)); }
} // namespace

bool is_zeros(const content::Rope& rope, std::uint64_t begin, std::uint64_t size) {
  return content::same_piece({rope, begin}, {content::Rope::zeros(size), 0}, size);
}

struct PieceInflater::State {
  inflate_state stream;
  std::vector<std::byte> out = std::vector<std::byte>(codec::k_chunk_bytes + 1); // one more than a piece may give

  /// What the decoder holds of the input at the end: nothing, not even some bits.
  bool used_all() const { return stream.avail_in == 0 && stream.tmp_in_size == 0 && stream.read_in_length == 0; }
  bool gave_all() const {
    return stream.tmp_out_valid == stream.tmp_out_processed && stream.copy_overflow_length == 0 &&
           stream.write_overflow_len == 0;
  }
};

PieceInflater::PieceInflater() : state_(std::make_unique<State>()) {}
PieceInflater::~PieceInflater() = default;

bool PieceInflater::gives(const Piece& piece, std::span<const std::byte> data) {
  auto& [s, out] = *state_;
  if (data.size() >= out.size()) return false;
  isal_inflate_init(&s);
  const auto& history = piece.history;
  if (!history.empty() &&
      isal_inflate_set_dict(&s, raw(history.data()), static_cast<std::uint32_t>(history.size())) != ISAL_DECOMP_OK)
    return false;
  s.next_in = raw(piece.packed.data());
  s.avail_in = static_cast<std::uint32_t>(piece.packed.size());
  s.next_out = raw(out.data());
  s.avail_out = static_cast<std::uint32_t>(data.size() + 1); // with room left, it reads on behind the last byte
  if (isal_inflate(&s) != ISAL_DECOMP_OK || s.avail_out != 1 || !state_->gave_all()) return false;
  if (std::memcmp(out.data(), data.data(), data.size()) != 0) return false;
  bool ended = s.block_state == ISAL_BLOCK_FINISH;
  if (piece.last) return ended && s.avail_in == 0 && s.read_in_length < 8;
  return (s.block_state == ISAL_BLOCK_NEW_HDR || s.block_state == ISAL_BLOCK_HDR) && state_->used_all();
}

} // namespace quarry::zip
