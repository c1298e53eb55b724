#pragma once
// What thinning does not read of a library or bundle, found while the file flows by.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::gpu {

/// Whether a file that begins with `head` is worth looking through: an ELF file or a bundle. The checksum of a Windows
/// file is made of all its bytes, and a static library is read member by member. Pure.
bool may_have_unneeded(std::string_view head);

/// The bytes of a plain bundle that thin() overwrites and does not read.
struct Unneeded {
  struct Range {
    std::uint64_t begin = 0, end = 0; ///< from the beginning of the bundle; multiples of 4096
  };
  std::vector<Range> ranges; ///< ascending, and apart from each other
  std::uint64_t end = 0;     ///< of the bundle: the next one begins behind it
};

/// Reads the table of the plain bundle that begins with `page`, the first bytes of at most `limit`. The ranges are the
/// code for none of `devices` but for the first page of each code object, whose header thin() looks at. Returns nullopt
/// if no such bundle begins here, or its table is damaged or does not end in the page. It is a guess, because `page`
/// may be code that begins like a bundle: thin() decides. Pure.
std::optional<Unneeded> unneeded_of(std::string_view page, std::uint64_t limit,
                                    const std::vector<std::string>& devices);

} // namespace quarry::gpu
