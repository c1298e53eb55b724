#pragma once
// Whole-stream codecs for tar archives: zstd (RFC 8878), xz, gzip. Streaming both ways, bounded memory.
#include "base/result.hpp"
#include "content/rope.hpp"
#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace quarry::archive {

enum class Compression : std::uint8_t { none, zstd, xz, gzip };
/// From a file name's ending: .tar, .tar.zst, .tar.xz, .tar.gz; unsupported T001 otherwise.
Result<Compression> compression_of(std::string_view file_name);
std::string_view suffix_of(Compression compression);  ///< ".tar.zst"

using ByteSink = std::function<Result<void>(std::span<const std::byte>)>;

/// Decodes the whole rope into `sink`, in order, checking every header and checksum up to the last byte: truncation, trailing
/// bytes and check failures are corrupt (T002). `raw` (optional) sees the compressed bytes in the same pass, for their digest.
Result<void> decompress(const content::Rope& compressed, Compression compression, const ByteSink& sink, const ByteSink& raw = {});

class Compressor {  ///< write() any number of times, then finish() once; deterministic for a given compression and worker count class
public:
  static std::unique_ptr<Compressor> create(Compression compression, unsigned workers, ByteSink out);
  virtual ~Compressor() = default;
  virtual Result<void> write(std::span<const std::byte> bytes) = 0;
  virtual Result<void> finish() = 0;
};

}  // namespace quarry::archive
