#pragma once
// Private to the room.
// What a header and the extension headers before it say about a member. Pure: the reader counts bytes, this judges.
#include "tar/header.hpp"
#include "tar/tar.hpp"
#include <optional>
#include <string>

namespace quarry::tar {

/// What extension headers say about the next member.
struct Pending {
  std::optional<PaxRecords> pax;
  std::optional<std::string> long_name, long_link;
  bool any() const { return pax || long_name || long_link; }
};

/// A pax header (x, g) or a long name of GNU tar (L, K): its data speak of the next member, or of all.
bool is_extension(char type);
/// May this extension header follow those in `pending`? T006 if two contend for one member, or for its size.
Result<void> check_extension(const Header& header, const Pending& pending);
/// Adds what the data of an extension header say. T006 for malformed records and names.
Result<void> add_extension(char type, std::string data, Pending& pending);

/// The member of a header that is not an extension; `offset` is left 0. nullopt: it is the archive's own directory.
/// T005, T006 for what two readers would understand differently, T009 for other than files, directories and links, T010
/// for names that lead elsewhere.
Result<std::optional<Member>> member_of(Header header, Pending pending);

} // namespace quarry::tar
