#pragma once
// Private to the room.
// Describes the differences between two ELF files in words.
#include "base/result.hpp"
#include "content/rope.hpp"
#include "inspect/compare.hpp"
#include <optional>
#include <string>
#include <vector>

namespace quarry::inspect {

struct ElfComparison {
  std::string message; ///< "RPATH `a` | `b`; needs libx.so.1 only on the left; the same code, data and symbols"
  /// What differs, each by its name: "type", "machine", "interpreter", "SONAME", "run-path" (of one side, if it has the
  /// other's entries and adds some below `$ORIGIN`), "run-path!spelling" (one side names a directory again),
  /// "host-run-path" (of one side, if it alone has entries that do not begin with `$ORIGIN`), "RPATH" and "RUNPATH"
  /// otherwise, "needs:libx.so.1" (of one side), "needs" (their order), "versions" of their symbols, "code" (bytes of a
  /// section, a symbol). "layout" alone if nothing of these differs: an edit has put parts of the file elsewhere.
  /// "launcher" alone for two programs that stand for the same link to a program.
  std::vector<Part> parts;
};

/// `directory` holds the file, from the root of the package: entries of a run path may name one directory twice.
/// nullopt unless both are ELF files that can be read. Equal means equal for the loader: the number of a section in a
/// symbol does not count, its name does; zeros that the file holds equal those that the loader makes (.bss).
Result<std::optional<ElfComparison>> compare_elf(const content::Rope& left, const content::Rope& right,
                                                 const std::string& directory);

} // namespace quarry::inspect
