#include "codec/compression_work.hpp"

#include "thread/beside.hpp"
#include "thread/guard.hpp"
#include <algorithm>

namespace quarry::codec {

struct Permits::State {
  State(unsigned count, std::uint64_t bytes) : free(count), free_bytes(bytes) {}
  std::mutex mutex;
  unsigned free;
  std::uint64_t free_bytes;
  BufferPools pools;
};

Permits::Permits(unsigned count, std::uint64_t bytes)
    : state_(std::make_unique<State>(std::min(count, k_permits_max), bytes)) {}
Permits::~Permits() = default;

bool Permits::try_take(std::uint64_t bytes) {
  std::lock_guard lock(state_->mutex);
  if (state_->free == 0 || bytes > state_->free_bytes) return false;
  --state_->free;
  state_->free_bytes -= bytes;
  return true;
}
void Permits::give_back(std::uint64_t bytes) {
  std::lock_guard lock(state_->mutex);
  ++state_->free;
  state_->free_bytes += bytes;
}

std::shared_ptr<Permits> permits_for(unsigned threads) {
  if (threads <= 1) return nullptr;
  auto count = std::min(threads + 1, Permits::k_permits_max);
  return std::make_shared<Permits>(count, count * Permits::k_bytes_each);
}

Buffer BufferPool::take(std::size_t capacity) {
  {
    std::lock_guard lock(mutex_);
    for (auto& buffer : free_)
      if (buffer.capacity >= capacity) {
        std::swap(buffer, free_.back());
        auto taken = std::move(free_.back());
        free_.pop_back();
        kept_ -= taken.capacity;
        taken.size = 0;
        return taken;
      }
    free_.clear(); // too small, all of them
    kept_ = 0;
  }
  return {std::make_unique_for_overwrite<std::byte[]>(capacity), capacity, 0};
}

void BufferPool::give_back(Buffer buffer) {
  std::lock_guard lock(mutex_);
  if (kept_ + buffer.capacity > k_kept_max) return;
  kept_ += buffer.capacity;
  free_.push_back(std::move(buffer));
}

Ordered::Ordered(const CodecOptions& options, std::function<Result<void>(Buffer)> deliver)
    : permits_(options.permits || options.workers <= 1 ? options.permits : permits_for(options.workers)),
      pools_(permits_ ? &permits_->state().pools : &own_), deliver_(std::move(deliver)) {}

Result<std::optional<Permit>> Ordered::reserve(std::uint64_t bytes) {
  while (!permits_ || !permits_->try_take(bytes)) {
    if (pending_.empty()) return std::optional<Permit>();
    TRY_DO(deliver_first());
  }
  return std::optional<Permit>(Permit(*permits_, bytes));
}

void Ordered::start(Permit permit, std::function<Result<Buffer>()> task) {
  pending_.push_back({std::move(permit), run_beside([task = std::move(task)] { return guarded(task); })});
}

Result<void> Ordered::deliver_first() {
  auto first = std::move(pending_.front());
  pending_.pop_front();
  TRY(auto done, first.result.get());
  return deliver_(std::move(done));
}

Result<void> Ordered::drain() {
  while (!pending_.empty()) TRY_DO(deliver_first());
  return {};
}

} // namespace quarry::codec
