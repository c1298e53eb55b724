#pragma once
// Whole-stream codecs for tar archives: zstd (RFC 8878), xz, gzip. Streaming both ways, bounded memory.
#include "base/result.hpp"
#include "content/rope.hpp"
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace quarry::codec {

enum class Compression : std::uint8_t { none, zstd, xz, gzip };
/// From a file name's ending: .tar, .tar.zst, .tar.xz, .tar.gz; unsupported T001 otherwise.
Result<Compression> compression_of(std::string_view file_name);
std::string_view suffix_of(Compression compression); ///< ".tar.zst"

using ByteSink = std::function<Result<void>(std::span<const std::byte>)>;

/// Work that several codecs may have in hand at the same time: each is one frame or block on a thread of its own, from
/// its packed bytes until the result is delivered. Share one among the archives that are handled side by side: it
/// bounds threads and memory of all of them together. Where none is free, a frame is decoded as a stream on the thread
/// that wants it. Thread-safe.
class Permits {
public:
  Permits(unsigned count, std::uint64_t bytes); ///< at most k_permits_max
  ~Permits();
  bool try_take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes);
  static constexpr unsigned k_permits_max = 64;
  static constexpr std::uint64_t k_bytes_each = 24u << 20; ///< a frame of ours or an xz block of ours, packed and not
  struct State;
  State& state() { return *state_; }

private:
  std::unique_ptr<State> state_;
};
/// For `threads` threads: one permit more, because a result that is being delivered keeps its own. Null for one thread.
std::shared_ptr<Permits> permits_for(unsigned threads);

struct CodecOptions {
  unsigned workers = 1;             ///< 1: everything on the caller's thread
  std::shared_ptr<Permits> permits; ///< null: permits_for(workers), for this codec alone
  /// decompress() gives it the compressed bytes in the same pass, for their digest; may be empty.
  ByteSink raw = {};
};

/// Bounds on what a stream may ask of the machine (T012).
constexpr unsigned k_zstd_window_log_max = 27; ///< 128 MiB: the largest window of `zstd --ultra -22` and `--long`
constexpr std::uint64_t k_xz_memory_max = 512ull << 20; ///< `xz -9` needs 65 MiB; a dictionary of up to 400 MiB passes

/// Decodes the whole rope into `sink`, in order, checking every header and checksum up to the last byte: truncation,
/// trailing bytes and check failures are corrupt (T002).
Result<void> decompress(const content::Rope& compressed, Compression compression, const ByteSink& sink);
/// The same with several threads, where the stream allows it: xz blocks whose headers carry sizes, independent zstd
/// frames that say their content size. `sink` and `options.raw` are called on the calling thread, each in order;
/// `raw` may run ahead of `sink`. Accepted: several xz streams with stream padding, several zstd frames with skippable
/// ones between, several gzip members.
Result<void> decompress(const content::Rope& compressed, Compression compression, const CodecOptions& options,
                        const ByteSink& sink);

/// write() any number of times, then finish() once. The bytes depend on the input alone, never on workers or on how it
/// is cut into write() calls: zstd level 3 in independent frames of 8 MiB with checksum and content size; xz preset 2
/// in blocks of 16 MiB with CRC-64; gzip level 6 without name and time. `out` is called on the calling thread.
class Compressor {
public:
  static std::unique_ptr<Compressor> create(Compression compression, unsigned workers, ByteSink out);
  static std::unique_ptr<Compressor> create(Compression compression, const CodecOptions& options, ByteSink out);
  virtual ~Compressor() = default;
  virtual Result<void> write(std::span<const std::byte> bytes) = 0;
  virtual Result<void> finish() = 0;
};

} // namespace quarry::codec
