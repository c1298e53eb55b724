#pragma once
// Bytes that arrive once, from front to back, and are then read at any place: a file without a name, gone with the last
// who holds it. Appending is for one thread, reading for any once that is done.
#include "content/rope.hpp"
#include "sys/file.hpp"
#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace quarry::content {

class Spool final : public Source {
public:
  explicit Spool(sys::File file) : file_(std::move(file)) {}
  /// `directory` must exist and have room. D00x.
  static Result<std::shared_ptr<Spool>> create(const std::string& directory);
  std::uint64_t size() const override { return size_; }
  Result<void> append(std::span<const std::byte> bytes);
  /// Forgets what stands behind the first `size` bytes; the next append() goes there. Ropes over those bytes must not
  /// exist any more.
  void shrink(std::uint64_t size) { size_ = std::min(size_, size); }
  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const override;

private:
  sys::File file_;
  std::uint64_t size_ = 0;
};

/// Spools that several threads use one after the other: one file without a name for each thread, not one for each thing
/// that is kept. Thread-safe.
class SpoolPool {
public:
  explicit SpoolPool(std::string directory) : directory_(std::move(directory)) {}
  /// One that nobody else appends to until it is given back. D00x.
  Result<std::shared_ptr<Spool>> take();
  void give_back(std::shared_ptr<Spool> spool);

private:
  std::string directory_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Spool>> free_;
};

} // namespace quarry::content
