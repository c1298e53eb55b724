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

// 46 bytes and a name each; the largest wheel seen has 1.3 MB. A larger one is an attack on memory, not a directory.
constexpr std::uint64_t k_central_bytes_max = 128ull << 20;
constexpr std::uint64_t k_expansion_free = 256ull << 20; // an ordinary file of zeros: 200 MB packs to 200 kB
constexpr unsigned k_special_bits = 07000;

class Opener {
public:
  Opener(const content::Rope& archive, Defects& findings, const Limits& limits)
      : archive_(archive), findings_(findings), limits_(limits) {}

  std::optional<std::vector<Member>> run() {
    auto place = find_central_directory(archive_, findings_);
    if (!place || !within_limits(*place) || !read_central(*place)) return std::nullopt;
    if (!check_members()) return std::nullopt;
    check_work();
    if (!check_locals(place->offset)) return std::nullopt;
    return std::move(members_);
  }

private:
  bool within_limits(const CentralPlace& place) {
    if (place.entries > limits_.entries_max)
      findings_.error("Z016", {}, fmt::format("{} entries are more than {}", place.entries, limits_.entries_max));
    if (place.size > k_central_bytes_max)
      findings_.error("Z016", {},
                      fmt::format("the central directory has {}, more than {}", units::bytes(place.size),
                                  units::bytes(k_central_bytes_max)));
    return !findings_.broken();
  }

  bool read_central(const CentralPlace& place) {
    std::string bytes(place.size, '\0');
    if (auto read = archive_.read(place.offset, std::as_writable_bytes(std::span(bytes))); !read) {
      findings_.error(read.error().code, {}, read.error().message);
      return false;
    }
    std::string_view rest = bytes;
    while (!rest.empty()) {
      auto header = parse_central_header(rest, findings_);
      if (!header) {
        findings_.error(
            "Z012", {},
            fmt::format("entry {} of the central directory is damaged or another kind of record", headers_.size() + 1));
        return false;
      }
      rest.remove_prefix(header->bytes);
      headers_.push_back(std::move(*header));
      if (headers_.size() > place.entries) break;
    }
    if (headers_.size() == place.entries) return true;
    findings_.error("Z008", {},
                    fmt::format("the end record counts {} entries, the central directory holds {}", place.entries,
                                rest.empty() ? "fewer" : "more"));
    return false;
  }

  bool check_members() {
    names::NameSet names(limits_.entries_max);
    members_.reserve(headers_.size());
    for (const auto& h : headers_) {
      Member m{h.name, h.size, h.stored_size, h.header_offset, 0, h.crc, h.method, h.mode, h.name.ends_with('/')};
      auto defect = names::check_name(m.name, m.is_directory);
      if (!defect) defect = names.add(m.name, m.is_directory);
      if (defect) findings_.error(defect->code, m.name, defect->message);
      if (defect && defect->code == codes::expands_too_much) return false;
      check_type(m);
      check_attributes(h);
      if (m.method == k_method_stored && m.size != m.stored_size)
        findings_.error("Z004", m.name,
                        fmt::format("stored without compression, but {} bytes unpack to {}", m.stored_size, m.size));
      members_.push_back(std::move(m));
    }
    return true;
  }

  // Readers take the upper half for a Unix mode whatever made the entry (pip, uv), or for some systems only (Info-ZIP
  // creates links that BeOS made); 7-Zip takes a file with the DOS bit of directories for one.
  void check_attributes(const Header& h) {
    constexpr std::array<std::uint8_t, 6> k_known{0, 3, 10, 11, 14, 19}; // FAT, Unix, NTFS (twice), VFAT, macOS
    constexpr unsigned k_dos_volume = 0x08, k_dos_directory = 0x10, k_dos_device = 0x40, k_reparse_point = 0x400;
    if (h.mode != 0 && std::find(k_known.begin(), k_known.end(), h.maker) == k_known.end())
      findings_.error("Z022", h.name,
                      fmt::format("the mode {:o} of system {}, which readers understand differently", h.mode, h.maker));
    if ((h.dos_attributes & k_dos_directory) && !h.name.ends_with('/'))
      findings_.error("Z022", h.name, "named like a file, but a directory by its DOS attributes");
    if (h.dos_attributes & (k_dos_volume | k_dos_device | k_reparse_point))
      findings_.error("Z022", h.name, "a volume label, device or link by its DOS attributes");
  }

  void check_type(const Member& m) {
    auto type = m.mode & k_mode_type_mask;
    if (m.is_directory) {
      if (m.size != 0 || m.crc != 0 || m.stored_size > (m.method == k_method_deflate ? 2 : 0))
        findings_.error("Z019", m.name, "a directory with content");
      if (type != 0 && type != k_mode_directory)
        findings_.error("Z019", m.name, "named like a directory, but of another type");
      return;
    }
    if (type != 0 && type != k_mode_file)
      findings_.error("Z019", m.name,
                      type == 0120000 ? "a symbolic link" : "neither a file nor a directory by its mode");
    if (m.mode & k_special_bits) findings_.error("Z019", m.name, "setuid, setgid or sticky: no installer may keep it");
  }

