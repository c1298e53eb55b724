#pragma once
// How a library or program was linked: what it asks of the machine and of other libraries, and how it is protected.
// Sources: System V gABI, LSB "Symbol Versioning", the x86-64 psABI's program properties (.note.gnu.property).
#include "base/result.hpp"
#include "content/rope.hpp"
#include "elf/elf.hpp"
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::elf {

/// A version of a symbol that the file needs from a library: {"libc.so.6", "GLIBC_2.28"}.
struct NeededVersion {
  std::string library, version;
  auto operator<=>(const NeededVersion&) const = default;
};

/// The dynamic symbols to look for. Without any, the table of symbols is not read.
struct AskedSymbols {
  std::set<std::string> names;
  bool of_python = false; ///< those whose names begin with Py or _Py
};

struct Linking {
  Facts facts;
  std::vector<NeededVersion> versions; ///< each once, sorted
  unsigned isa_level = 1;              ///< x86-64 level it needs: 1 every processor, 2, 3 AVX2, 4 AVX-512
  bool text_relocations = false;       ///< the loader makes its code writable while it relocates
  bool has_relro = false;              ///< PT_GNU_RELRO
  std::string build_id;                ///< hexadecimal; empty without one
  std::uint64_t debug_bytes = 0;       ///< of the sections .debug_* and .zdebug_*, as they are stored
  std::set<std::string> imports;       ///< those of the asked names that it imports, not as weak symbols
  /// Symbols of Python's C API by their names, `Py…` and `_Py…`: what it imports, not as weak symbols, and what it
  /// defines itself. Read if they are asked for; at most k_python_symbols_max of each.
  std::set<std::string> python_imports, python_exports;
};
constexpr std::size_t k_python_symbols_max = 16'384; ///< libpython3.14 exports 1,900

/// Reads headers, the dynamic section and its tables, the section headers and the dynamic symbols. `asked` are names of
/// symbols; without any, the symbols are not read. corrupt E001 for tables that do not hold together. Time: linear in
/// the symbols, at most 16 million.
Result<Linking> read_linking(const content::Rope& file, std::string_view name, const AskedSymbols& asked = {});

} // namespace quarry::elf
