#pragma once
// Windows programs and DLLs: a bounded reader of what packaging must know. Source of the format: Microsoft's "PE
// Format" (DOS header, signature, COFF header, optional header, section table, import directory). Pure but for reading.
#include "base/result.hpp"
#include "content/rope.hpp"
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::pe {

constexpr std::uint16_t k_machine_amd64 = 0x8664;
constexpr std::size_t k_sections_max = 96;  ///< what the Windows loader takes
constexpr std::size_t k_imports_max = 4096; ///< DLLs; the largest seen has 60
constexpr std::size_t k_dll_name_max = 255; ///< one component of a path on Windows

struct Facts {
  bool is_64 = true;                ///< PE32+
  std::uint16_t machine = 0;        ///< IMAGE_FILE_MACHINE_*
  bool is_dll = false;              ///< else a program
  std::vector<std::string> imports; ///< names of DLLs as they stand, without delayed ones
};

/// True for "MZ"; reads at most 2 bytes. A file may have it and be no PE (a DOS program): read_facts says so.
Result<bool> has_magic(const content::Rope& file);
/// Fails with corrupt (J001) if the file is not a PE image or is inconsistent. `name` is for messages. Thread-safe.
Result<Facts> read_facts(const content::Rope& file, std::string_view name);
/// "x86-64", "ARM64", …, or the number.
std::string machine_name(std::uint16_t machine);

} // namespace quarry::pe
