#pragma once
// Private to the room.
// The compressed stream of a CCOB bundle or of a kpack blob, decompressed in pieces.
#include "base/result.hpp"
#include "content/rope.hpp"
#include <cstdint>
#include <memory>
#include <string_view>

namespace quarry::gpu {

enum class Method : std::uint8_t { zlib, zstd };

/// Decompresses one stream from front to back. Memory: a window of at most 128 MiB that the stream asks for, and
/// 128 KiB for each direction.
class Unpacker {
public:
  virtual ~Unpacker() = default;
  /// The next bytes, valid until the next call; empty at the end of the stream. corrupt G101 if the stream is damaged
  /// or ends too early.
  virtual Result<std::string_view> next() = 0;
  /// Packed bytes that the stream has used so far.
  virtual std::uint64_t consumed() const = 0;
};

/// `packed` begins with the stream; bytes behind its end are not touched.
std::unique_ptr<Unpacker> unpack(Method method, content::Rope packed);

} // namespace quarry::gpu
