#pragma once
// Private to the room.
// Small values read one after the other from a rope without one system call each: a cached block that moves along.
#include "base/result.hpp"
#include "content/rope.hpp"
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace quarry::elf {

class Window {
public:
  explicit Window(const content::Rope& file) : file_(file) {}
  /// The value at `offset` of the file; corrupt E001 past its end. Not thread-safe.
  template <class T> Result<T> at(std::uint64_t offset) {
    if (offset < begin_ || offset - begin_ > block_.size() || block_.size() - (offset - begin_) < sizeof(T))
      TRY_DO(move_to(offset, sizeof(T)));
    T value;
    std::memcpy(&value, block_.data() + (offset - begin_), sizeof(T));
    return value;
  }

private:
  Result<void> move_to(std::uint64_t offset, std::size_t need) {
    constexpr std::uint64_t k_block = 64u << 10; // one readahead of a page cache
    if (offset > file_.size() || file_.size() - offset < need)
      return fail(ErrorKind::corrupt, "E001", "a table reaches past the end of the file");
    block_.resize(static_cast<std::size_t>(std::min(k_block, file_.size() - offset)));
    begin_ = offset;
    return file_.read(offset, std::as_writable_bytes(std::span(block_)));
  }
  content::Rope file_;
  std::uint64_t begin_ = 0;
  std::string block_;
};

} // namespace quarry::elf
