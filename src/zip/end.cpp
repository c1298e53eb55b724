#include "zip/end.hpp"

#include "zip/format.hpp"
#include <algorithm>
#include <string>

namespace quarry::zip {

using namespace zip;

namespace {

constexpr std::uint64_t k_comment_max = 65535;

// The archive's last bytes, all that end records and comment can occupy.
struct LastBytes {
  std::string bytes;
  std::uint64_t begin = 0; // of them in the archive

  std::string_view at(std::uint64_t offset, std::size_t size) const {
    return offset >= begin && offset + size <= begin + bytes.size()
               ? std::string_view(bytes).substr(offset - begin, size)
               : std::string_view();
  }
};

std::optional<LastBytes> read_tail(const content::Rope& archive, Defects& findings) {
  LastBytes tail;
  auto size = std::min(archive.size(), k_end_bytes + k_comment_max + k_locator64_bytes + k_end64_bytes);
  tail.begin = archive.size() - size;
  tail.bytes.resize(size);
  auto read = archive.read(tail.begin, std::as_writable_bytes(std::span(tail.bytes)));
  if (read) return tail;
  findings.error(read.error().code, {}, read.error().message);
  return std::nullopt;
}

// The last signature in the file is the one that every reader finds first; if it does not end the file, readers part
// ways.
std::optional<std::uint64_t> find_end(const LastBytes& tail, Defects& findings) {
  std::string signature;
  put32(signature, k_end_signature);
  auto at = tail.bytes.rfind(signature);
  if (at == std::string::npos || at + k_end_bytes > tail.bytes.size()) {
    findings.error("Z008", {}, "there is no end of central directory: the file is cut off or no zip archive");
    return std::nullopt;
  }
  std::size_t comment = get16(tail.bytes, at + 20), rest = tail.bytes.size() - at - k_end_bytes;
  if (comment > rest) findings.error("Z011", {}, fmt::format("the archive comment has {} of {} bytes", rest, comment));
  if (comment < rest) findings.error("Z009", {}, fmt::format("{} bytes follow the end of the archive", rest - comment));
  auto text = std::string_view(tail.bytes).substr(at + k_end_bytes);
  // Such bytes are part of every zip signature: with them a comment can pass for another archive.
  if (std::any_of(text.begin(), text.end(), [](char c) { return c >= 1 && c <= 8; }))
    findings.error("Z011", {}, "the archive comment holds bytes 1 to 8, as a hidden archive would");
  if (findings.broken()) return std::nullopt;
  return tail.begin + at;
}

struct EndRecord {
  std::uint64_t disk, central_disk, disk_entries, entries, size, offset;
};

EndRecord classic_end(std::string_view r) {
  return {get16(r, 4), get16(r, 6), get16(r, 8), get16(r, 10), get32(r, 12), get32(r, 16)};
}
EndRecord large_end(std::string_view r) {
  return {get32(r, 16), get32(r, 20), get64(r, 24), get64(r, 32), get64(r, 40), get64(r, 48)};
}

// Each field that is not saturated must say the same twice.
bool agree(const EndRecord& classic, const EndRecord& large) {
  auto same = [](std::uint64_t c, std::uint64_t l, std::uint64_t saturated) { return c == l || c == saturated; };
  return same(classic.entries, large.entries, k_max16) && same(classic.disk_entries, large.disk_entries, k_max16) &&
         same(classic.size, large.size, k_max32) && same(classic.offset, large.offset, k_max32) &&
         same(classic.disk, large.disk, k_max16) && same(classic.central_disk, large.central_disk, k_max16);
}

bool saturated(const EndRecord& r) {
  return r.entries == k_max16 || r.disk_entries == k_max16 || r.size == k_max32 || r.offset == k_max32 ||
         r.disk == k_max16 || r.central_disk == k_max16;
}

// The ZIP64 record must stand where the locator says, directly before it, and be of the one size without extensible
// data.
std::optional<EndRecord> read_large_end(const LastBytes& tail, std::uint64_t locator_offset, std::string_view locator,
                                        Defects& findings) {
  auto record_offset = get64(locator, 8);
  if (get32(locator, 4) != 0 || get32(locator, 16) != 1) {
    findings.error("Z008", {}, "the ZIP64 locator speaks of several disks");
    return std::nullopt;
  }
  if (locator_offset < k_end64_bytes || record_offset != locator_offset - k_end64_bytes) {
    findings.error("Z008", {}, "the ZIP64 end record is not directly before its locator");
    return std::nullopt;
  }
  auto record = tail.at(record_offset, k_end64_bytes);
  if (record.empty() || get32(record, 0) != k_end64_signature || get64(record, 4) != k_end64_bytes - 12) {
    findings.error("Z008", {}, "the ZIP64 end record is missing, or holds more than readers expect");
    return std::nullopt;
  }
  return large_end(record);
}

} // namespace

std::optional<CentralPlace> find_central_directory(const content::Rope& archive, Defects& findings) {
  auto tail = read_tail(archive, findings);
  if (!tail) return std::nullopt;
  auto end = find_end(*tail, findings);
  if (!end) return std::nullopt;
  auto record = classic_end(tail->at(*end, k_end_bytes));
  auto records_begin = *end;
  auto locator = *end >= k_locator64_bytes ? tail->at(*end - k_locator64_bytes, k_locator64_bytes) : std::string_view();
  if (!locator.empty() && get32(locator, 0) == k_locator64_signature) {
    auto large = read_large_end(*tail, *end - k_locator64_bytes, locator, findings);
    if (!large) return std::nullopt;
    if (!agree(record, *large)) {
      findings.error("Z008", {}, "the ZIP64 end record and the classic one disagree");
      return std::nullopt;
    }
    record = *large;
    records_begin = *end - k_locator64_bytes - k_end64_bytes;
  } else if (saturated(record)) {
    findings.error("Z008", {}, "the end record points to a ZIP64 record that does not exist");
    return std::nullopt;
  }
  if (record.disk != 0 || record.central_disk != 0 || record.disk_entries != record.entries) {
    findings.error("Z008", {}, "the archive claims to span several disks");
    return std::nullopt;
  }
  if (record.size > records_begin || record.offset != records_begin - record.size) {
    findings.error(
        "Z008", {},
        fmt::format("the end record gives the central directory {} bytes at {}, but the end records start at {}",
                    record.size, record.offset, records_begin));
    return std::nullopt;
  }
  return CentralPlace{record.offset, record.size, record.entries};
}

} // namespace quarry::zip
