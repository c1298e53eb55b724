#include "digest/crc64.hpp"

#include <array>
#include <cstring>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace quarry {

namespace {

constexpr std::uint64_t k_polynomial = 0x9a6c9329ac4bc9b5; // 0xad93d23594c93659, bits reversed
using Table = std::array<std::array<std::uint64_t, 256>, 8>;

constexpr Table make_table() {
  Table table{};
  for (std::uint64_t i = 0; i < 256; ++i) {
    auto crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ k_polynomial : crc >> 1;
    table[0][i] = crc;
  }
  for (std::size_t i = 0; i < 256; ++i)
    for (std::size_t k = 1; k < 8; ++k) table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 0xff];
  return table;
}
constexpr Table k_table = make_table();

// Eight bytes at a time, from a raw register (no inversion).
std::uint64_t by_table(std::uint64_t crc, const std::byte* at, std::size_t size) {
  for (; size >= 8; at += 8, size -= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    crc ^= word;
    std::uint64_t next = 0;
    for (std::size_t k = 0; k < 8; ++k) next ^= k_table[7 - k][crc >> (8 * k) & 0xff];
    crc = next;
  }
  for (; size > 0; ++at, --size) crc = crc >> 8 ^ k_table[0][(crc ^ static_cast<std::uint64_t>(*at)) & 0xff];
  return crc;
}

// Polynomials over GF(2), bits reversed: bit 63 is x^0.
constexpr std::uint64_t times_x(std::uint64_t a) { return a & 1 ? a >> 1 ^ k_polynomial : a >> 1; }
constexpr std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  for (std::uint64_t bit = 1ull << 63; bit != 0; bit >>= 1) {
    if (a & bit) product ^= b;
    b = times_x(b);
  }
  return product;
}
constexpr std::uint64_t power_of_x(std::uint64_t exponent) {
  std::uint64_t result = 1ull << 63, square = 1ull << 62; // x^0 and x^1
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result = multiply(result, square);
    square = multiply(square, square);
  }
  return result;
}

#if defined(__x86_64__)
// Folding (Gopal et al., "Fast CRC Computation Using PCLMULQDQ"): each block of 128 bits is multiplied by x^distance,
// so that it can be combined by XOR with the block that far ahead. A reversed product comes out one bit short, which
// the exponents make up for.
struct Fold {
  std::uint64_t low, high;
};
constexpr Fold fold_of(std::uint64_t bits) { return {power_of_x(bits + 64 - 1), power_of_x(bits - 1)}; }
constexpr Fold k_ahead_64 = fold_of(512), k_ahead_16 = fold_of(128);

__attribute__((target("pclmul,sse4.1"))) inline __m128i fold(__m128i value, __m128i by, __m128i next) {
  auto low = _mm_clmulepi64_si128(value, by, 0x00), high = _mm_clmulepi64_si128(value, by, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

__attribute__((target("pclmul,sse4.1"))) std::uint64_t by_folding(std::uint64_t crc, const std::byte* at,
                                                                  std::size_t size) {
  auto load = [](const std::byte* from) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); };
  auto pair = [](Fold f) { return _mm_set_epi64x(static_cast<long long>(f.high), static_cast<long long>(f.low)); };
  auto by64 = pair(k_ahead_64), by16 = pair(k_ahead_16);
  __m128i lanes[4];
  for (std::size_t i = 0; i < 4; ++i) lanes[i] = load(at + 16 * i);
  lanes[0] = _mm_xor_si128(lanes[0], _mm_set_epi64x(0, static_cast<long long>(crc)));
  for (at += 64, size -= 64; size >= 64; at += 64, size -= 64) {
    lanes[0] = fold(lanes[0], by64, load(at));
    lanes[1] = fold(lanes[1], by64, load(at + 16));
    lanes[2] = fold(lanes[2], by64, load(at + 32));
    lanes[3] = fold(lanes[3], by64, load(at + 48));
  }
  auto value = lanes[0];
  for (int i = 1; i < 4; ++i) value = fold(value, by16, lanes[i]);
  for (; size >= 16; at += 16, size -= 16) value = fold(value, by16, load(at));
  std::byte rest[16];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(rest), value);
  return by_table(by_table(0, rest, sizeof rest), at, size);
}

bool can_fold() {
  // Not __builtin_cpu_supports: its table is in libgcc, which the compiler of the preset portable does not have.
  static const bool can = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_PCLMUL) != 0 && (c & bit_SSE4_1) != 0;
  }();
  return can;
}
#endif

} // namespace

std::uint64_t detail::crc64nvme_portable(std::uint64_t crc, std::span<const std::byte> bytes) {
  return ~by_table(~crc, bytes.data(), bytes.size());
}

std::uint64_t crc64nvme(std::uint64_t crc, std::span<const std::byte> bytes) {
#if defined(__x86_64__)
  constexpr std::size_t k_worth = 128;
  if (bytes.size() >= k_worth && can_fold()) return ~by_folding(~crc, bytes.data(), bytes.size());
#endif
  return detail::crc64nvme_portable(crc, bytes);
}

std::uint64_t crc64nvme_combine(std::uint64_t first, Crc64Of second) {
  return multiply(first, power_of_x(second.bytes * 8)) ^ second.crc;
}

std::string crc64nvme_base64(std::uint64_t crc) {
  constexpr const char* k_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (int shift = 58; shift > 0; shift -= 6) out += k_digits[crc >> shift & 63]; // ten digits hold 60 bits
  out += k_digits[crc << 2 & 63];
  return out + "=";
}

} // namespace quarry
