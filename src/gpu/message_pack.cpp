#include "gpu/message_pack.hpp"

#include <cstdint>

namespace quarry::gpu {

enum class MessageKind : std::uint8_t { other, number, text, array, map };

/// One value without what it contains.
struct MessagePack::Item {
  MessageKind kind = MessageKind::other;
  std::uint64_t value = 0;  // of a number; the length of a text; the number of elements or pairs
  std::uint64_t header = 1; // bytes before the content
  std::uint64_t body = 0;   // bytes of content that are not values themselves
};

namespace {
std::optional<std::uint64_t> big_endian(std::string_view bytes, std::size_t at, std::size_t count) {
  if (bytes.size() < at + count) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}
constexpr std::size_t widths[] = {1, 2, 4, 8};
} // namespace

std::optional<MessagePack::Item> MessagePack::item() const {
  if (bytes_.empty()) return std::nullopt;
  auto tag = static_cast<unsigned char>(bytes_[0]);
  if (tag < 0x80) return Item{MessageKind::number, tag};
  if (tag < 0x90) return Item{MessageKind::map, tag & 0x0Fu};
  if (tag < 0xA0) return Item{MessageKind::array, tag & 0x0Fu};
  if (tag < 0xC0) return Item{MessageKind::text, tag & 0x1Fu, 1, tag & 0x1Fu};
  auto sized = [&](MessageKind kind, std::size_t width, std::uint64_t extra) -> std::optional<Item> {
    auto size = big_endian(bytes_, 1, width);
    if (!size) return std::nullopt;
    bool contains = kind == MessageKind::array || kind == MessageKind::map;
    return Item{kind, *size, 1 + width, contains ? 0 : *size + extra};
  };
  if (tag >= 0xC4 && tag <= 0xC6) return sized(MessageKind::other, widths[tag - 0xC4], 0); // bytes
  if (tag >= 0xC7 && tag <= 0xC9) return sized(MessageKind::other, widths[tag - 0xC7], 1); // extension, with its type
  if (tag == 0xCA) return Item{MessageKind::other, 0, 1, 4};                               // float
  if (tag == 0xCB) return Item{MessageKind::other, 0, 1, 8};
  if (tag >= 0xCC && tag <= 0xCF) {
    auto width = widths[tag - 0xCC];
    auto value = big_endian(bytes_, 1, width);
    return value ? std::optional(Item{MessageKind::number, *value, 1 + width}) : std::nullopt;
  }
  if (tag >= 0xD0 && tag <= 0xD3) return Item{MessageKind::other, 0, 1, widths[tag - 0xD0]}; // signed
  if (tag >= 0xD4 && tag <= 0xD8) return Item{MessageKind::other, 0, 2, std::uint64_t{1} << (tag - 0xD4)};
  if (tag >= 0xD9 && tag <= 0xDB) return sized(MessageKind::text, widths[tag - 0xD9], 0);
  if (tag == 0xDC || tag == 0xDD) return sized(MessageKind::array, widths[tag - 0xDC + 1], 0);
  if (tag == 0xDE || tag == 0xDF) return sized(MessageKind::map, widths[tag - 0xDE + 1], 0);
  return Item{}; // nil, false, true, a negative number of one byte, the tag that is never used
}

std::optional<std::uint64_t> MessagePack::map() {
  auto next = item();
  if (!next || next->kind != MessageKind::map) return std::nullopt;
  bytes_.remove_prefix(next->header);
  return next->value;
}

std::optional<std::uint64_t> MessagePack::array() {
  auto next = item();
  if (!next || next->kind != MessageKind::array) return std::nullopt;
  bytes_.remove_prefix(next->header);
  return next->value;
}

std::optional<std::uint64_t> MessagePack::number() {
  auto next = item();
  if (!next || next->kind != MessageKind::number) return std::nullopt;
  bytes_.remove_prefix(next->header);
  return next->value;
}

std::optional<std::string_view> MessagePack::text() {
  auto next = item();
  if (!next || next->kind != MessageKind::text || bytes_.size() - next->header < next->body) return std::nullopt;
  auto out = bytes_.substr(next->header, next->body);
  bytes_.remove_prefix(next->header + next->body);
  return out;
}

bool MessagePack::skip() {
  // At least one byte belongs to each value, so that more values than bytes cannot follow.
  for (std::uint64_t left = 1; left > 0; --left) {
    auto next = item();
    if (!next || bytes_.size() < next->header || bytes_.size() - next->header < next->body) return false;
    bytes_.remove_prefix(next->header + next->body);
    if (next->kind == MessageKind::array) left += next->value;
    if (next->kind == MessageKind::map) left += 2 * next->value;
    if (left - 1 > bytes_.size()) return false;
  }
  return true;
}

namespace {
void put_big_endian(std::string& out, std::uint64_t value, unsigned width) {
  for (unsigned i = width; i-- > 0;) out.push_back(static_cast<char>(value >> (8 * i) & 0xFF));
}

/// A count below 16 stands in the tag; others follow the tag `wide` or `wide` + 1.
std::string packed_count(std::uint32_t count, unsigned short_tag, unsigned wide) {
  if (count < 16) return std::string(1, static_cast<char>(short_tag + count));
  bool fits = count <= UINT16_MAX;
  std::string out(1, static_cast<char>(wide + (fits ? 0 : 1)));
  put_big_endian(out, count, fits ? 2 : 4);
  return out;
}
} // namespace

std::string packed_map(std::uint32_t pairs) { return packed_count(pairs, 0x80, 0xDE); }

std::string packed_array(std::uint32_t elements) { return packed_count(elements, 0x90, 0xDC); }

std::string packed_number(std::uint64_t value) {
  if (value < 0x80) return std::string(1, static_cast<char>(value));
  unsigned step = value <= UINT8_MAX ? 0 : value <= UINT16_MAX ? 1 : value <= UINT32_MAX ? 2 : 3;
  std::string out(1, static_cast<char>(0xCC + step));
  put_big_endian(out, value, 1u << step);
  return out;
}

} // namespace quarry::gpu
