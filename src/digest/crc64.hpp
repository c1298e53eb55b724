#pragma once
// CRC-64/NVME (NVM Express, polynomial 0xad93d23594c93659, reflected): the checksum that S3 keeps of whole objects.
// Uses carry-less multiplication where present. Pure, thread-safe.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace quarry {

/// Start with 0; the result of one call continues in the next.
std::uint64_t crc64nvme(std::uint64_t crc, std::span<const std::byte> bytes);
struct Crc64Of {
  std::uint64_t crc, bytes; ///< the CRC of that many bytes
};
/// The CRC of first + second from both CRCs and the length of the second.
std::uint64_t crc64nvme_combine(std::uint64_t first, Crc64Of second);
/// As S3 writes it: base64 of the eight bytes, most significant first.
std::string crc64nvme_base64(std::uint64_t crc);

namespace detail {
std::uint64_t crc64nvme_portable(std::uint64_t crc, std::span<const std::byte> bytes); ///< for tests of the fast way
}

} // namespace quarry
