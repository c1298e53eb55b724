#pragma once
// Content that is far away and read in parts, some of them several times: each byte is fetched once.
#include "content/rope.hpp"
#include "sys/file.hpp"
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace quarry::content {

/// Thread-safe; threads wait for each other.
class Cached final : public Source {
public:
  /// What was fetched is kept in a file without a name below `directory`, which must exist and have room for it. D00x.
  static Result<std::shared_ptr<Cached>> create(Rope far, const std::string& directory);
  Cached(Rope far, sys::File kept) : far_(std::move(far)), file_(std::move(kept)) {}

  std::uint64_t size() const override { return far_.size(); }
  /// Fetches what is missing, 64 KiB at least. A gap of up to 256 KiB behind what is there is fetched as well: bytes
  /// that follow each other come faster than another request. Stops between two pieces when the program is interrupted
  /// (cancelled D006); fails with the errors of `far`, and the next read fetches again.
  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const override;
  /// Why the first read failed; nullopt if none did. For callers of readers that take a failed read for damage.
  std::optional<Error> failure() const;

private:
  struct Range {
    std::uint64_t begin, end;
  };
  Result<void> provide(Range wanted) const;
  Result<void> fetch(Range missing) const;
  void keep(Range fetched) const;

  Rope far_;
  sys::File file_;
  mutable std::mutex mutex_;
  mutable std::map<std::uint64_t, std::uint64_t> kept_; ///< begin -> end of what is in `file_`; none touches another
  mutable std::optional<Error> failure_;
};

} // namespace quarry::content
