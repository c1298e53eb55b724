#pragma once
// Private to the room.
// A cursor over MessagePack (the specification at github.com/msgpack/msgpack). It reads what a table of contents needs
// and skips the rest without recursion.
#include <cstdint>
#include <optional>
#include <string_view>

namespace quarry::gpu {

class MessagePack {
public:
  explicit MessagePack(std::string_view bytes) : bytes_(bytes) {}

  // Each reads one value of its type and moves behind it. If the next value has another type, or the bytes end too
  // early, it returns nullopt and stays where it is.
  std::optional<std::uint64_t> map();   ///< the number of pairs, which follow
  std::optional<std::uint64_t> array(); ///< the number of elements, which follow
  std::optional<std::string_view> text();
  std::optional<std::uint64_t> number(); ///< not negative

  /// Moves behind the next value, with everything in it. Returns false if the bytes end too early. Time: linear in the
  /// bytes that are skipped.
  bool skip();

private:
  struct Item;
  std::optional<Item> item() const;
  std::string_view bytes_;
};

} // namespace quarry::gpu
