#pragma once
// Private to the room.
// The tables that a dynamic section points to: versions (LSB, symbol versioning) and the number of dynamic symbols.
#include "elf/image.hpp"

namespace quarry::elf {

/// One `vn_file` of DT_VERNEED: a library whose versions are needed, and where the number that names it stands.
struct VersionNeed {
  std::uint64_t name = 0;              ///< offset in the dynamic string table
  std::uint64_t field_at = 0;          ///< place of vn_file in the file
  std::vector<std::uint64_t> versions; ///< offsets of the versions' names
};
/// The needed files of DT_VERNEED in order.
Result<std::vector<VersionNeed>> read_version_needs(const Image& image);
/// Every string offset of DT_VERDEF.
Result<std::vector<std::uint64_t>> read_version_definition_names(const Image& image);
struct SymbolCount {
  std::uint64_t count = 0;
  bool exact = true; ///< false: the table may have more symbols than `count`
};
/// Number of dynamic symbols by DT_GNU_HASH, DT_HASH or the section header; 0 and exact without a symbol table. The
/// number is not exact if there is neither a hash table nor a section header, or only a GNU hash table without symbols:
/// the linker then writes 1 as its first symbol, however many symbols the file imports. corrupt E001: a table outside
/// the loaded bytes, or an absurd number.
Result<SymbolCount> count_dynamic_symbols(const Image& image, const std::vector<Section>& sections);
/// st_name of every dynamic symbol.
Result<std::vector<std::uint32_t>> read_symbol_names(const Image& image, std::uint64_t count);

} // namespace quarry::elf
