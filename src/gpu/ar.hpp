#pragma once
// Private to the room.
// Static libraries (`.a`): archives of object files. GNU's and LLVM's form and BSD's long names; thin archives, which
// only name their files, hold no code.
#include "base/result.hpp"
#include "content/rope.hpp"
#include "gpu/reading.hpp"
#include "gpu/thin.hpp"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::gpu {

constexpr std::string_view k_ar_magic = "!<arch>\n";
constexpr std::size_t k_ar_members_max = 100'000; ///< the largest static library of ROCm has 4,000

struct ArMember {
  std::string name;                  ///< as written, without the padding; for messages
  std::uint64_t begin = 0, size = 0; ///< of its bytes in the file
};

/// The object files of a static library, without its tables. Fails with corrupt (G101) if a header is malformed, if a
/// member reaches past the end of the file, or if there are too many. Cost: one read of 60 bytes for each member.
Result<std::vector<ArMember>> ar_members(const content::Rope& file);

/// The device code of all members; places are those in the file. A static library inside another is left out.
Result<void> read_ar(Reading& reading);

/// thin() for a static library: each member is thinned and proven as a file of its own. A member that would get shorter
/// stays as it is, since the linker's table of symbols names the places of members. Afterwards the members are read
/// back: they have their old places, and hold what was kept.
Result<Thinned> thin_ar(const content::Rope& file, std::string_view name, const ThinRequest& request);

} // namespace quarry::gpu
