#pragma once
// Memory for parts, bounded over all transfers of a store: no slab, no part. A slab is only taken by whoever can fill
// and send it without another one, so waiting ends.
#include "content/rope.hpp"
#include "sys/memory.hpp"
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

namespace quarry::s3 {

class Slabs : public std::enable_shared_from_this<Slabs> {
public:
  explicit Slabs(std::uint64_t bytes_max) : left_(bytes_max), bytes_max_(bytes_max) {}

  using Slab = std::shared_ptr<std::span<std::byte>>;
  /// Waits until `size` bytes are free; at most the whole bound at once. Freed by the last owner.
  Slab take(std::size_t size) {
    std::unique_lock lock(mutex_);
    free_.wait(lock, [&] { return left_ >= size; });
    left_ -= size;
    sys::Bytes bytes;
    if (size == kept_size_ && !kept_.empty()) {
      bytes = std::move(kept_.back());
      kept_.pop_back();
    }
    if (size != kept_size_ && size >= k_worth_keeping) kept_.clear(); // slabs of another size would count twice
    lock.unlock();
    if (!bytes) bytes = sys::allocate_bytes(size);
    auto* raw = bytes.get();
    return {new std::span<std::byte>(bytes.release(), size), [self = shared_from_this(), raw, size](auto* slab) {
              self->give_back(sys::Bytes(raw), size);
              delete slab;
            }};
  }
  std::uint64_t bytes_max() const { return bytes_max_; }

private:
  void give_back(sys::Bytes bytes, std::size_t size) {
    std::lock_guard lock(mutex_);
    left_ += size;
    if (size >= k_worth_keeping) { // touched pages cost no more faults
      if (size != kept_size_) kept_.clear();
      kept_size_ = size;
      kept_.push_back(std::move(bytes));
    }
    free_.notify_all();
  }
  static constexpr std::size_t k_worth_keeping = 1u << 20;
  std::mutex mutex_;
  std::condition_variable free_;
  std::uint64_t left_, bytes_max_;
  std::size_t kept_size_ = 0;
  std::vector<sys::Bytes> kept_;
};

/// The bytes of a slab as content: nothing is copied.
class SlabSource final : public content::Source {
public:
  SlabSource(Slabs::Slab slab, std::size_t size) : slab_(std::move(slab)), size_(size) {}
  std::uint64_t size() const override { return size_; }
  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const override {
    std::memcpy(into.data(), slab_->data() + offset, into.size());
    return {};
  }

private:
  Slabs::Slab slab_;
  std::size_t size_;
};

} // namespace quarry::s3
