#pragma once
// The codecs behind compression.hpp, one function and one class each. Inside this room only.
#include "archive/compression.hpp"
#include "archive/frames.hpp"
#include <deque>
#include <future>
#include <mutex>
#include <string>
#include <vector>

namespace quarry::archive::codec {

constexpr std::size_t k_chunk = 1u << 20; // read and hand on this much at once: keeps system calls off the profile
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

/// Memory that is neither zeroed nor returned to the system between frames: both cost as much as a fifth of decoding
/// one.
struct Buffer {
  std::unique_ptr<std::byte[]> memory;
  std::size_t capacity = 0, size = 0;
  std::span<std::byte> all() { return {memory.get(), capacity}; }
  std::span<const std::byte> bytes() const { return {memory.get(), size}; }
};
constexpr std::size_t k_pool_bytes_max = 64u << 20; // four of our frames, packed and not, for each of two cores
class BufferPool {                                  ///< thread-safe; gives more than that back to the system
public:
  Buffer take(std::size_t capacity);
  void give_back(Buffer buffer);

private:
  std::mutex mutex_;
  std::vector<Buffer> free_;
};

/// Frames on their way: results come out in the order of start(), as many at once as permits allow.
class Ordered {
public:
  Ordered(std::shared_ptr<Permits> permits, unsigned workers, std::function<Result<void>(Buffer)> deliver)
      : permits_(std::move(permits)), in_flight_max_(workers), deliver_(std::move(deliver)) {}
  /// Runs `task` on a thread of its own when a permit is free; else delivers what is pending, oldest first, until one
  /// is, and without any runs it here.
  Result<void> start(std::function<Result<Buffer>()> task);
  Result<void> drain();

private:
  Result<void> deliver_first();
  std::shared_ptr<Permits> permits_;
  std::size_t in_flight_max_;
  std::function<Result<void>(Buffer)> deliver_;
  std::deque<std::future<Result<Buffer>>> pending_;
};

/// The permits to use; null when there is one worker.
std::shared_ptr<Permits> permits_of(const CodecOptions& options);

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

} // namespace quarry::archive::codec
