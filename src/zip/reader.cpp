#include "zip/reader.hpp"

#include "base/codes.hpp"
#include "base/units.hpp"
#include "sys/clock.hpp"
#include "zip/end.hpp"
#include "zip/format.hpp"
#include "zip/headers.hpp"
#include "zip/inflate.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <tuple>

namespace quarry::zip {

using namespace zip;

namespace {

constexpr std::uint64_t k_expansion_free = 256ull << 20; // an ordinary file of zeros: 200 MB packs to 200 kB
constexpr unsigned k_special_bits = 07000;

bool within_limits(const CentralPlace& place, const Limits& limits, Defects& findings) {
  if (place.entries > limits.entries_max)
    findings.error("Z016", {}, fmt::format("{} entries are more than {}", place.entries, limits.entries_max));
  if (place.size > k_central_bytes_max)
    findings.error("Z016", {},
                   fmt::format("the central directory has {}, more than {}", units::bytes(place.size),
                               units::bytes(k_central_bytes_max)));
  return !findings.broken();
}

/// The headers of the central directory; nullopt if it is not what the end record says.
std::optional<std::vector<Header>> read_central(const content::Rope& archive, const CentralPlace& place,
                                                Defects& findings) {
  std::string bytes(place.size, '\0');
  if (auto read = archive.read(place.offset, std::as_writable_bytes(std::span(bytes))); !read) {
    findings.error(read.error().code, {}, read.error().message);
    return std::nullopt;
  }
  std::vector<Header> headers;
  std::string_view rest = bytes;
  while (!rest.empty()) {
    auto header = parse_central_header(rest, findings);
    if (!header) {
      findings.error(
          "Z012", {},
          fmt::format("entry {} of the central directory is damaged or another kind of record", headers.size() + 1));
      return std::nullopt;
    }
    rest.remove_prefix(header->bytes);
    headers.push_back(std::move(*header));
    if (headers.size() > place.entries) break;
  }
  if (headers.size() == place.entries) return headers;
  findings.error("Z008", {},
                 fmt::format("the end record counts {} entries, the central directory holds {}", place.entries,
                             rest.empty() ? "fewer" : "more"));
  return std::nullopt;
}

// ---- what the central directory says of each member

// Readers take the upper half for a Unix mode whatever made the entry (pip, uv), or for some systems only (Info-ZIP
// creates links that BeOS made); 7-Zip takes a file with the DOS bit of directories for one.
void check_attributes(const Header& h, Defects& findings) {
  constexpr std::array<std::uint8_t, 6> k_known{0, 3, 10, 11, 14, 19}; // FAT, Unix, NTFS (twice), VFAT, macOS
  constexpr unsigned k_dos_volume = 0x08, k_dos_directory = 0x10, k_dos_device = 0x40, k_reparse_point = 0x400;
  if (h.mode != 0 && std::find(k_known.begin(), k_known.end(), h.maker) == k_known.end())
    findings.error("Z022", h.name,
                   fmt::format("the mode {:o} of system {}, which readers understand differently", h.mode, h.maker));
  if ((h.dos_attributes & k_dos_directory) && !h.name.ends_with('/'))
    findings.error("Z022", h.name, "named like a file, but a directory by its DOS attributes");
  if (h.dos_attributes & (k_dos_volume | k_dos_device | k_reparse_point))
    findings.error("Z022", h.name, "a volume label, device or link by its DOS attributes");
}

void check_type(const Member& m, Defects& findings) {
  auto type = m.mode & k_mode_type_mask;
  if (m.is_directory) {
    if (m.size != 0 || m.crc != 0 || m.stored_size > (m.method == k_method_deflate ? 2 : 0))
      findings.error("Z019", m.name, "a directory with content");
    if (type != 0 && type != k_mode_directory)
      findings.error("Z019", m.name, "named like a directory, but of another type");
    return;
  }
  if (type != 0 && type != k_mode_file)
    findings.error("Z019", m.name, type == 0120000 ? "a symbolic link" : "neither a file nor a directory by its mode");
  if (m.mode & k_special_bits) findings.error("Z019", m.name, "setuid, setgid or sticky: no installer may keep it");
}

/// The members, without the places of their data; nullopt if their names take too much memory.
std::optional<std::vector<Member>> members_of(const std::vector<Header>& headers, const Limits& limits,
                                              Defects& findings) {
  names::NameSet names(limits.entries_max);
  std::vector<Member> members;
  members.reserve(headers.size());
  for (const auto& h : headers) {
    Member m{h.name, h.size, h.stored_size, h.header_offset, 0, h.crc, h.method, h.mode, h.name.ends_with('/')};
    auto defect = names::check_name(m.name, m.is_directory);
    if (!defect) defect = names.add(m.name, m.is_directory);
    if (defect) findings.error(defect->code, m.name, defect->message);
    if (defect && defect->code == codes::expands_too_much) return std::nullopt;
    check_type(m, findings);
    check_attributes(h, findings);
    if (m.method == k_method_stored && m.size != m.stored_size)
      findings.error("Z004", m.name,
                     fmt::format("stored without compression, but {} bytes unpack to {}", m.stored_size, m.size));
    members.push_back(std::move(m));
  }
  return members;
}

void check_work(const std::vector<Member>& members, std::uint64_t archive_bytes, const Limits& limits,
                Defects& findings) {
  std::uint64_t total = 0;
  for (const auto& m : members) total = m.size > UINT64_MAX - total ? UINT64_MAX : total + m.size;
  auto allowed = expansion_allowed(archive_bytes, limits);
  if (total > allowed)
    findings.error("Z016", {},
                   fmt::format("{} would become {}, more than the {} allowed", units::bytes(archive_bytes),
                               units::bytes(total), units::bytes(allowed)));
}

// ---- local headers and data

/// The part of the archive before its central directory, read from front to back in windows: the headers of 100,000
/// small members lie close together.
class Body {
public:
  Body(const content::Rope& archive, std::uint64_t bytes) : end(bytes), archive_(archive) {}

