#include "base/one_line.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <cstddef>
#include <fmt/core.h>

namespace quarry::text {

namespace {

bool is_plain(char c) { return c >= 0x20 && c < 0x7f; }

std::string shown_byte(char c) {
  switch (c) {
  case '\n': return "\\n";
  case '\r': return "\\r";
  case '\t': return "\\t";
  default: return fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
}

/// What is shown for the character of two or three bytes at the start of UTF-8 `text`; empty if it may stay.
std::string shown_character(std::string_view text) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(text[i])); };
  if (byte(0) == 0xc2 && byte(1) < 0xa0) return fmt::format("\\u{:04x}", byte(1)); // C1 controls
  if (byte(0) != 0xe2) return {};
  auto c = 0x2000u | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
  bool steers = c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  return steers ? fmt::format("\\u{:04x}", c) : std::string();
}

std::size_t length_of_character(char lead) {
  auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

std::string without_controls(std::string_view text) {
  std::string shown;
  bool utf8 = is_valid_utf8(text);
  for (std::size_t i = 0; i < text.size();) {
    auto length = utf8 ? length_of_character(text[i]) : 1;
    auto character = text.substr(i, length);
    auto instead = length == 1 ? (is_plain(text[i]) ? std::string() : shown_byte(text[i])) : shown_character(character);
    shown += instead.empty() ? character : std::string_view(instead);
    i += length;
  }
  return shown;
}

} // namespace

std::string one_line(std::string_view text) {
  auto shown = std::ranges::all_of(text, is_plain) ? std::string(text) : without_controls(text);
  shown = replace_all(shown, "##[", "# #[");
  auto begin = std::ranges::find_if(shown, [](char c) { return c > ' ' && c < 0x7f; });
  bool is_command = std::string_view(begin, shown.end()).starts_with("::");
  return is_command ? fmt::format("\"{}\"", shown) : shown;
}

} // namespace quarry::text
