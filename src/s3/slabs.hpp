#pragma once
// Memory for parts, bounded over all transfers of a store: no slab, no part. A slab is only taken by whoever can fill
// and send it without another one, so waiting ends.
#include "content/rope.hpp"
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

  using Slab = std::shared_ptr<std::vector<std::byte>>;
  /// Waits until `size` bytes are free; at most the whole bound at once. Freed by the last owner.
  Slab take(std::size_t size) {
    std::unique_lock lock(mutex_);
    free_.wait(lock, [&] { return left_ >= size; });
    left_ -= size;
    std::vector<std::byte> bytes;
    for (auto it = kept_.begin(); it != kept_.end(); ++it)
      if (it->size() == size) {
        bytes = std::move(*it);
        kept_.erase(it);
        break;
      }
    if (bytes.empty() && size >= k_worth_keeping) kept_.clear(); // slabs of another size would count twice
    lock.unlock();
    bytes.resize(size);
    return {new std::vector<std::byte>(std::move(bytes)), [self = shared_from_this(), size](auto* slab) {
              self->give_back(std::move(*slab), size);
              delete slab;
            }};
  }
  std::uint64_t bytes_max() const { return bytes_max_; }

private:
  void give_back(std::vector<std::byte> bytes, std::size_t size) {
    std::lock_guard lock(mutex_);
    left_ += size;
    if (size >= k_worth_keeping) kept_.push_back(std::move(bytes)); // touched pages cost no more faults
    free_.notify_all();
  }
  static constexpr std::size_t k_worth_keeping = 1u << 20;
  std::mutex mutex_;
  std::condition_variable free_;
  std::uint64_t left_, bytes_max_;
  std::vector<std::vector<std::byte>> kept_;
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
