#include "zip/look.hpp"

#include "base/units.hpp"
#include "digest/sha256.hpp"
#include "zip/end.hpp"
#include "zip/format.hpp"
#include "zip/headers.hpp"
#include "zip/inflate.hpp"
#include <algorithm>
#include <vector>

namespace quarry::zip {

using namespace zip;

namespace {

// With the 64 KiB that a store reads at least for the member, below 128 KiB beside the rest of the directory.
constexpr std::uint64_t k_tail_bytes = 60u << 10;
// All that end records and the longest comment can occupy: when nothing ends the shorter tail.
constexpr std::uint64_t k_tail_bytes_max = k_end_bytes + 65535 + k_locator64_bytes + k_end64_bytes;
// To look at one member. The largest wheel seen has a directory of 1.3 MB.
constexpr std::uint64_t k_look_bytes_max = 16u << 20;
// For the local header's extra fields, which the directory does not tell: ZIP64 and a time take 50.
constexpr std::uint64_t k_extra_guess = 256;

std::string_view entry_name(std::string_view entry) { return entry.substr(k_central_bytes, get16(entry, 28)); }

/// The entries that fill `bytes` to its end; nullopt when something else stands there.
std::optional<std::vector<std::string_view>> entries_of(std::string_view bytes) {
  std::vector<std::string_view> entries;
  while (!bytes.empty()) {
    if (bytes.size() < k_central_bytes || get32(bytes, 0) != k_central_signature) return std::nullopt;
    auto size = k_central_bytes + get16(bytes, 28) + get16(bytes, 30) + get16(bytes, 32);
    if (size > bytes.size()) return std::nullopt;
    entries.push_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  return entries;
}

/// The size of the local header that `bytes` begins with; 0 if they do not begin with one.
std::size_t local_bytes(std::string_view bytes) {
  if (bytes.size() < k_local_bytes || get32(bytes, 0) != k_local_signature) return 0;
  return k_local_bytes + get16(bytes, 26) + get16(bytes, 28);
}

Unexpected damaged(const std::string& name, std::string code, std::string message) {
  return fail(ErrorKind::corrupt, std::move(code), fmt::format("{}: {}", name, message),
              "do not use this file: get it again from its source, or build it again");
}
Unexpected refused(const std::string& name, const Findings& found) {
  if (found.empty()) return damaged(name, "Z012", "an entry of the central directory is damaged");
  return fail(ErrorKind::corrupt, found.front().code, fmt::format("{}: {}", found.front().place, found.front().message),
              found.front().fix);
}
Unexpected too_large(const std::string& name, std::string_view what, std::uint64_t size, std::uint64_t max) {
  return fail(ErrorKind::corrupt, "Z016",
              fmt::format("{}: {} has {}, more than {}", name, what, units::bytes(size), units::bytes(max)),
              "do not use this file");
}

/// What one call of look() or list() is about.
struct Asked {
  const content::Rope& archive;
  const std::string& name;
  const LookRequest& request;
  std::uint64_t directory_bytes_max;
};

/// The last bytes of an archive, from `begin` on.
struct ArchiveTail {
  std::uint64_t begin = 0;
  std::string bytes;

  std::string_view at(std::uint64_t offset, std::uint64_t size) const {
    return std::string_view(bytes).substr(offset - begin, size);
  }
};

/// Read from the tail, or else from the archive.
Result<std::string> bytes_at(const content::Rope& archive, const ArchiveTail& tail, std::uint64_t offset,
                             std::uint64_t size) {
  if (!tail.bytes.empty() && offset >= tail.begin) return std::string(tail.at(offset, size));
  std::string bytes(size, '\0');
  TRY_DO(archive.read(offset, std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

// With a long comment, the ZIP64 records may lie before the tail. Then the classic record alone seems to speak.
bool ends_within(const ArchiveTail& tail, const CentralPlace& place) {
  return place.offset + place.size >= tail.begin + k_locator64_bytes + k_end64_bytes;
}

/// Reads the tail, and with it where the central directory is. What lies before the tail is not read: zeros stand for
/// it, and no record begins with them.
Result<CentralPlace> find_directory(const Asked& asked, ArchiveTail& tail) {
  const auto size = asked.archive.size();
  for (auto wanted : {k_tail_bytes, k_tail_bytes_max}) {
    tail = {size - std::min(size, wanted), {}};
    TRY(tail.bytes, bytes_at(asked.archive, tail, tail.begin, size - tail.begin));
    auto known = content::Rope::zeros(tail.begin);
    known.append(content::Rope::literal(tail.bytes));
    Findings found;
    Defects findings(found, asked.name);
    auto place = find_central_directory(known, findings);
    bool last = tail.begin == 0 || wanted == k_tail_bytes_max;
    if (place && (last || ends_within(tail, *place))) return *place;
    if (last) return refused(asked.name, found);
  }
  return refused(asked.name, {});
}

Result<void> read_rest(const Asked& asked, const CentralPlace& place, ArchiveTail& tail) {
  if (place.size > asked.directory_bytes_max)
    return too_large(asked.name, "the central directory", place.size, asked.directory_bytes_max);
  TRY(auto front, bytes_at(asked.archive, tail, place.offset, tail.begin - place.offset));
  tail.bytes.insert(0, front);
  tail.begin = place.offset;
  return {};
}

/// The one entry that is wanted; empty if none is.
Result<std::string_view> choose(const std::vector<std::string_view>& entries, const Asked& asked) {
  std::string_view chosen;
  for (auto entry : entries) {
    if (!asked.request.wanted(entry_name(entry))) continue;
    if (!chosen.empty())
      return damaged(asked.name, "Z001",
                     fmt::format("both {} and {} exist", names::printable(entry_name(chosen)),
                                 names::printable(entry_name(entry))));
    chosen = entry;
  }
  return chosen;
}

// All entries; they lie in `tail`. All of the directory is read: an entry is one only when those before it are known.
// An extra field that begins before the tail may hold whole entries, which chain into real ones.
Result<std::vector<std::string_view>> read_entries(const Asked& asked, const CentralPlace& place, ArchiveTail& tail) {
  if (place.offset < tail.begin) TRY_DO(read_rest(asked, place, tail));
  auto entries = entries_of(tail.at(place.offset, place.size));
  if (!entries) return damaged(asked.name, "Z012", "the central directory is damaged, or holds another kind of record");
  if (entries->size() != place.entries)
    return damaged(asked.name, "Z008",
                   fmt::format("the end record counts {} entries, the central directory holds {}", place.entries,
                               entries->size()));
  return *std::move(entries);
}

Result<void> check_local(const std::string& name, const Header& central, std::string_view bytes) {
  Findings found;
  Defects findings(found, name);
  auto local = parse_local_header(bytes, findings);
  if (!local)
    return damaged(name, "Z002", fmt::format("the local header of {} is damaged", names::printable(central.name)));
  if (findings.broken()) return refused(name, found);
  if (local->name != central.name)
    return damaged(
        name, "Z003",
        fmt::format("the local header calls {} {}", names::printable(central.name), names::printable(local->name)));
  bool same = local->size == central.size && local->stored_size == central.stored_size && local->crc == central.crc &&
              local->method == central.method;
  if (same) return {};
  return damaged(name, "Z004",
                 fmt::format("local header and central directory disagree about {}", names::printable(central.name)));
}

Result<std::string> unpacked(const std::string& name, const Header& header, std::string packed) {
  std::string content;
  auto where = [&] { return fmt::format("while reading {}!{}", name, names::printable(header.name)); };
  if (header.method == k_method_stored && header.size != header.stored_size)
    return damaged(name, "Z004",
                   fmt::format("{} is stored with {} bytes that unpack to {}", names::printable(header.name),
                               header.stored_size, header.size));
  if (header.method == k_method_stored)
    content = std::move(packed);
  else
    TRY_DO(inflate(content::Rope::literal(std::move(packed)), header.size,
                   {[&](std::span<const std::byte> chunk) -> Result<void> {
                     content.append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
                     return {};
                   }}),
           where());
  if (crc32(0, std::as_bytes(std::span(content))) != header.crc)
    return damaged(name, "Z005", fmt::format("the data of {} does not match its CRC", names::printable(header.name)));
  return content;
}

Result<std::string> read_member(const ArchiveTail& tail, const CentralPlace& place, const Header& central,
                                const Asked& asked) {
  const auto& [archive, name, request, _] = asked;
  if (central.size > request.bytes_max) return too_large(name, central.name, central.size, request.bytes_max);
  // Deflate adds 5 bytes to 64 KiB at worst, so more than this stands for no honest member.
  if (central.stored_size > request.bytes_max + request.bytes_max / 1024 + 64)
    return too_large(name, central.name, central.stored_size, request.bytes_max);
  auto offset = central.header_offset;
  if (offset >= place.offset || place.offset - offset < k_local_bytes)
    return damaged(
        name, "Z002",
        fmt::format("there is no local header of {} where the central directory says", names::printable(central.name)));
  auto room = place.offset - offset;
  TRY(auto bytes, bytes_at(archive, tail, offset,
                           std::min(room, k_local_bytes + central.name.size() + k_extra_guess + central.stored_size)));
  auto head = local_bytes(bytes);
  if (head == 0)
    return damaged(
        name, "Z002",
        fmt::format("there is no local header of {} where the central directory says", names::printable(central.name)));
  if (head > room || central.stored_size > room - head)
    return damaged(name, "Z004",
                   fmt::format("the data of {} reaches into the central directory", names::printable(central.name)));
  if (bytes.size() < head + central.stored_size) {
    TRY(auto more, bytes_at(archive, tail, offset + bytes.size(), head + central.stored_size - bytes.size()));
    bytes += more;
  }
  TRY_DO(check_local(name, central, bytes));
  return unpacked(name, central, bytes.substr(head, central.stored_size));
}

} // namespace

Result<std::optional<LookedAt>> look(const content::Rope& archive, const std::string& name,
                                     const LookRequest& request) {
  Asked asked{archive, name, request, k_look_bytes_max};
  ArchiveTail tail;
  TRY(auto place, find_directory(asked, tail));
  TRY(auto entries, read_entries(asked, place, tail));
  TRY(auto entry, choose(entries, asked));
  if (entry.empty()) return std::optional<LookedAt>();
  Findings found;
  Defects findings(found, name);
  auto header = parse_central_header(entry, findings);
  if (!header || findings.broken()) return refused(name, found);
  TRY(auto content, read_member(tail, place, *header, asked));
  return std::optional(LookedAt{header->name, std::move(content)});
}

Result<std::vector<ListedMember>> list(const content::Rope& archive, const std::string& name) {
  LookRequest nothing;
  Asked asked{archive, name, nothing, k_central_bytes_max}; // whatever Reader takes
  ArchiveTail tail;
  TRY(auto place, find_directory(asked, tail));
  TRY(auto entries, read_entries(asked, place, tail));
  std::vector<ListedMember> members;
  members.reserve(entries.size());
  Findings found;
  Defects findings(found, name);
  for (auto entry : entries) {
    auto header = parse_central_header(entry, findings);
    if (!header || findings.broken()) return refused(name, found);
    members.push_back({std::move(header->name), header->size, header->crc});
  }
  return members;
}

} // namespace quarry::zip
