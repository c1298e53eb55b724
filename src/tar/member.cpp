#include "tar/member.hpp"

#include <array>
#include <fmt/core.h>

namespace quarry::tar {

namespace {
constexpr std::uint64_t k_extension_bytes_max = 1u << 20; // pax and long-name data; xattrs of one file reach 64 KiB

constexpr const char* k_two_readers = "two readers would understand this archive differently: do not use it";

Unexpected ambiguous(const char* code, std::string message) {
  return fail(ErrorKind::corrupt, code, std::move(message), k_two_readers);
}

// A member of the first tars' type is a file here; old_type() looks at its name.
Result<Type> type_of(const Header& header) {
  switch (header.type) {
  case '0':
  case '\0': return Type::file;
  case '1': return Type::hardlink;
  case '2': return Type::symlink;
  case '5': return Type::directory;
  default: break;
  }
  constexpr std::string_view known = "3456S";
  constexpr std::array<std::string_view, 5> names{"a character device", "a block device", "", "a fifo",
                                                  "a sparse file"};
  auto kind = known.find(header.type);
  auto what = kind == known.npos ? fmt::format("of the unknown type {:#04x}", static_cast<unsigned char>(header.type))
                                 : std::string(names.at(kind));
  return fail(ErrorKind::corrupt, "T009", fmt::format("member {:?} is {}", header.name, what),
              "only files, directories and links are taken from an archive");
}

/// The header with what the extension headers say instead.
Result<Header> extended(Header header, Pending pending) {
  if (pending.long_name) header.name = std::move(*pending.long_name);
  if (pending.long_link) header.link = std::move(*pending.long_link);
  if (!pending.pax) return header;
  auto& pax = *pending.pax;
  if (pax.path) header.name = std::move(*pax.path);
  if (pax.link) header.link = std::move(*pax.link);
  if (!pax.size || *pax.size == header.size) return header;
  // A reader that overlooks the record would take file content for headers, unless the header cannot say the size at
  // all.
  if (header.size != 0 || *pax.size < k_octal_size_end)
    return ambiguous("T006", fmt::format("member {:?} has two sizes", header.name));
  header.size = *pax.size;
  return header;
}

/// What the first tars call a member is a directory when its name ends in a slash. Pythons before the correction of
/// CVE-2025-13462 look at the name in the header and do not skip the data of a directory; others look at the name that
/// an extension header gives. So `pax path=ok.txt`, header `ok/` is a file for us, and a directory followed by more
/// members for an old Python. A corrected one takes every such member behind an extension header for a file.
Result<Type> old_type(std::string_view name_in_header, bool extended, const std::string& member) {
  bool slash = name_in_header.ends_with('/');
  if (slash == member.ends_with('/') && !(slash && extended)) return slash ? Type::directory : Type::file;
  return ambiguous("T005", fmt::format("member {:?} is a directory for some readers and a file for others", member));
}

Result<void> check_shape(const Header& header, Type type) {
  auto odd = [&](std::string_view why) { return ambiguous("T005", fmt::format("member {:?} {}", header.name, why)); };
  bool link = type == Type::symlink || type == Type::hardlink;
  if (type != Type::file && header.size != 0) return odd("is not a file and yet has a size");
  if (!link && !header.link.empty()) return odd("is not a link and yet names a target");
  if (type != Type::directory && header.name.ends_with('/')) return odd("is not a directory and yet ends in a slash");
  return {};
}

Result<std::string> checked_hard_link(const std::string& path, const std::string& link) {
  if (link.ends_with('/')) // Python and we read a file's name, GNU tar a directory's
    return ambiguous("T005", fmt::format("the hard link {:?} leads to {:?}, which is a directory's name", path, link));
  return checked_path(link);
}
} // namespace

bool is_extension(char type) { return type == 'x' || type == 'g' || type == 'L' || type == 'K'; }

Result<void> check_extension(const Header& header, const Pending& pending) {
  bool global = header.type == 'g', pax = header.type == 'x';
  bool repeated = pax                  ? pending.pax.has_value()
                  : header.type == 'L' ? pending.long_name.has_value()
                                       : pending.long_link.has_value();
  bool mixed = pending.any() && (global || pax || pending.pax);
  if (repeated || mixed) return ambiguous("T006", "several extension headers contend for one member");
  if (header.size == 0 || header.size > k_extension_bytes_max)
    return fail(ErrorKind::corrupt, "T006", fmt::format("an extension header has {} bytes", header.size),
                "the archive is hostile or damaged");
  return {};
}

Result<void> add_extension(char type, std::string data, Pending& pending) {
  if (type == 'x' || type == 'g') {
    TRY(auto records, parse_pax(data, type == 'g'));
    if (type == 'x') pending.pax = std::move(records);
    return {};
  }
  if (data.ends_with('\0')) data.pop_back();
  if (data.empty() || data.find('\0') != data.npos)
    return fail(ErrorKind::corrupt, "T006", "a long name is empty or holds a NUL", "the archive is hostile or damaged");
  (type == 'L' ? pending.long_name : pending.long_link) = std::move(data);
  return {};
}

Result<std::optional<Member>> member_of(Header raw, Pending pending) {
  TRY(auto type, type_of(raw));
  bool old = raw.type == '\0', has_extension = pending.any();
  auto name = raw.name;
  TRY(auto header, extended(std::move(raw), std::move(pending)));
  if (old) {
    TRY(type, old_type(name, has_extension, header.name));
  }
  TRY_DO(check_shape(header, type));
  Member found;
  TRY(found.path, checked_path(header.name));
  if (found.path.empty()) {
    if (type == Type::directory) return std::nullopt;
    return fail(ErrorKind::corrupt, "T010", "a member is called like the archive's own directory");
  }
  found.type = type;
  found.size = header.size;
  found.executable = type == Type::file && (header.mode & 0111) != 0;
  found.link = std::move(header.link);
  if (type == Type::hardlink) {
    TRY(found.link, checked_hard_link(found.path, found.link));
  }
  return std::optional(std::move(found));
}

} // namespace quarry::tar
