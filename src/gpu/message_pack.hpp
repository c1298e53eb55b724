#pragma once
// Private to the room.
// A cursor over MessagePack (the specification at github.com/msgpack/msgpack). It reads what a table of contents needs
// and skips the rest without recursion.
#include <cstdint>
#include <optional>
#include <string>
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
  std::string_view rest() const { return bytes_; } ///< what was not read yet

private:
  struct Item;
  std::optional<Item> item() const;
  std::string_view bytes_;
};

/// Calls `take(key)` for each pair of a map. `take` reads the value, or returns false: then the value is skipped.
/// Returns false if the next value is not a map or ends too early.
template <class Take> bool each_pair(MessagePack& in, const Take& take) {
  auto pairs = in.map();
  if (!pairs) return false;
  for (std::uint64_t i = 0; i < *pairs; ++i) {
    auto key = in.text();
    if (!key && !in.skip()) return false;
    if ((!key || !take(*key)) && !in.skip()) return false;
  }
  return true;
}

/// As packers write them: as short as possible.
std::string packed_map(std::uint32_t pairs);      ///< the pairs follow
std::string packed_array(std::uint32_t elements); ///< the elements follow
std::string packed_number(std::uint64_t value);

} // namespace quarry::gpu