  void check_work() {
    std::uint64_t total = 0;
    for (const auto& m : members_) total = m.size > UINT64_MAX - total ? UINT64_MAX : total + m.size;
    auto allowed = expansion_allowed(archive_.size(), limits_);
    if (total > allowed)
      findings_.error("Z016", {},
                      fmt::format("{} would become {}, more than the {} allowed", units::bytes(archive_.size()),
                                  units::bytes(total), units::bytes(allowed)));
  }

  // Local headers and data must fill the file from its first byte to the central directory, in the directory's order.
  bool check_locals(std::uint64_t end) {
    std::uint64_t at = 0;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (members_[i].header_offset != at) {
        report_gap(i, at, end);
        return false;
      }
      auto local = read_local(at, end);
      if (!local) {
        findings_.error("Z002", members_[i].name, "there is no local header where the central directory says");
        return false;
      }
      compare(headers_[i], *local);
      members_[i].data_offset = at + local->bytes;
      auto room = end - members_[i].data_offset;
      if (members_[i].stored_size > room) {
        findings_.error("Z004", members_[i].name, "the data reaches into the central directory");
        return false;
      }
      at = members_[i].data_offset + members_[i].stored_size;
    }
    if (at != end) report_gap(members_.size(), at, end);
    return at == end;
  }

  std::optional<Header> read_local(std::uint64_t at, std::uint64_t end) {
    if (end - at < k_local_bytes) return std::nullopt;
    std::string bytes(k_local_bytes, '\0');
    if (!archive_.read(at, std::as_writable_bytes(std::span(bytes)))) return std::nullopt;
    if (get32(bytes, 0) != k_local_signature) return std::nullopt;
    auto size = k_local_bytes + get16(bytes, 26) + get16(bytes, 28);
    if (end - at < size) return std::nullopt;
    bytes.resize(size);
    if (!archive_.read(at, std::as_writable_bytes(std::span(bytes)))) return std::nullopt;
    return parse_local_header(bytes, findings_);
  }

  // Between what belongs to the entries before and what entry `i` names: why do they not meet?
  void report_gap(std::size_t i, std::uint64_t at, std::uint64_t end) {
    auto next = i < members_.size() ? members_[i].header_offset : end;
    std::string_view name = i < members_.size() ? std::string_view(members_[i].name) : std::string_view();
    if (next < at)
      return findings_.error("Z021", name, "the central directory is not in the order of the file, or entries overlap");
    std::string bytes(4, '\0');
    bool hidden = end - at >= 4 && archive_.read(at, std::as_writable_bytes(std::span(bytes))) &&
                  get32(bytes, 0) == k_local_signature;
    if (hidden && is_listed(at))
      return findings_.error("Z021", name, "the central directory is not in the order of the file");
    if (hidden)
      return findings_.error("Z002", name,
                             fmt::format("an entry at byte {} is missing from the central directory", at));
    findings_.error("Z012", name, fmt::format("{} bytes at {} belong to nothing", next - at, at));
  }
  bool is_listed(std::uint64_t offset) const {
    return std::any_of(members_.begin(), members_.end(), [&](const Member& m) { return m.header_offset == offset; });
  }

  void compare(const Header& central, const Header& local) {
    constexpr std::uint16_t k_flags_that_matter = static_cast<std::uint16_t>(~0x0006u); // not the compressor's level
    const auto& name = central.name;
    if (local.name != name)
      findings_.error("Z003", name, fmt::format("the local header calls it {}", names::printable(local.name)));
    if (local.size != central.size || local.stored_size != central.stored_size)
      findings_.error("Z004", name,
                      fmt::format("sizes differ: {} and {} in the local header, {} and {} in the central directory",
                                  local.stored_size, local.size, central.stored_size, central.size));
    if (local.crc != central.crc)
      findings_.error("Z005", name, "the CRC differs between local header and central directory");
    if (local.method != central.method)
      findings_.error("Z015", name, "the method differs between local header and central directory");
    if ((local.flags ^ central.flags) & k_flags_that_matter)
      findings_.error("Z012", name, "the flags differ between local header and central directory");
  }

  const content::Rope& archive_;
  Defects& findings_;
  const Limits& limits_;
  std::vector<Header> headers_;
  std::vector<Member> members_;
};

} // namespace

std::uint64_t expansion_allowed(std::uint64_t archive_bytes, const Limits& limits) {
  bool far = archive_bytes >= limits.declared_bytes_max / std::max<std::uint64_t>(limits.ratio_max, 1);
  return far ? limits.declared_bytes_max
             : std::min(limits.declared_bytes_max, k_expansion_free + limits.ratio_max * archive_bytes);
}

std::optional<Reader> Reader::open(content::Rope archive, std::string name, Findings& findings, const Limits& limits) {
  Defects collected(findings, name);
  auto members = Opener(archive, collected, limits).run();
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

Result<void> Reader::read(const Member& member,
                          const std::function<Result<void>(std::span<const std::byte>)>& tap) const {
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
    TRY_DO(inflate(packed, member.size, checked), where());
  else
    TRY_DO(content::pump(packed, checked), where());
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
