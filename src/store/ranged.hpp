#pragma once
// Content that is fetched in ranges: little at first, more when it is read in order, then several ranges at once ahead
// of the reader. Private to the backends that are reached by HTTP.
#include "content/rope.hpp"
#include <functional>
#include <memory>

namespace quarry::store {

/// Fills the span with the object's bytes at `offset`; the object is pinned by its etag, so other bytes are an error.
using FetchRange = std::function<Result<void>(std::uint64_t offset, std::span<std::byte> into)>;

struct RangeLimits {
  std::uint64_t first_bytes = 64u << 10; ///< an archive's directory or a METADATA is rarely more
  std::uint64_t block_bytes = 8u << 20;  ///< of one range once it is read in order
  unsigned ahead = 3;                    ///< blocks on their way: 24 MiB
};

std::shared_ptr<const content::Source> make_ranged_source(std::uint64_t size, FetchRange fetch,
                                                          RangeLimits limits = {});

} // namespace quarry::store
