#include "tar/header.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <cstring>
#include <fmt/core.h>
#include <set>

namespace quarry::tar {

namespace {
struct Field {
  std::size_t offset, length;
};
constexpr Field k_name{0, 100}, k_mode{100, 8}, k_uid{108, 8}, k_gid{116, 8}, k_size{124, 12}, k_mtime{136, 12},
    k_checksum{148, 8}, k_link{157, 100}, k_magic{257, 8}, k_user{265, 32}, k_group{297, 32}, k_major{329, 8},
    k_minor{337, 8}, k_prefix{345, 155}, k_padding{500, 12};
constexpr std::size_t k_type = 156;

Unexpected bad(std::string_view what) {
  return fail(ErrorKind::corrupt, "T005", fmt::format("a tar header {}", what),
              "two readers would understand this archive differently: do not use it");
}

std::string_view raw(std::span<const std::byte, k_block> block, Field field) {
  return {reinterpret_cast<const char*>(block.data()) + field.offset, field.length};
}

/// Text up to the first NUL; what follows it must be NUL too, or a reader that looks further sees something else.
Result<std::string> text_field(std::span<const std::byte, k_block> block, Field field, std::string_view what) {
  auto text = raw(block, field);
  auto end = std::min(text.find('\0'), text.size());
  if (text.find_first_not_of('\0', end) != text.npos)
    return bad(fmt::format("hides bytes behind the end of its {}", what));
  return std::string(text.substr(0, end));
}

/// What a numeric field may hold.
struct NumberRule {
  std::string_view what;
  std::int64_t lowest = 0, highest = INT64_MAX;
  bool blank_is_zero = true; ///< NULs alone
  bool binary = true;        ///< base-256 (GNU) may stand for octal digits
};

/// Base-256 (GNU): 0x80 and the number, or 0xFF and its two's complement. Some readers take the lower bits of the first
/// byte for a part of the number; Python and GNU tar stop at any other first byte.
Result<std::int64_t> binary_number(std::string_view text, const NumberRule& rule) {
  auto first = static_cast<unsigned char>(text[0]);
  if (!rule.binary || (first != 0x80 && first != 0xff))
    return bad(fmt::format("has a {} that is not a number for every reader", rule.what));
  bool negative = first == 0xff;
  std::uint64_t value = negative ? UINT64_MAX : 0;
  for (char c : text.substr(1)) {
    if (value >> 55 != (negative ? 0x1ff : 0)) return bad(fmt::format("has a {} that is too large", rule.what));
    value = value << 8 | static_cast<unsigned char>(c);
  }
  return static_cast<std::int64_t>(value);
}

/// Octal digits after leading spaces, ended by spaces or NULs only. Python would also take "0o7" or "1_7", others stop
/// there.
Result<std::int64_t> octal_number(std::string_view text, const NumberRule& rule) {
  auto begin = std::min(text.find_first_not_of(' '), text.size());
  auto end = std::min(text.find_first_not_of("01234567", begin), text.size());
  if (text.find_first_not_of(std::string_view(" \0", 2), end) != text.npos)
    return bad(fmt::format("has a {} that is not an octal number", rule.what));
  if (begin == text.size()) // zero for Python, an error for GNU tar
    return bad(fmt::format("has blanks for its {}", rule.what));
  if (begin == end && !rule.blank_is_zero) return bad(fmt::format("has no {}", rule.what));
  std::int64_t value = 0;
  for (char c : text.substr(begin, end - begin)) value = value << 3 | (c - '0'); // 12 digits are 36 bits
  return value;
}

Result<std::int64_t> number(std::span<const std::byte, k_block> block, Field field, const NumberRule& rule) {
  auto text = raw(block, field);
  bool binary = (static_cast<unsigned char>(text[0]) & 0x80) != 0;
  TRY(auto value, binary ? binary_number(text, rule) : octal_number(text, rule));
  if (value < rule.lowest) return bad(fmt::format("has a negative {}", rule.what));
  if (value > rule.highest) return bad(fmt::format("has a {} that is too large", rule.what));
  return value;
}

Result<void> check_sum(std::span<const std::byte, k_block> block) {
  std::uint64_t sum = k_checksum.length * ' ';
  for (std::size_t i = 0; i < k_block; ++i)
    if (i < k_checksum.offset || i >= k_checksum.offset + k_checksum.length)
      sum += std::to_integer<std::uint64_t>(block[i]);
  auto stored = number(block, k_checksum, {.what = "checksum", .blank_is_zero = false, .binary = false});
  if (stored && static_cast<std::uint64_t>(*stored) == sum) return {};
  return fail(ErrorKind::corrupt, "T004", "a tar header does not match its checksum",
              "fetch or make the archive again");
}

/// What GNU keeps where ustar has its prefix (access times, sparse maps) is a prefix to some readers: only zeros are
/// clear.
Result<std::string> full_name(std::span<const std::byte, k_block> block) {
  TRY(auto name, text_field(block, k_name, "name"));
  auto magic = raw(block, k_magic);
  bool posix = magic == std::string_view("ustar\00000", 8), gnu = magic == std::string_view("ustar  \0", 8),
       old = is_zero(block.subspan(k_magic.offset, k_magic.length));
  if (!posix && !gnu && !old) return bad("has an unknown magic");
  if (!is_zero(block.subspan(k_padding.offset, k_padding.length))) return bad("hides bytes in its padding");
  if (!posix && !is_zero(block.subspan(k_prefix.offset, k_prefix.length)))
    return bad("uses the prefix of another dialect");
  if (old && !is_zero(block.subspan(k_user.offset, k_prefix.offset - k_user.offset)))
    return bad("has fields that its dialect does not have");
  TRY(auto prefix, text_field(block, k_prefix, "prefix"));
  if (prefix.empty()) return name;
  return name.empty() ? Result<std::string>(bad("has a prefix and no name")) : Result<std::string>(prefix + "/" + name);
}

constexpr std::int64_t k_owner_max = UINT32_MAX; // uid_t: GNU tar ends with an error above it

/// Not used here, but a reader that cannot parse them stops, and takes the rest of the archive for absent.
Result<void> check_unused(std::span<const std::byte, k_block> block) {
  TRY_DO(number(block, k_uid, {.what = "uid", .highest = k_owner_max}));
  TRY_DO(number(block, k_gid, {.what = "gid", .highest = k_owner_max}));
  TRY_DO(number(block, k_mtime, {.what = "time", .lowest = INT64_MIN}));
  TRY_DO(number(block, k_major, {.what = "device"}));
  TRY_DO(number(block, k_minor, {.what = "device"}));
  TRY_DO(text_field(block, k_user, "user"));
  TRY_DO(text_field(block, k_group, "group"));
  return {};
}
} // namespace

bool is_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

Result<Header> parse_header(std::span<const std::byte, k_block> block) {
  TRY_DO(check_sum(block));
  Header header;
  TRY(header.name, full_name(block));
  TRY(header.link, text_field(block, k_link, "link name"));
  TRY(auto size, number(block, k_size, {.what = "size", .blank_is_zero = false}));
  header.size = static_cast<std::uint64_t>(size);
  TRY(auto mode, number(block, k_mode, {.what = "mode"}));
  header.mode = static_cast<unsigned>(mode & 07777);
  header.type = static_cast<char>(std::to_integer<unsigned char>(block[k_type]));
  TRY_DO(check_unused(block));
  return header;
}

namespace {
Unexpected bad_pax(std::string_view what) {
  return fail(ErrorKind::corrupt, "T006", fmt::format("a pax header {}", what),
              "two readers would understand this archive differently: do not use it");
}

/// Keywords that say nothing about names, types and sizes: ignored, since nothing of them is set when a file is made.
bool is_harmless(std::string_view keyword) {
  for (std::string_view known :
       {"mtime", "atime", "ctime", "uid", "gid", "uname", "gname", "comment", "LIBARCHIVE.creationtime",
        "SCHILY.fflags", "SCHILY.dev", "SCHILY.ino", "SCHILY.nlink"})
    if (keyword == known) return true;
  for (std::string_view family : {"SCHILY.xattr.", "LIBARCHIVE.xattr.", "SCHILY.acl."})
    if (keyword.starts_with(family) && keyword.size() > family.size()) return true;
  return false;
}

bool is_time(std::string_view keyword) { return keyword == "mtime" || keyword == "atime" || keyword == "ctime"; }
bool is_owner(std::string_view keyword) { return keyword == "uid" || keyword == "gid"; }

/// `[-]digits[.digits]`: with anything else GNU tar ends with an error, and Python puts a zero.
bool is_pax_time(std::string_view value) {
  constexpr std::size_t k_digits_max = 12; // the year 33,658
  if (value.starts_with('-')) value.remove_prefix(1);
  auto dot = value.find('.');
  auto digits = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  };
  auto whole = value.substr(0, dot);
  return digits(whole) && whole.size() <= k_digits_max && (dot == value.npos || digits(value.substr(dot + 1)));
}
bool is_pax_owner(std::string_view value) {
  auto number = text::parse_u64(value);
  return number && *number <= UINT32_MAX;
}

Result<void> take(PaxRecords& records, std::string_view keyword, std::string_view value, bool global) {
  if ((is_time(keyword) && !is_pax_time(value)) || (is_owner(keyword) && !is_pax_owner(value)))
    return bad_pax(fmt::format("has the {} {:?}", keyword, std::string(value.substr(0, 100))));
  bool names = keyword == "path" || keyword == "linkpath", size = keyword == "size";
  if (names || size) {
    if (global) return bad_pax(fmt::format("sets {} for all members", keyword));
    if (value.empty() || value.find('\0') != value.npos)
      return bad_pax(fmt::format("has an empty {} or one with a NUL", keyword));
  }
  if (keyword == "path")
    records.path = value;
  else if (keyword == "linkpath")
    records.link = value;
  else if (size) {
    records.size = text::parse_u64(value);
    if (!records.size) return bad_pax(fmt::format("has the size {:?}", std::string(value)));
  } else if (keyword == "hdrcharset") {
    if (value != "ISO-IR 10646 2000 UTF-8") return bad_pax("names another character set than UTF-8");
  } else if (!is_harmless(keyword))
    return bad_pax(fmt::format("has the keyword {:?}, whose meaning is not standard", std::string(keyword)));
  return {};
}
} // namespace

