#pragma once
// Private to the room.
// The numbers of the zip format (PKWARE APPNOTE 6.3.10), for the reader and the writer.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace quarry::zip {

constexpr std::uint32_t k_local_signature = 0x04034b50, k_central_signature = 0x02014b50, k_end_signature = 0x06054b50,
                        k_end64_signature = 0x06064b50, k_locator64_signature = 0x07064b50,
                        k_descriptor_signature = 0x08074b50;
constexpr std::size_t k_local_bytes = 30, k_central_bytes = 46, k_end_bytes = 22, k_end64_bytes = 56,
                      k_locator64_bytes = 20;
constexpr std::uint16_t k_extra_zip64 = 0x0001, k_extra_unicode_path = 0x7075;
constexpr std::uint32_t k_max32 = 0xFFFFFFFF; ///< "the real value is in the ZIP64 field"
constexpr std::uint16_t k_max16 = 0xFFFF;
constexpr std::uint16_t k_method_stored = 0, k_method_deflate = 8;
constexpr std::uint16_t k_flag_encrypted = 1u << 0, k_flag_descriptor = 1u << 3, k_flag_patched = 1u << 5,
                        k_flag_strong_encryption = 1u << 6, k_flag_utf8 = 1u << 11, k_flag_masked = 1u << 13;
constexpr std::uint16_t k_version_plain = 20, k_version_zip64 = 45, k_made_by_unix = 3;
constexpr std::uint16_t k_dos_time = 0, k_dos_date = 0x0021; ///< 1980-01-01 00:00:00, the format's zero
constexpr unsigned k_mode_type_mask = 0170000, k_mode_file = 0100000, k_mode_directory = 0040000;

/// Little-endian fields, appended.
inline void put16(std::string& out, std::uint16_t v) {
  out += static_cast<char>(v & 255), out += static_cast<char>(v >> 8);
}
inline void put32(std::string& out, std::uint32_t v) {
  put16(out, static_cast<std::uint16_t>(v)), put16(out, static_cast<std::uint16_t>(v >> 16));
}
inline void put64(std::string& out, std::uint64_t v) {
  put32(out, static_cast<std::uint32_t>(v)), put32(out, static_cast<std::uint32_t>(v >> 32));
}

/// Little-endian fields at `at`, which the caller has checked to lie inside.
inline std::uint16_t get16(std::string_view in, std::size_t at) {
  return static_cast<std::uint16_t>(static_cast<std::uint8_t>(in[at]) | static_cast<std::uint8_t>(in[at + 1]) << 8);
}
inline std::uint32_t get32(std::string_view in, std::size_t at) {
  return get16(in, at) | std::uint32_t{get16(in, at + 2)} << 16;
}
inline std::uint64_t get64(std::string_view in, std::size_t at) {
  return get32(in, at) | std::uint64_t{get32(in, at + 4)} << 32;
}

} // namespace quarry::zip
