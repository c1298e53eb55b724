#pragma once
// Private to the room.
// The codecs behind compression.hpp, one function and one class each.
#include "codec/compression.hpp"
#include "codec/compression_work.hpp"
#include "codec/frames.hpp"
#include <optional>
#include <string>
#include <vector>

namespace quarry::codec {

constexpr std::size_t k_chunk =
    256u << 10; // read and hand on this much at once: system calls are off the profile, and it stays in a core's cache
/// Frames that fit a shared cache together: one decoded frame is written while the next ones are made, and with 32 MiB
/// the copy into the page cache took three times as long. Against one endless frame it costs 0.7 % in size (GPU
/// libraries).
constexpr std::size_t k_zstd_frame = 8u << 20;
constexpr std::uint64_t k_xz_block = 16u << 20; // eight dictionaries of preset 2

using Bytes = std::vector<std::byte>;

[[nodiscard]] Unexpected corrupt(std::string_view what);
[[nodiscard]] Unexpected too_demanding(std::string_view what);

/// Reads a rope from front to back in chunks; `raw` sees each.
class Input {
public:
  Input(const content::Rope& rope, const ByteSink& raw) : rope_(rope), raw_(raw), buffer_(k_chunk) {}
  /// The next chunk; empty at the end.
  Result<std::span<const std::byte>> next();

private:
  const content::Rope& rope_;
  const ByteSink& raw_;
  Bytes buffer_;
  std::uint64_t offset_ = 0;
};

/// The same for streams whose frames are told apart here: bytes can be looked at before they are taken.
class Reader {
public:
  Reader(const content::Rope& rope, const ByteSink& raw) : rope_(rope), raw_(raw), buffer_(2 * k_chunk) {}
  bool at_end() const { return head_ == tail_ && offset_ == rope_.size(); }
  /// What comes next: at least `wanted` bytes (at most k_chunk), fewer only at the end.
  Result<std::span<const std::byte>> peek(std::size_t wanted = 1);
  void skip(std::size_t bytes) { head_ += bytes; } ///< of what peek() gave
  /// Over that many; false when there are not as many.
  Result<bool> pass(std::uint64_t bytes);
  /// Takes up to k_chunk bytes, none at the end.
  Result<std::size_t> read(std::span<std::byte> into);
  void put_back(std::span<const std::byte> bytes); ///< the end of what read() gave last

private:
  Result<void> fetch(std::span<std::byte> into);
  const content::Rope& rope_;
  const ByteSink& raw_;
  Bytes buffer_; // [head_, tail_) is read and not taken
  std::size_t head_ = 0, tail_ = 0;
  std::uint64_t offset_ = 0; // in the rope, of what is read next
};

Result<void> decompress_zstd(const content::Rope&, const CodecOptions&, const ByteSink& sink, const ByteSink& raw);
Result<void> decompress_xz(const content::Rope&, const CodecOptions&, const ByteSink& sink, const ByteSink& raw);
Result<void> decompress_gzip(const content::Rope&, const ByteSink& sink, const ByteSink& raw);

/// A larger frame is not decoded at once: two such buffers for each thread are enough.
constexpr std::uint64_t k_whole_frame_max = 64u << 20;
/// Frames of a stream from its headers (see find_frames), and one frame decoded: T002 when it does not fill `out`.
Result<std::optional<std::vector<StreamFrame>>> zstd_frames(const content::Rope&);
Result<void> decode_zstd_frame(std::span<const std::byte> packed, std::span<std::byte> out);
Result<std::optional<std::vector<StreamFrame>>> xz_blocks(const content::Rope&);
Result<void> decode_xz_block(std::span<const std::byte> packed, int check, std::span<std::byte> out);

std::unique_ptr<Compressor> zstd_compressor(const CodecOptions&, ByteSink out);
std::unique_ptr<Compressor> xz_compressor(const CodecOptions&, ByteSink out);
std::unique_ptr<Compressor> gzip_compressor(ByteSink out);

} // namespace quarry::codec