  /// Returns `size` bytes, until the next call; nullopt beyond the end, or if they cannot be read.
  std::optional<std::string_view> read(std::uint64_t at, std::size_t size) {
    constexpr std::uint64_t k_window_bytes = 16u << 10;
    if (at > end || end - at < size) return std::nullopt;
    if (at < begin_ || at - begin_ > window_.size() || window_.size() - (at - begin_) < size) {
      begin_ = at;
      window_.resize(
          static_cast<std::size_t>(std::min<std::uint64_t>(end - at, std::max(k_window_bytes, std::uint64_t{size}))));
      if (!archive_.read(at, std::as_writable_bytes(std::span(window_)))) {
        window_.clear();
        return std::nullopt;
      }
    }
    return std::string_view(window_).substr(at - begin_, size);
  }

  const std::uint64_t end;

private:
  const content::Rope& archive_;
  std::string window_;
  std::uint64_t begin_ = 0;
};

std::optional<Header> read_local(Body& body, std::uint64_t at, Defects& findings) {
  auto fixed = body.read(at, k_local_bytes);
  if (!fixed || get32(*fixed, 0) != k_local_signature) return std::nullopt;
  auto whole = body.read(at, k_local_bytes + get16(*fixed, 26) + get16(*fixed, 28));
  if (!whole) return std::nullopt;
  return parse_local_header(*whole, findings);
}

void compare_headers(const Header& central, const Header& local, Defects& findings) {
  constexpr std::uint16_t k_flags_that_matter = static_cast<std::uint16_t>(~0x0006u); // not the compressor's level
  const auto& name = central.name;
  if (local.name != name)
    findings.error("Z003", name, fmt::format("the local header calls it {}", names::printable(local.name)));
  if (local.size != central.size || local.stored_size != central.stored_size)
    findings.error("Z004", name,
                   fmt::format("sizes differ: {} and {} in the local header, {} and {} in the central directory",
                               local.stored_size, local.size, central.stored_size, central.size));
  if (local.crc != central.crc)
    findings.error("Z005", name, "the CRC differs between local header and central directory");
  if (local.method != central.method)
    findings.error("Z015", name, "the method differs between local header and central directory");
  if ((local.flags ^ central.flags) & k_flags_that_matter)
    findings.error("Z012", name, "the flags differ between local header and central directory");
}

/// Between what belongs to the entries before, which ends `at`, and what entry `i` names: why do they not meet?
void report_gap(Body& body, const std::vector<Member>& members, std::size_t i, std::uint64_t at, Defects& findings) {
  auto next = i < members.size() ? members[i].header_offset : body.end;
  std::string_view name = i < members.size() ? std::string_view(members[i].name) : std::string_view();
  if (next < at)
    return findings.error("Z021", name, "the central directory is not in the order of the file, or entries overlap");
  auto bytes = body.read(at, 4);
  bool hidden = bytes && get32(*bytes, 0) == k_local_signature;
  bool listed = std::any_of(members.begin(), members.end(), [&](const Member& m) { return m.header_offset == at; });
  if (hidden && listed) return findings.error("Z021", name, "the central directory is not in the order of the file");
  if (hidden)
    return findings.error("Z002", name, fmt::format("an entry at byte {} is missing from the central directory", at));
  findings.error("Z012", name, fmt::format("{} bytes at {} belong to nothing", next - at, at));
}

/// Finds the data of each member. Local headers and data must fill the file from its first byte to the central
/// directory, in the directory's order.
bool find_data(Body& body, const std::vector<Header>& headers, std::vector<Member>& members, Defects& findings) {
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    auto& member = members[i];
    if (member.header_offset != at) {
      report_gap(body, members, i, at, findings);
      return false;
    }
    auto local = read_local(body, at, findings);
    if (!local) {
      findings.error("Z002", member.name, "there is no local header where the central directory says");
      return false;
    }
    compare_headers(headers[i], *local, findings);
    member.data_offset = at + local->bytes;
    if (member.stored_size > body.end - member.data_offset) {
      findings.error("Z004", member.name, "the data reaches into the central directory");
      return false;
    }
    at = member.data_offset + member.stored_size;
  }
  if (at != body.end) report_gap(body, members, members.size(), at, findings);
  return at == body.end;
}

std::optional<std::vector<Member>> open_members(const content::Rope& archive, Defects& findings, const Limits& limits) {
  auto place = find_central_directory(archive, findings);
  if (!place || !within_limits(*place, limits, findings)) return std::nullopt;
  auto headers = read_central(archive, *place, findings);
  if (!headers) return std::nullopt;
  auto members = members_of(*headers, limits, findings);
  if (!members) return std::nullopt;
  check_work(*members, archive.size(), limits, findings);
  Body body(archive, place->offset);
  if (!find_data(body, *headers, *members, findings)) return std::nullopt;
  return members;
}

/// content::pump() into the buffers of Reading.
Result<void> copy(const content::Rope& bytes, std::span<std::vector<std::byte>> buffers,
                  const std::function<Result<void>(std::span<const std::byte>)>& tap) {
  constexpr std::uint64_t k_chunk = 1u << 20;
  if (buffers.empty()) return content::pump(bytes, tap);
  std::size_t number = 0;
  for (std::uint64_t at = 0; at < bytes.size(); at += k_chunk) {
    auto& buffer = buffers[number++ % buffers.size()];
    buffer.resize(static_cast<std::size_t>(std::min(k_chunk, bytes.size() - at)));
    TRY_DO(bytes.read(at, buffer));
    TRY_DO(tap(buffer));
  }
  return {};
}

} // namespace