Result<PaxRecords> parse_pax(std::string_view text, bool global) {
  PaxRecords records;
  std::set<std::string_view> seen;
  if (text.empty()) return bad_pax("is empty");
  while (!text.empty()) {
    auto space = std::min(text.find(' '), std::size_t{20}); // 20 digits: more than any length
    auto length = text::parse_u64(text.substr(0, std::min(space, text.size())));
    // The shortest record is "5 a=\n"; a leading zero or a length of zero makes some readers stop here.
    if (!length || space >= text.size() || text[space] != ' ' || text[0] == '0' || *length < 5 ||
        *length > text.size() || *length <= space + 1)
      return bad_pax("has a record of impossible length");
    auto record = text.substr(space + 1, *length - space - 1);
    text.remove_prefix(*length);
    auto equals = record.find('=');
    if (record.back() != '\n' || equals == record.npos || equals == 0)
      return bad_pax("has a record that is not `keyword=value`");
    auto keyword = record.substr(0, equals);
    if (!seen.insert(keyword).second) return bad_pax(fmt::format("sets {:?} twice", std::string(keyword)));
    if (seen.size() > 1000) return bad_pax("has more than 1,000 records");
    TRY_DO(take(records, keyword, record.substr(equals + 1, record.size() - equals - 2), global));
  }
  return records;
}

