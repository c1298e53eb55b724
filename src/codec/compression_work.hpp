#pragma once
// Private to the room.
// Frames of a stream on threads of their own, within the bounds of permits, and the memory they work in. Inside this
// room only.
#include "codec/compression.hpp"
#include <deque>
#include <future>
#include <mutex>
#include <optional>
#include <vector>

namespace quarry::codec {

/// Memory that is neither zeroed nor returned to the system between frames: both cost as much as a fifth of decoding
/// one.
struct Buffer {
  std::unique_ptr<std::byte[]> memory;
  std::size_t capacity = 0, size = 0;
  std::span<std::byte> all() { return {memory.get(), capacity}; }
  std::span<const std::byte> bytes() const { return {memory.get(), size}; }
};
/// For buffers of one use, which become alike: what is too small goes when a larger one is wanted. Thread-safe.
class BufferPool {
public:
  static constexpr std::size_t k_kept_max = 64u << 20; // eight of our frames; more goes back to the system
  Buffer take(std::size_t capacity);
  void give_back(Buffer buffer);

private:
  std::mutex mutex_;
  std::size_t kept_ = 0;
  std::vector<Buffer> free_;
};

/// Apart, because of a packed one fewer pages are ever touched.
struct BufferPools {
  BufferPool packed, plain;
};

class Permit { ///< one that was taken; gives itself back
public:
  Permit(Permits& permits, std::uint64_t bytes) : permits_(&permits), bytes_(bytes) {}
  Permit(Permit&& other) noexcept : permits_(std::exchange(other.permits_, nullptr)), bytes_(other.bytes_) {}
  Permit& operator=(Permit&&) = delete;
  ~Permit() {
    if (permits_) permits_->give_back(bytes_);
  }

private:
  Permits* permits_;
  std::uint64_t bytes_;
};

/// Frames on their way: results come out in the order of start(), as many at once as permits allow.
class Ordered {
public:
  Ordered(const CodecOptions& options, std::function<Result<void>(Buffer)> deliver);
  /// Room for work in so many bytes; delivers what is pending, oldest first, until there is some. nullopt: there is no
  /// room, and nothing of this stream is pending any more.
  Result<std::optional<Permit>> reserve(std::uint64_t bytes);
  void start(Permit permit, std::function<Result<Buffer>()> task);
  Result<void> drain();
  BufferPool& packed() { return pools_->packed; } ///< shared by all that share the permits
  BufferPool& plain() { return pools_->plain; }

private:
  struct Pending { // the thread is waited for before its permit goes
    Permit permit;
    std::future<Result<Buffer>> result;
  };
  Result<void> deliver_first();
  std::shared_ptr<Permits> permits_;
  BufferPools own_;
  BufferPools* pools_;
  std::function<Result<void>(Buffer)> deliver_;
  std::deque<Pending> pending_;
};

} // namespace quarry::codec
