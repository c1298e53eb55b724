#pragma once
// Private to the room.
#include "content/rope.hpp"
#include "sys/file.hpp"
#include <cstdint>
#include <span>

namespace quarry::wheel {

/// A file that is being written, as the source of a rope: it has no name yet by which a rope could open it. The file
/// must live longer than the rope. A read behind its end fails with corrupt (W014).
class OpenFile final : public content::Source {
public:
  OpenFile(const sys::File& file, std::uint64_t size) : file_(file), size_(size) {}
  std::uint64_t size() const override { return size_; }
  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const override {
    TRY(auto n, file_.read_at(offset, into));
    if (n != into.size()) return fail(ErrorKind::corrupt, "W014", "the wheel became shorter while it was written");
    return {};
  }

private:
  const sys::File& file_;
  std::uint64_t size_;
};

} // namespace quarry::wheel
