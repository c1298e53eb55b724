#pragma once
// Memory for uploads: a pool with one bound for all transfers of a store (S3Tuning::memory_bytes, 48 MiB). The bound
// covers the slabs in use and those that are kept for the next part. This is the back-pressure of uploads: a thread
// waits until enough is free. A caller that holds a slab must not wait for another one before it releases the first:
// threads could wait for each other forever.
#include "content/rope.hpp"
#include "sys/memory.hpp"
#include "thread/guard.hpp"
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace quarry::s3 {

/// Must be held by a std::shared_ptr.
class Slabs : public std::enable_shared_from_this<Slabs> {
public:
  explicit Slabs(std::uint64_t bytes_max) : left_(bytes_max), bytes_max_(bytes_max) {}

  using Slab = std::shared_ptr<std::span<std::byte>>;
  /// Blocks until `size` bytes are free and returns them; an interruption does not end the wait. `size` must not exceed
  /// bytes_max(). The memory is released when the last copy of the returned pointer is destroyed. Fails with
  /// resource_exhausted (D003) if the system does not give the memory. Thread-safe.
  Result<Slab> take(std::size_t size) {
    return guarded([&]() -> Result<Slab> {
      auto bytes = reserved(size);
      auto slab = with_memory(bytes, size);
      auto* raw = bytes.release();
      // If std::shared_ptr cannot be made for want of memory, it runs this function, too.
      return Slab(slab.release(), [self = shared_from_this(), raw, size](auto* span) {
        self->give_back(sys::Bytes(raw), size);
        delete span;
      });
    });
  }
  std::uint64_t bytes_max() const { return bytes_max_; }
  /// Bytes of all slabs that exist now, in use or kept; never more than bytes_max(). Thread-safe.
  std::uint64_t bytes_held() {
    std::lock_guard lock(mutex_);
    return in_memory();
  }

private:
  std::uint64_t in_memory() const { return bytes_max_ - left_ + kept_.size() * kept_size_; }
  /// Waits for `size` bytes, and counts them as used. Returns kept memory of this size, or nullptr.
  sys::Bytes reserved(std::size_t size) {
    std::unique_lock lock(mutex_);
    free_.wait(lock, [&] { return left_ >= size; });
    left_ -= size;
    sys::Bytes bytes;
    if (size == kept_size_ && !kept_.empty()) {
      bytes = std::move(kept_.back());
      kept_.pop_back();
    }
    if (size != kept_size_ && size >= k_worth_keeping) kept_.clear(); // slabs of another size are wanted now
    while (!kept_.empty() && in_memory() > bytes_max_) kept_.pop_back();
    return bytes;
  }
  std::unique_ptr<std::span<std::byte>> with_memory(sys::Bytes& bytes, std::size_t size) {
    try {
      if (!bytes) bytes = sys::allocate_bytes(size);
      return std::make_unique<std::span<std::byte>>(bytes.get(), size);
    } catch (...) { // what nobody got would be missing for ever, and later uploads would wait for it
      std::lock_guard lock(mutex_);
      left_ += size;
      free_.notify_all();
      throw;
    }
  }
  void give_back(sys::Bytes bytes, std::size_t size) noexcept {
    std::lock_guard lock(mutex_);
    left_ += size;
    free_.notify_all();
    if (size < k_worth_keeping) return;
    // Memory that was used before costs no page faults.
    if (size != kept_size_) kept_.clear();
    kept_size_ = size;
    try {
      kept_.push_back(std::move(bytes));
    } catch (const std::bad_alloc&) { // then it is not kept
    }
  }
  static constexpr std::size_t k_worth_keeping = 1u << 20;
  std::mutex mutex_;
  std::condition_variable free_;
  std::uint64_t left_, bytes_max_;
  std::size_t kept_size_ = 0;
  std::vector<sys::Bytes> kept_;
};

/// The first `size` bytes of a slab as content, without a copy. Keeps the slab alive.
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
