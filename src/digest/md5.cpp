#include "digest/md5.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace quarry {

namespace {
constexpr std::size_t k_block_bytes = 64, k_length_at = 56;
constexpr int k_shifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

/// RFC 1321, 3.4: the integer part of 2^32 |sin(i)|, i = 1 … 64.
std::array<std::uint32_t, 64> make_sines() {
  std::array<std::uint32_t, 64> out{};
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<std::uint32_t>(std::floor(std::fabs(std::sin(static_cast<double>(i + 1))) * 4294967296.0));
  return out;
}

std::uint32_t word_at(const std::byte* bytes) {
  std::uint32_t out = 0;
  for (int i = 3; i >= 0; --i) out = out << 8 | std::to_integer<std::uint32_t>(bytes[i]);
  return out;
}
} // namespace

void Md5Hasher::take_block(const std::byte* block) {
  static const auto sines = make_sines();
  auto [a, b, c, d] = state_;
  for (std::uint32_t i = 0; i < 64; ++i) {
    auto round = i / 16;
    auto mixed = round == 0   ? (b & c) | (~b & d)
                 : round == 1 ? (d & b) | (~d & c)
                 : round == 2 ? b ^ c ^ d
                              : c ^ (b | ~d);
    auto from = round == 0 ? i : round == 1 ? (5 * i + 1) % 16 : round == 2 ? (3 * i + 5) % 16 : 7 * i % 16;
    auto sum = a + mixed + sines[i] + word_at(block + std::size_t{4} * from);
    a = d;
    d = c;
    c = b;
    b += std::rotl(sum, k_shifts[round][i % 4]);
  }
  state_[0] += a;
  state_[1] += b;
  state_[2] += c;
  state_[3] += d;
}

void Md5Hasher::update(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    auto used = static_cast<std::size_t>(size_ % k_block_bytes);
    auto count = std::min(bytes.size(), k_block_bytes - used);
    if (count == k_block_bytes) {
      take_block(bytes.data());
    } else {
      std::copy_n(bytes.begin(), count, block_.begin() + static_cast<std::ptrdiff_t>(used));
      if (used + count == k_block_bytes) take_block(block_.data());
    }
    size_ += count;
    bytes = bytes.subspan(count);
  }
}

std::array<std::uint8_t, 16> Md5Hasher::finish() {
  auto bits = size_ * 8;
  constexpr std::array<std::byte, k_block_bytes> padding{std::byte{0x80}};
  auto used = size_ % k_block_bytes;
  update(std::span(padding).first((used < k_length_at ? k_length_at : k_block_bytes + k_length_at) - used));
  std::array<std::byte, 8> length{};
  for (std::size_t i = 0; i < length.size(); ++i) length[i] = static_cast<std::byte>(bits >> (8 * i));
  update(length);
  std::array<std::uint8_t, 16> out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint8_t>(state_[i / 4] >> (8 * (i % 4)));
  return out;
}

} // namespace quarry
