#include "gpu/ar.hpp"

#include "base/text.hpp"
#include "names/entry_names.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <optional>
#include <utility>

namespace quarry::gpu {

namespace {
// ar(5): name, date, owner, group and mode, then the size as decimal text, then two bytes that end the header.
constexpr std::size_t k_header_bytes = 60, k_name_bytes = 16, k_size_at = 48, k_size_bytes = 10, k_end_at = 58;
constexpr std::size_t k_long_name_max = 4096;
constexpr std::string_view k_bsd_name = "#1/"; // the name's length; the name itself begins the member

std::string member_name(std::string_view header) {
  auto name = text::trim(header.substr(0, k_name_bytes));
  if (name.size() > 1 && name.ends_with('/')) name.remove_suffix(1);
  return std::string(name);
}

/// Symbols, long names: GNU's begin with a slash that no number follows, BSD's with `__.SYMDEF`.
bool is_table(std::string_view name) {
  return name.empty() || name == "/" || name == "//" || name.starts_with("/SYM64") || name.starts_with("__.SYMDEF");
}

/// Moves a member's beginning behind the name that BSD's ar puts there.
Result<void> skip_long_name(const content::Rope& file, ArMember& member) {
  if (!member.name.starts_with(k_bsd_name)) return {};
  auto length = text::parse_u64(std::string_view(member.name).substr(k_bsd_name.size()));
  if (!length || *length > std::min<std::uint64_t>(member.size, k_long_name_max))
    return damaged(fmt::format("the name of the member at {:#x} reaches past its end", member.begin));
  TRY(auto name, bytes_at(file, member.begin, *length));
  member.name = name.substr(0, name.find('\0'));
  member.begin += *length;
  member.size -= *length;
  return {};
}

std::string name_in(std::string_view archive, const ArMember& member) {
  return fmt::format("{}!{}", archive, names::printable(member.name));
}

/// The file of a member that may hold device code; nullopt for the others.
Result<std::optional<content::Rope>> file_of(const content::Rope& archive, const ArMember& member) {
  auto file = archive.slice(member.begin, member.size);
  TRY(auto head, bytes_at(file, 0, k_bundle_magic.size()));
  if (head.starts_with(k_ar_magic) || !may_hold_code(head)) return std::optional<content::Rope>();
  return std::optional(std::move(file));
}

/// Adds what one member holds, at its place in the archive.
void add_contents(Contents& into, Contents more, std::uint64_t begin) {
  for (auto& object : more.objects) {
    if (into.objects.size() == k_objects_max) break;
    object.offset += begin;
    into.objects.push_back(std::move(object));
  }
  into.containers += more.containers;
  into.stored_bytes += more.stored_bytes;
  into.embedded = into.embedded || more.embedded;
  into.split = into.split || more.split;
  for (auto& finding : more.findings)
    if (into.findings.size() < k_findings_max) into.findings.push_back(std::move(finding));
}

bool same_places(const std::vector<ArMember>& a, const std::vector<ArMember>& b) {
  return std::ranges::equal(a, b, [](const ArMember& one, const ArMember& other) {
    return one.name == other.name && one.begin == other.begin && one.size == other.size;
  });
}

bool same_code(const Contents& a, const Contents& b) {
  return a.containers == b.containers &&
         std::ranges::equal(a.objects, b.objects, [](const CodeObject& one, const CodeObject& other) {
           return one.container == other.container && one.target == other.target && one.offset == other.offset &&
                  one.bytes == other.bytes;
         });
}

/// The members were proven one by one; this proves that they were put together where they belong.
Result<void> prove_members(const Thinned& thinned, const std::vector<ArMember>& members, std::string_view name) {
  auto read_back = ar_members(thinned.file);
  auto contents = read_contents(thinned.file, name);
  if (read_back && contents && same_places(*read_back, members) && same_code(*contents, thinned.after)) return {};
  return fail(ErrorKind::internal, "G116",
              fmt::format("the thinned {} cannot be proven: its members read back are not those that were kept", name),
              "nothing was written; report the file");
}
} // namespace

Result<std::vector<ArMember>> ar_members(const content::Rope& file) {
  std::vector<ArMember> members;
  for (std::uint64_t at = k_ar_magic.size(); at < file.size();) {
    TRY(auto header, bytes_at(file, at, k_header_bytes));
    if (header.size() == 1 && header == "\n") break; // the last member is padded to an even place
    auto size = header.size() == k_header_bytes ? text::parse_u64(text::trim(header.substr(k_size_at, k_size_bytes)))
                                                : std::nullopt;
    if (!size || header.substr(k_end_at) != "`\n")
      return damaged(fmt::format("the header of the member at {:#x} is malformed", at));
    ArMember member{member_name(header), at + k_header_bytes, *size};
    if (*size > file.size() - member.begin)
      return damaged(fmt::format("the member at {:#x} reaches past the end of the file", at));
    at = member.begin + *size + *size % 2;
    TRY_DO(skip_long_name(file, member));
    if (is_table(member.name)) continue;
    if (members.size() == k_ar_members_max)
      return damaged(fmt::format("it has more than {} members", k_ar_members_max));
    members.push_back(std::move(member));
  }
  return members;
}

Result<void> read_ar(Reading& reading) {
  TRY(auto members, ar_members(reading.file));
  for (const auto& member : members) {
    if (is_full(reading)) break;
    TRY(auto file, file_of(reading.file, member));
    if (!file) continue;
    Reading inner{*file, name_in(reading.name, member)};
    inner.budget = reading.budget;
    TRY_DO(read_all(inner));
    reading.budget = inner.budget;
    add_contents(reading.contents, std::move(inner.contents), member.begin);
  }
  return {};
}

Result<Thinned> thin_ar(const content::Rope& file, std::string_view name, const ThinRequest& request) {
  TRY(auto members, ar_members(file));
  Thinned out{file, false, {}, {}, {}};
  content::Rope made;
  std::uint64_t at = 0;
  for (const auto& member : members) {
    TRY(auto inside, file_of(file, member));
    if (!inside) continue;
    TRY(auto thinned, thin(*inside, name_in(name, member), request));
    bool shorter = thinned.file.size() != member.size;
    if (shorter) thinned.left.push_back("without the code it would get shorter, and the members behind it would move");
    for (auto& sentence : thinned.left)
      out.left.push_back(fmt::format("{}: {}", names::printable(member.name), sentence));
    add_contents(out.before, thinned.before, member.begin);
    add_contents(out.after, shorter ? std::move(thinned.before) : std::move(thinned.after), member.begin);
    if (!thinned.changed || shorter) continue;
    made.append(file.slice(at, member.begin - at));
    made.append(thinned.file);
    at = member.begin + member.size;
    out.changed = true;
  }
  if (!out.changed) return out;
  made.append(file.slice(at, file.size() - at));
  out.file = std::move(made);
  TRY_DO(prove_members(out, members, name));
  return out;
}

} // namespace quarry::gpu
