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
  std::uint64_t block_bytes = 2u << 20;  ///< of one range once it is read in order
  unsigned ahead = 8;                    ///< blocks on their way for all that share: 16 MiB fill 4 Gbit/s at 32 ms
  unsigned ahead_least = 2;              ///< for each of them, however many there are
};

/// What sources that are read at the same time share: how much is read ahead, and its memory. Thread-safe.
class RangeShare {
public:
  explicit RangeShare(RangeLimits limits = {});
  ~RangeShare();
  struct State;
  State& state() { return *state_; }

private:
  std::unique_ptr<State> state_;
};

std::shared_ptr<const content::Source> make_ranged_source(std::uint64_t size, FetchRange fetch,
                                                          std::shared_ptr<RangeShare> share);

} // namespace quarry::store