std::array<std::byte, k_block> make_header(const HeaderFields& fields) {
  std::array<char, k_block> block{};
  auto text = [&](Field field, std::string_view value) {
    std::memcpy(block.data() + field.offset, value.data(), std::min(value.size(), field.length));
  };
  auto octal = [&](Field field, std::uint64_t value) { text(field, fmt::format("{:0{}o}", value, field.length - 1)); };
  text(k_name, fields.name);
  octal(k_mode, fields.mode);
  octal(k_uid, 0);
  octal(k_gid, 0);
  octal(k_size, fields.size < k_octal_size_end ? fields.size : 0);
  octal(k_mtime, 0);
  block[k_type] = fields.type;
  text(k_link, fields.link);
  text(k_magic, std::string_view("ustar\00000", 8));
  octal(k_major, 0);
  octal(k_minor, 0);
  text(k_prefix, fields.prefix);
  text(k_checksum, "        ");
  std::uint64_t sum = 0;
  for (char c : block) sum += static_cast<unsigned char>(c);
  text(k_checksum, fmt::format("{:06o}\0 ", sum));
  block[k_checksum.offset + 6] = '\0';
  block[k_checksum.offset + 7] = ' ';
  std::array<std::byte, k_block> bytes;
  std::memcpy(bytes.data(), block.data(), k_block);
  return bytes;
}

std::string pax_record(std::string_view keyword, std::string_view value) {
  auto body = fmt::format(" {}={}\n", keyword, value);
  auto length = body.size() + 1;
  while (std::to_string(length).size() + body.size() != length) length = std::to_string(length).size() + body.size();
  return std::to_string(length) + body;
}

} // namespace quarry::tar
