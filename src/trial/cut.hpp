#pragma once
// Private to the room.
#include <string>
#include <string_view>

namespace quarry::trial {

/// The first `max` bytes without a broken character, and an ellipsis if that is not all of it.
inline std::string cut(std::string_view text, std::size_t max) {
  if (text.size() <= max) return std::string(text);
  while (max > 0 && (static_cast<unsigned char>(text[max]) & 0xC0) == 0x80) --max;
  return std::string(text.substr(0, max)) + "…";
}

} // namespace quarry::trial
