#include "store/ranged.hpp"

#include "sys/memory.hpp"
#include <algorithm>
#include <cstring>
#include <deque>
#include <future>
#include <mutex>
#include <vector>

namespace quarry::store {

namespace {

/// Memory of blocks that were read, for the next ones: pages that were touched once cost no more faults.
class Recycled : public std::enable_shared_from_this<Recycled> {
public:
  std::shared_ptr<std::byte[]> take(std::size_t size) {
    sys::Bytes bytes;
    {
      std::lock_guard lock(mutex_);
      if (size == size_ && !kept_.empty()) {
        bytes = std::move(kept_.back());
        kept_.pop_back();
      }
    }
    if (!bytes) bytes = sys::allocate_bytes(size);
    return {bytes.release(),
            [self = shared_from_this(), size](std::byte* raw) { self->give_back(sys::Bytes(raw), size); }};
  }

private:
  void give_back(sys::Bytes bytes, std::size_t size) {
    std::lock_guard lock(mutex_);
    if (size != size_) kept_.clear();
    size_ = size;
    if (kept_.size() < k_kept_max) kept_.push_back(std::move(bytes));
  }
  static constexpr std::size_t k_kept_max = 2; // besides those on their way
  std::mutex mutex_;
  std::size_t size_ = 0;
  std::vector<sys::Bytes> kept_;
};

struct Block {
  std::uint64_t begin = 0, length = 0;
  std::shared_ptr<std::byte[]> bytes;
  std::uint64_t end() const { return begin + length; }
};
using Loading = std::shared_future<Result<std::shared_ptr<const Block>>>;

/// One reader at a time; others wait. A rope that several threads read at distant places fetches each place by itself.
class RangedSource final : public content::Source {
public:
  RangedSource(std::uint64_t size, FetchRange fetch, RangeLimits limits)
      : size_(size), fetch_(std::move(fetch)), limits_(limits), next_bytes_(limits.first_bytes) {}

  std::uint64_t size() const override { return size_; }

  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const override {
    std::lock_guard lock(mutex_);
    while (!into.empty()) {
      TRY(auto block, block_at(offset, into.size()));
      auto skip = offset - block->begin;
      auto take = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), block->length - skip));
      std::memcpy(into.data(), block->bytes.get() + skip, take);
      into = into.subspan(take);
      offset += take;
    }
    return {};
  }

private:
  Result<std::shared_ptr<const Block>> block_at(std::uint64_t offset, std::size_t wanted) const {
    if (current_ && offset >= current_->begin && offset < current_->end()) return current_;
    bool in_order = current_ ? offset == current_->end() : offset == 0 && planned_ == 0;
    if (!in_order) {
      ahead_.clear();
      planned_ = offset;
      next_bytes_ = limits_.first_bytes;
    }
    if (ahead_.empty()) plan_one(std::max<std::uint64_t>(wanted, next_bytes_));
    if (in_order && current_) next_bytes_ = std::min(limits_.block_bytes, next_bytes_ * 4);
    // Several ranges at once only when whole blocks are wanted: before that, what comes next is a guess.
    while (next_bytes_ == limits_.block_bytes && ahead_.size() < limits_.ahead && planned_ < size_)
      plan_one(next_bytes_);
    auto loading = std::move(ahead_.front());
    ahead_.pop_front();
    auto loaded = loading.get();
    if (!loaded) { // what comes next is planned anew
      ahead_.clear();
      current_.reset();
      planned_ = size_;
      return fail(std::move(loaded).error());
    }
    current_ = std::move(*loaded);
    return current_;
  }

  void plan_one(std::uint64_t wanted) const {
    auto begin = planned_,
         length = std::min({wanted, std::max(limits_.block_bytes, limits_.first_bytes), size_ - planned_});
    planned_ = begin + length;
    auto load = [fetch = fetch_, memory = memory_, begin, length]() -> Result<std::shared_ptr<const Block>> {
      auto block = std::make_shared<Block>();
      block->begin = begin;
      block->length = length;
      block->bytes = memory->take(length);
      TRY_DO(fetch(begin, std::span(block->bytes.get(), length)));
      return std::shared_ptr<const Block>(std::move(block));
    };
    bool at_once = ahead_.empty() && next_bytes_ < limits_.block_bytes;
    ahead_.push_back(std::async(at_once ? std::launch::deferred : std::launch::async, std::move(load)).share());
  }

  std::uint64_t size_;
  FetchRange fetch_;
  RangeLimits limits_;
  std::shared_ptr<Recycled> memory_ = std::make_shared<Recycled>();
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Block> current_;
  mutable std::deque<Loading> ahead_;
  mutable std::uint64_t planned_ = 0, next_bytes_;
};

} // namespace

std::shared_ptr<const content::Source> make_ranged_source(std::uint64_t size, FetchRange fetch, RangeLimits limits) {
  return std::make_shared<RangedSource>(size, std::move(fetch), limits);
}

} // namespace quarry::store
