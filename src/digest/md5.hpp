#pragma once
// MD5 (RFC 1321), for formats that name content by it. It protects against nothing: a second content with the same
// digest is made in seconds. Our own code, since a libcrypto in FIPS mode refuses it.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace quarry {

class Md5Hasher { ///< one stream; not thread-safe
public:
  void update(std::span<const std::byte> bytes);
  std::array<std::uint8_t, 16> finish(); ///< the hasher must not be used again

private:
  void take_block(const std::byte* block);
  std::array<std::uint32_t, 4> state_{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  std::array<std::byte, 64> block_{};
  std::uint64_t size_ = 0; ///< bytes so far
};

} // namespace quarry
