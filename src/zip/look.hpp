#pragma once
// A look at one member of a zip file that is far away, in three reads: its end, the rest of the central directory (none
// when the end holds all of it), and the member. Not Reader: what is not looked at is not judged. Checked are the
// end records, that the directory consists of as many entries as they say, the member's two headers against each other,
// its sizes and its CRC. Not checked: names and places of other entries, whether records lie back to back.
#include "base/result.hpp"
#include "content/rope.hpp"
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::zip {

struct LookRequest {
  std::function<bool(std::string_view)> wanted; ///< of a member's name
  std::uint64_t bytes_max = 0;                  ///< that the member may have; Z016 above
};

struct LookedAt {
  std::string name, content;
};

/// The member that is wanted; nullopt when the whole directory names none. `name` stands in messages. corrupt with the
/// codes of Reader: Z008 no zip file or one cut off, Z001 several members that are wanted, Z002-Z015 the member's
/// entry, Z005 its bytes; resource_exhausted Z016; what reading the rope gives.
Result<std::optional<LookedAt>> look(const content::Rope& archive, const std::string& name, const LookRequest& request);

struct ListedMember {
  std::string name; ///< as the archive writes it; a directory ends in '/'
  std::uint64_t size = 0;
  std::uint32_t crc = 0;
};

/// All members, in the directory's order: its end and the rest of the directory are read, and no member. What the
/// directory says of sizes and CRCs is believed. corrupt Z008 and Z012 as look() has them, Reader's codes for a damaged
/// entry; Z016 for a directory that Reader refuses as too large.
Result<std::vector<ListedMember>> list(const content::Rope& archive, const std::string& name);

} // namespace quarry::zip
