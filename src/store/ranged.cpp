#include "store/ranged.hpp"

#include "sys/memory.hpp"
#include "thread/beside.hpp"
#include "thread/guard.hpp"
#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <fmt/core.h>
#include <future>
#include <mutex>
#include <vector>

namespace quarry::store {

Unexpected replaced(const std::string& key) {
  return fail(ErrorKind::corrupt, "K022", fmt::format("`{}` was replaced while it was read", key),
              "run the command again: it reads the new object");
}

namespace {

/// Memory of blocks that were read, for the next ones: pages that were touched once cost no more faults.
class Recycled {
public:
  explicit Recycled(std::size_t size) : size_(size) {
    kept_.reserve(k_kept_max); // give_back() is called by a destructor and must not allocate
  }
  sys::Bytes take(std::size_t size) {
    std::lock_guard lock(mutex_);
    if (size != size_ || kept_.empty()) return sys::allocate_bytes(size);
    auto bytes = std::move(kept_.back());
    kept_.pop_back();
    return bytes;
  }
  void give_back(sys::Bytes bytes, std::size_t size) {
    std::lock_guard lock(mutex_);
    if (size == size_ && kept_.size() < k_kept_max) kept_.push_back(std::move(bytes));
  }

private:
  static constexpr std::size_t k_kept_max = 2; // besides those in use
  std::size_t size_;
  std::mutex mutex_;
  std::vector<sys::Bytes> kept_;
};
} // namespace

struct RangeShare::State {
  explicit State(RangeLimits given) : limits(given), memory(given.block_bytes) {}
  const RangeLimits limits;
  std::atomic<unsigned> readers = 0; // that read whole blocks in order
  Recycled memory;
  unsigned ahead() const { return std::max(limits.ahead_least, limits.ahead / std::max(1u, readers.load())); }
};
RangeShare::RangeShare(RangeLimits limits) : state_(std::make_unique<State>(limits)) {}
RangeShare::~RangeShare() = default;

namespace {

struct Block {
  Block(std::shared_ptr<RangeShare> s, std::uint64_t at, std::uint64_t size)
      : share(std::move(s)), begin(at), length(size), bytes(share->state().memory.take(size)) {}
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { share->state().memory.give_back(std::move(bytes), length); }
  std::uint64_t end() const { return begin + length; }
  std::shared_ptr<RangeShare> share;
  std::uint64_t begin, length;
  sys::Bytes bytes;
};
using Loading = std::shared_future<Result<std::shared_ptr<const Block>>>;

/// One reader's part in what all readers of a share read ahead.
class Part {
public:
  explicit Part(std::shared_ptr<RangeShare> share) : share_(std::move(share)) {}
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  ~Part() { count(false); }

  const std::shared_ptr<RangeShare>& share() const { return share_; }
  const RangeLimits& limits() const { return share_->state().limits; }
  unsigned ahead() const { return share_->state().ahead(); }
  /// Whether this is one of those who share what is read ahead.
  void count(bool reads) {
    if (reads != counted_) share_->state().readers += reads ? 1u : ~0u;
    counted_ = reads;
  }

private:
  std::shared_ptr<RangeShare> share_;
  bool counted_ = false;
};

/// Reads one object in blocks, some of them ahead. Not thread-safe.
class BlockReader {
public:
  BlockReader(std::uint64_t size, FetchRange fetch, std::shared_ptr<RangeShare> share)
      : size_(size), fetch_(std::move(fetch)), part_(std::move(share)), next_bytes_(limits().first_bytes) {}

  std::uint64_t size() const { return size_; }

  /// Returns the block that holds `offset`; waits until it is read. A block that is read for it alone has at least
  /// `wanted` bytes, if the limits and the object allow it.
  Result<std::shared_ptr<const Block>> block_at(std::uint64_t offset, std::size_t wanted) {
    if (current_ && offset >= current_->begin && offset < current_->end()) return current_;
    bool any = current_ != nullptr, in_order = any ? offset == current_->end() : offset == 0 && planned_ == 0;
    bool skips = any && !in_order && offset > current_->end() && offset < planned_; // to what is on its way already
    current_.reset();                                                               // its memory serves what comes
    while (skips && ahead_.front().end <= offset) ahead_.pop_front();
    in_order = in_order || skips;
    if (!in_order) restart(offset);
    if (ahead_.empty()) plan_one(std::max<std::uint64_t>(wanted, next_bytes_));
    if (in_order && any) next_bytes_ = std::min(limits().block_bytes, next_bytes_ * 4);
    // Several ranges at once only when whole blocks are wanted: before that, what comes next is a guess.
    if (next_bytes_ == limits().block_bytes) {
      part_.count(planned_ < size_);
      while (ahead_.size() < part_.ahead() && planned_ < size_) plan_one(next_bytes_);
    }
    auto loading = std::move(ahead_.front().loading);
    ahead_.pop_front();
    auto loaded = loading.get();
    if (!loaded) { // what comes next is planned anew
      restart(size_);
      return fail(std::move(loaded).error());
    }
    current_ = std::move(*loaded);
    return current_;
  }

private:
  struct Planned {
    std::uint64_t end;
    Loading loading;
  };

  const RangeLimits& limits() const { return part_.limits(); }

  void restart(std::uint64_t offset) {
    ahead_.clear();
    planned_ = offset;
    next_bytes_ = limits().first_bytes;
    part_.count(false);
  }

  void plan_one(std::uint64_t wanted) {
    auto begin = planned_,
         length = std::min({wanted, std::max(limits().block_bytes, limits().first_bytes), size_ - planned_});
    planned_ = begin + length;
    auto load = [fetch = fetch_, share = part_.share(), begin, length] {
      return guarded([&]() -> Result<std::shared_ptr<const Block>> {
        auto block = std::make_shared<Block>(share, begin, length);
        TRY_DO(fetch(begin, std::span(block->bytes.get(), length)));
        return std::shared_ptr<const Block>(std::move(block));
      });
    };
    bool at_once = ahead_.empty() && next_bytes_ < limits().block_bytes;
    auto loading = at_once ? std::async(std::launch::deferred, std::move(load)) : run_beside(std::move(load));
    ahead_.push_back({planned_, loading.share()});
  }

  std::uint64_t size_;
  FetchRange fetch_;
  Part part_;
  std::shared_ptr<const Block> current_;
  std::deque<Planned> ahead_;              ///< in order, without a gap behind the current block
  std::uint64_t planned_ = 0, next_bytes_; ///< where the next range begins, and its size
};

/// One reader at a time; others wait. A rope that several threads read at distant places fetches each place by itself.
class RangedSource final : public content::Source {
public:
  RangedSource(std::uint64_t size, FetchRange fetch, std::shared_ptr<RangeShare> share)
      : blocks_(size, std::move(fetch), std::move(share)) {}

  std::uint64_t size() const override { return blocks_.size(); }

  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const override {
    std::lock_guard lock(mutex_);
    while (!into.empty()) {
      TRY(auto block, blocks_.block_at(offset, into.size()));
      auto skip = offset - block->begin;
      auto take = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), block->length - skip));
      std::memcpy(into.data(), block->bytes.get() + skip, take);
      into = into.subspan(take);
      offset += take;
    }
    return {};
  }

private:
  mutable std::mutex mutex_;
  mutable BlockReader blocks_; ///< guarded by mutex_
};

} // namespace

std::shared_ptr<const content::Source> make_ranged_source(std::uint64_t size, FetchRange fetch,
                                                          std::shared_ptr<RangeShare> share) {
  return std::make_shared<RangedSource>(size, std::move(fetch), std::move(share));
}

} // namespace quarry::store
