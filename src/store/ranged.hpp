#pragma once
// Private to the room.
// Content that is fetched in ranges over HTTP. Ranges are small at first and grow while the content is read in order;
// then they are fetched ahead of the reader by several threads. Private to the s3 and http backends.
#include "content/rope.hpp"
#include <functional>
#include <memory>

namespace quarry::store {

/// Fills the span with the object's bytes at `offset`. Must fail if the object is no longer the version that was
/// opened. Called by several threads at once.
using FetchRange = std::function<Result<void>(std::uint64_t offset, std::span<std::byte> into)>;

/// corrupt K022: the object is another one now.
Unexpected replaced(const std::string& key);

struct RangeLimits {
  std::uint64_t first_bytes = 64u << 10; ///< the smallest range, except at an object's end; most zip directories fit
  std::uint64_t block_bytes = 2u << 20;  ///< one range of content that is read in order
  /// Blocks in flight that the sources of a RangeShare divide among them (4 Gbit/s at 32 ms): with n sources that read
  /// in order now, each has max(ahead_least, ahead / n). When another source begins, there are more for a short time.
  unsigned ahead = 8;
  unsigned ahead_least = 2; ///< so with many sources there are more than `ahead` in all
};

/// Divides what is read ahead among all sources of a store. Keeps the memory of up to 2 blocks that were read, and uses
/// it for the next ones. Thread-safe.
class RangeShare {
public:
  explicit RangeShare(RangeLimits limits = {});
  ~RangeShare();
  struct State;
  State& state() { return *state_; }

private:
  std::unique_ptr<State> state_;
};

/// Returns a source of `size` bytes. Its read() blocks until the range has arrived; it fails with the errors of
/// `fetch`, which are not kept: the next read fetches again. read() may be called by several threads; they wait for
/// each other. A read of a range in flight waits for that range and for those before it. The source drops all ranges in
/// flight, after they have arrived, in three cases: at a read elsewhere, when a read fails, and in the destructor.
/// Keeps the current block and the blocks in flight in memory.
std::shared_ptr<const content::Source> make_ranged_source(std::uint64_t size, FetchRange fetch,
                                                          std::shared_ptr<RangeShare> share);

} // namespace quarry::store
