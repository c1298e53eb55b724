#pragma once
// Private to the room.
// Raw deflate (RFC 1951) to chunks, bounded in memory and work. Internal to the reader.
#include "base/result.hpp"
#include "content/rope.hpp"
#include "zip/reader.hpp"
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace quarry::zip {

struct Inflating {
  std::function<Result<void>(std::span<const std::byte>)> tap; ///< gets chunks of at most 1 MiB
  Cuts* cuts = nullptr;                                        ///< if not null, they are looked for
  std::span<std::vector<std::byte>> buffers = {};              ///< as of Reading
};

/// Inflates all of `packed`, which must be one stream, end exactly there and give exactly `size` bytes. Stops at the
/// first byte too many. The error's message says what is wrong with the data (corrupt Z005).
Result<void> inflate(const content::Rope& packed, std::uint64_t size, const Inflating& into);

} // namespace quarry::zip
