#pragma once
// Where the last block of a raw deflate stream (RFC 1951) begins and ends, found by reading symbols without producing
// bytes. libdeflate always ends a stream; joining its streams needs the position of the bit that says so.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace quarry::archive {

struct LastBlock {
  std::uint64_t header_bit = 0; ///< of the BFINAL bit, counted from the stream's first bit
  std::uint64_t end_bit = 0;    ///< one past the last bit of the stream
};

class DeflateWalker { ///< holds decoding tables for reuse: one for each thread
public:
  DeflateWalker();
  ~DeflateWalker();
  /// nullopt when the bytes are not a complete deflate stream. Distances are not checked: nothing is produced.
  std::optional<LastBlock> find_last_block(std::span<const std::byte> stream);

private:
  struct Tables;
  std::unique_ptr<Tables> tables_;
};

} // namespace quarry::archive
