#pragma once
// SHA-256 (FIPS 180-4) by OpenSSL, which uses SHA-NI where present.
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace quarry {

struct Sha256 {
  std::array<std::uint8_t, 32> bytes{};
  std::string hex() const;
  std::string short_hex() const;                                ///< the first 12 digits, for people
  std::string base64url() const;                                ///< as RECORD writes it, without "sha256="
  static std::optional<Sha256> from_hex(std::string_view text); ///< 64 digits of either case
  static std::optional<Sha256> from_base64url(std::string_view text);
  bool operator==(const Sha256&) const = default;
  /// By bytes, the first one first. Not defaulted: the compiler would compare byte by byte, in maps of 20,000 files.
  std::strong_ordering operator<=>(const Sha256& other) const;
};

class Sha256Hasher { ///< one stream; not thread-safe
public:
  Sha256Hasher();
  ~Sha256Hasher();
  Sha256Hasher(Sha256Hasher&&) noexcept;
  Sha256Hasher& operator=(Sha256Hasher&&) noexcept;
  void update(std::span<const std::byte> bytes);
  Sha256 finish(); ///< then starts anew
private:
  struct State;
  std::unique_ptr<State> state_;
};

Sha256 sha256(std::string_view text);
Sha256 sha256(std::span<const std::byte> bytes);

std::uint32_t crc32(std::uint32_t crc, std::span<const std::byte> bytes); ///< zip's CRC-32, start with 0
std::uint32_t crc32_combine(std::uint32_t first, std::uint32_t second, std::uint64_t second_bytes);

} // namespace quarry
