#include "zip/read_back.hpp"

#include "codec/deflate_chunk.hpp"
#include "sys/clock.hpp"
#include "thread/pool.hpp"
#include "zip/format.hpp"
#include "zip/piece.hpp"
#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <vector>

namespace quarry::zip {

namespace {

constexpr std::size_t k_pieces_at_once = 64; // of one task: its memory and its first piece of zeros serve them all

Result<bool> whole_inflates_to(const Reader& zip, const Member& member, const content::Rope& expected) {
  std::vector<std::byte> part;
  std::uint64_t at = 0;
  bool same = true;
  TRY_DO(zip.read(member, [&](std::span<const std::byte> chunk) -> Result<void> {
    part.resize(chunk.size());
    TRY_DO(expected.read(at, part));
    at += chunk.size();
    same = same && std::memcmp(part.data(), chunk.data(), chunk.size()) == 0;
    return {};
  }));
  return same && at == expected.size();
}

/// A member that is read piece by piece.
struct Pieces {
  content::Rope packed;
  const content::Rope& content;
  std::vector<std::uint64_t> begins; ///< of each piece in `packed`; then the end of the last
  const PackedContent& how;
  /// Where the old stream has the piece, if it was taken from there.
  std::optional<OldStream::Place> old_place(std::size_t number) const {
    if (!std::ranges::binary_search(how.taken, number)) return std::nullopt;
    auto place = how.old_stream->chunks.find(number);
    return place == how.old_stream->chunks.end() ? std::nullopt : std::optional(place->second);
  }
};

/// Reads the pieces of one task.
class PieceReader {
public:
  explicit PieceReader(const Pieces& pieces) : pieces_(pieces) {}

  /// The CRC of what piece `number` gives, or nullopt if that is not the content.
  Result<std::optional<std::uint32_t>> read(std::size_t number) {
    const auto begin = std::uint64_t{number} * codec::k_chunk_bytes;
    const auto size = std::min<std::uint64_t>(codec::k_chunk_bytes, pieces_.content.size() - begin);
    const auto history = std::min<std::uint64_t>(codec::k_history_bytes, begin);
    const bool last = begin + size == pieces_.content.size();
    packed_.resize(pieces_.begins[number + 1] - pieces_.begins[number]);
    TRY_DO(pieces_.packed.read(pieces_.begins[number], packed_));
    const bool zeros = !last && is_zeros(pieces_.content, begin - history, history + size);
    if (zeros && zeros_.history == history && packed_ == zeros_.packed) return std::optional(zeros_.crc);
    data_.resize(history + size);
    TRY_DO(pieces_.content.read(begin - history, data_));
    auto [before, data] = std::pair(std::span(data_).first(history), std::span(data_).subspan(history));
    if (auto place = pieces_.old_place(number)) {
      TRY(bool same, is_at(*place));
      if (!same) return std::optional<std::uint32_t>();
    } else if (!inflater_.gives({packed_, before, last}, data)) {
      return std::optional<std::uint32_t>();
    }
    auto crc = crc32(0, data);
    if (zeros) zeros_ = {history, crc, packed_};
    return std::optional(crc);
  }

private:
  /// Whether the piece is the old stream's bytes at `place`.
  Result<bool> is_at(const OldStream::Place& place) {
    old_.resize(place.size);
    TRY_DO(pieces_.how.old_stream->bytes.read(place.begin, old_));
    return packed_ == old_;
  }
  /// The last piece for zeros behind zeros, which was inflated.
  struct Zeros {
    std::uint64_t history = 0;
    std::uint32_t crc = 0;
    std::vector<std::byte> packed;
  };
  const Pieces& pieces_;
  PieceInflater inflater_;
  Zeros zeros_;
  std::vector<std::byte> packed_, data_, old_;
};

} // namespace

Result<bool> inflates_to(const Reader& zip, const Member& member, const PackedContent& expected) {
  if (member.size != expected.content.size()) return false;
  if (expected.pieces.empty()) return whole_inflates_to(zip, member, expected.content);
  const auto count = expected.pieces.size();
  Pieces pieces{zip.archive().slice(member.data_offset, member.stored_size), expected.content, {0}, expected};
  for (auto size : expected.pieces) pieces.begins.push_back(pieces.begins.back() + size);
  if (member.method != k_method_deflate || pieces.begins.back() != member.stored_size ||
      count != (member.size + codec::k_chunk_bytes - 1) / codec::k_chunk_bytes)
    return false;
  std::vector<std::uint32_t> crcs(count);
  std::atomic<bool> same = true;
  auto task = [&](std::size_t number) -> Result<void> {
    PieceReader reader(pieces);
    for (auto i = number * k_pieces_at_once; i < std::min(count, (number + 1) * k_pieces_at_once) && same; ++i) {
      TRY_DO(sys::check_interrupted());
      TRY(auto crc, reader.read(i));
      crc ? void(crcs[i] = *crc) : void(same = false);
    }
    return {};
  };
  TRY_DO(parallel_for((count + k_pieces_at_once - 1) / k_pieces_at_once, expected.workers, task));
  auto crc = crcs.front();
  for (std::size_t i = 1; i < count; ++i)
    crc = crc32_combine(crc, crcs[i],
                        std::min<std::uint64_t>(codec::k_chunk_bytes, member.size - i * codec::k_chunk_bytes));
  return same && crc == member.crc;
}

} // namespace quarry::zip
