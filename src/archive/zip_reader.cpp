#include "archive/zip_reader.hpp"

#include "archive/zip_end.hpp"
#include "archive/zip_format.hpp"
#include "archive/zip_headers.hpp"
#include "archive/zip_inflate.hpp"
#include "base/units.hpp"
#include "sys/clock.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::archive {

using namespace zip;

namespace {

// 46 bytes and a name each; the largest wheel seen has 1.3 MB. More than this is no directory but an attack on memory.
constexpr std::uint64_t k_central_bytes_max = 512ull << 20;
constexpr std::uint64_t k_expansion_free = 64ull << 20; // PyPI ignores ratios below this too
constexpr unsigned k_special_bits = 07000;

class Opener {
public:
  Opener(const content::Rope& archive, ZipFindings& findings, const ZipLimits& limits)
      : archive_(archive), findings_(findings), limits_(limits) {}

  std::optional<std::vector<ZipMember>> run() {
    auto place = find_central_directory(archive_, findings_);
    if (!place || !within_limits(*place) || !read_central(*place)) return std::nullopt;
    check_members();
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

  void check_members() {
    NameSet names;
    for (const auto& h : headers_) {
      ZipMember m{h.name, h.size, h.stored_size, h.header_offset, 0, h.crc, h.method, h.mode, h.name.ends_with('/')};
      auto defect = check_name(m.name, m.is_directory);
      if (!defect) defect = names.add(m.name, m.is_directory);
      if (defect) findings_.error(defect->code, m.name, defect->message);
      check_type(m);
      if (m.method == k_method_stored && m.size != m.stored_size)
        findings_.error("Z004", m.name,
                        fmt::format("stored without compression, but {} bytes stand for {}", m.stored_size, m.size));
      members_.push_back(std::move(m));
    }
  }

  void check_type(const ZipMember& m) {
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
    auto allowed =
        std::min(limits_.declared_bytes_max,
                 k_expansion_free + (archive_.size() > UINT64_MAX / 2 / std::max<std::uint64_t>(1, limits_.ratio_max)
                                         ? UINT64_MAX / 2
                                         : limits_.ratio_max * archive_.size()));
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

  std::optional<ZipHeader> read_local(std::uint64_t at, std::uint64_t end) {
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
    return std::any_of(members_.begin(), members_.end(), [&](const ZipMember& m) { return m.header_offset == offset; });
  }

  void compare(const ZipHeader& central, const ZipHeader& local) {
    constexpr std::uint16_t k_flags_that_matter = static_cast<std::uint16_t>(~0x0006u); // not the compressor's level
    const auto& name = central.name;
    if (local.name != name)
      findings_.error("Z003", name, fmt::format("the local header calls it {}", printable(local.name)));
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
  ZipFindings& findings_;
  const ZipLimits& limits_;
  std::vector<ZipHeader> headers_;
  std::vector<ZipMember> members_;
};

} // namespace

std::optional<ZipReader> ZipReader::open(content::Rope archive, std::string name, Findings& findings,
                                         const ZipLimits& limits) {
  ZipFindings collected(findings, name);
  auto members = Opener(archive, collected, limits).run();
  if (!members) return std::nullopt;
  ZipReader reader(std::move(archive), std::move(name));
  reader.members_ = std::move(*members);
  for (std::size_t i = 0; i < reader.members_.size(); ++i) reader.by_name_.try_emplace(reader.members_[i].name, i);
  return reader;
}

const ZipMember* ZipReader::find(std::string_view name) const {
  auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : &members_[it->second];
}

Result<void> ZipReader::read(const ZipMember& member,
                             const std::function<Result<void>(std::span<const std::byte>)>& tap) const {
  auto packed = archive_.slice(member.data_offset, member.stored_size);
  std::uint32_t crc = 0;
  auto checked = [&](std::span<const std::byte> chunk) -> Result<void> {
    TRY_DO(sys::check_interrupted()); // a member of 3 GB takes half a minute
    crc = crc32(crc, chunk);
    return tap(chunk);
  };
  auto where = [&] { return fmt::format("while reading {}!{}", name_, printable(member.name)); };
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

Result<std::string> ZipReader::read_all(const ZipMember& member, std::uint64_t max_bytes) const {
  if (member.size > max_bytes)
    return fail(ErrorKind::resource_exhausted, "Z016",
                fmt::format("{}!{} has {}, more than {}", name_, printable(member.name), units::bytes(member.size),
                            units::bytes(max_bytes)),
                "do not use this file");
  std::string out;
  out.reserve(member.size);
  TRY_DO(read(member, [&](std::span<const std::byte> chunk) -> Result<void> {
    out.append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
    return {};
  }));
  return out;
}

} // namespace quarry::archive
