#pragma once
// The parts of a file that are kept while it flows by once. It is read like the file where it has the bytes.
#include "content/spool.hpp"
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace quarry::content {

/// Kept bytes stand in a spool, one behind the other. append() and skip() are for one thread; read() is for any thread
/// once the file is complete.
class Excerpt final : public Source {
public:
  struct Range {
    std::uint64_t begin = 0, end = 0;
  };

  explicit Excerpt(std::shared_ptr<Spool> spool) : spool_(std::move(spool)) {}
  /// The next bytes of the file are kept. Fails as Spool::append() does.
  Result<void> append(std::span<const std::byte> bytes);
  void skip(std::uint64_t count); ///< the next `count` bytes of the file are not kept

  std::uint64_t size() const override { return size_; } ///< of the file, with what was skipped
  /// Fails with unavailable (D019) where bytes were skipped: read the file itself then.
  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const override;
  /// A read has failed because its bytes were skipped: what was found out may be wrong.
  bool missed() const { return missed_; }
  std::vector<Range> skipped() const; ///< in the order of the file

private:
  struct Part {
    std::uint64_t begin = 0, end = 0; ///< in the file
    std::uint64_t at = 0;             ///< in the spool
  };
  std::shared_ptr<Spool> spool_;
  std::vector<Part> parts_; ///< in the order of the file
  std::uint64_t size_ = 0;
  mutable std::atomic<bool> missed_ = false;
};

} // namespace quarry::content