std::uint64_t expansion_allowed(std::uint64_t archive_bytes, const Limits& limits) {
  bool far = archive_bytes >= limits.declared_bytes_max / std::max<std::uint64_t>(limits.ratio_max, 1);
  return far ? limits.declared_bytes_max
             : std::min(limits.declared_bytes_max, k_expansion_free + limits.ratio_max * archive_bytes);
}

std::optional<Reader> Reader::open(content::Rope archive, std::string name, Findings& findings, const Limits& limits) {
  Defects collected(findings, name);
  auto members = open_members(archive, collected, limits);
  if (!members) return std::nullopt;
  Reader reader(std::move(archive), std::move(name));
  reader.members_ = std::move(*members);
  const auto& all = reader.members_;
  reader.by_name_.resize(all.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) reader.by_name_[i] = i;
  std::sort(reader.by_name_.begin(), reader.by_name_.end(),
            [&](auto a, auto b) { return std::tie(all[a].name, a) < std::tie(all[b].name, b); });
  return reader;
}

const Member* Reader::find(std::string_view name) const {
  auto it = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                             [&](auto number, std::string_view wanted) { return members_[number].name < wanted; });
  return it == by_name_.end() || members_[*it].name != name ? nullptr : &members_[*it];
}

Result<void> Reader::read(const Member& member, const std::function<Result<void>(std::span<const std::byte>)>& tap,
                          const Reading& how) const {
  auto packed = archive_.slice(member.data_offset, member.stored_size);
  std::uint32_t crc = 0;
  auto checked = [&](std::span<const std::byte> chunk) -> Result<void> {
    TRY_DO(sys::check_interrupted()); // a member of 3 GB takes half a minute
    crc = crc32(crc, chunk);
    return tap(chunk);
  };
  auto where = [&] { return fmt::format("while reading {}!{}", name_, names::printable(member.name)); };
  bool nothing = member.is_directory && member.stored_size == 0;
  if (member.method == k_method_deflate && !nothing)
    TRY_DO(inflate(packed, member.size, {checked, how.cuts, how.buffers}), where());
  else
    TRY_DO(copy(packed, how.buffers, checked), where());
  if (crc != member.crc)
    return fail(Error{ErrorKind::corrupt,
                      "Z005",
                      "the data does not match its CRC",
                      {},
                      {where()},
                      "do not use this file: get it again from its source, or build it again"});
  return {};
}

Result<std::string> Reader::read_all(const Member& member, std::uint64_t max_bytes) const {
  if (member.size > max_bytes)
    return fail(ErrorKind::resource_exhausted, "Z016",
                fmt::format("{}!{} has {}, more than {}", name_, names::printable(member.name),
                            units::bytes(member.size), units::bytes(max_bytes)),
                "do not use this file");
  std::string out;
  out.reserve(member.size);
  TRY_DO(read(member, [&](std::span<const std::byte> chunk) -> Result<void> {
    out.append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
    return {};
  }));
  return out;
}

} // namespace quarry::zip
