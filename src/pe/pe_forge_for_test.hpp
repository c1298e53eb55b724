#pragma once
// A small PE image made field by field, so that tests can break one field at a time.
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::pe::testing {

template <class T> void put(std::string& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

constexpr std::size_t k_pe_at = 0x40, k_optional_at = k_pe_at + 24, k_optional_size = 240;
constexpr std::size_t k_sections_at = k_optional_at + k_optional_size, k_raw_at = 0x200, k_raw_size = 0x400;
constexpr std::uint32_t k_address = 0x1000; ///< of the one section

/// A 64-bit DLL with one section that holds the import table.
inline std::string forged_dll(const std::vector<std::string>& imports = {"KERNEL32.dll"}) {
  std::string b(k_raw_at + k_raw_size, '\0');
  b.replace(0, 2, "MZ");
  put<std::uint32_t>(b, 60, k_pe_at);
  b.replace(k_pe_at, 4, std::string_view("PE\0\0", 4));
  put<std::uint16_t>(b, k_pe_at + 4, 0x8664);
  put<std::uint16_t>(b, k_pe_at + 6, 1);
  put<std::uint16_t>(b, k_pe_at + 20, k_optional_size);
  put<std::uint16_t>(b, k_pe_at + 22, 0x2022);
  put<std::uint16_t>(b, k_optional_at, 0x20b);
  put<std::uint32_t>(b, k_optional_at + 60, k_raw_at); // SizeOfHeaders
  put<std::uint32_t>(b, k_optional_at + 108, 16);
  put<std::uint32_t>(b, k_optional_at + 112 + 8, k_address); // import directory
  put<std::uint32_t>(b, k_sections_at + 8, k_raw_size);
  put<std::uint32_t>(b, k_sections_at + 12, k_address);
  put<std::uint32_t>(b, k_sections_at + 16, k_raw_size);
  put<std::uint32_t>(b, k_sections_at + 20, k_raw_at);
  std::size_t name_at = 0x200; // in the section, behind the table
  for (std::size_t i = 0; i < imports.size(); ++i) {
    put<std::uint32_t>(b, k_raw_at + i * 20 + 12, static_cast<std::uint32_t>(k_address + name_at));
    put<std::uint32_t>(b, k_raw_at + i * 20 + 16, k_address + 0x100);
    b.replace(k_raw_at + name_at, imports[i].size(), imports[i]);
    name_at += imports[i].size() + 1;
  }
  return b;
}

} // namespace quarry::pe::testing
