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
// The largest wheel seen has a directory of 1.3 MB.
constexpr std::uint64_t k_directory_bytes_max = 16u << 20;
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

class Look {
public:
  Look(const content::Rope& archive, const std::string& name, const LookRequest& request)
      : archive_(archive), name_(name), request_(request) {}

  Result<std::optional<LookedAt>> run() {
    TRY_DO(find_directory());
    TRY(auto entry, find_entry());
    if (entry.empty()) return std::optional<LookedAt>();
    Findings found;
    Defects findings(found, name_);
    auto header = parse_central_header(entry, findings);
    if (!header || findings.broken()) return refused(found);
    TRY(auto content, read_member(*header));
    return std::optional(LookedAt{header->name, std::move(content)});
  }

private:
  Unexpected broken(std::string code, std::string message) const {
    return fail(ErrorKind::corrupt, std::move(code), fmt::format("{}: {}", name_, message),
                "do not use this file: get it again from its source, or build it again");
  }
  Unexpected refused(const Findings& found) const {
    if (found.empty()) return broken("Z012", "an entry of the central directory is damaged");
    return fail(ErrorKind::corrupt, found.front().code,
                fmt::format("{}: {}", found.front().place, found.front().message), found.front().fix);
  }
  Unexpected too_large(std::string_view what, std::uint64_t size, std::uint64_t max) const {
    return fail(ErrorKind::corrupt, "Z016",
                fmt::format("{}: {} has {}, more than {}", name_, what, units::bytes(size), units::bytes(max)),
                "do not use this file");
  }

  Result<std::string> bytes_at(std::uint64_t offset, std::uint64_t size) const {
    if (!tail_.empty() && offset >= tail_begin_) return std::string(in_tail(offset, offset + size));
    std::string bytes(size, '\0');
    TRY_DO(archive_.read(offset, std::as_writable_bytes(std::span(bytes))));
    return bytes;
  }

  // What lies before the tail is not read: zeros stand for it, and no record begins with them.
  Result<void> find_directory() {
    for (auto wanted : {k_tail_bytes, k_tail_bytes_max}) {
      tail_.clear();
      tail_begin_ = archive_.size() - std::min(archive_.size(), wanted);
      TRY(tail_, bytes_at(tail_begin_, archive_.size() - tail_begin_));
      auto known = content::Rope::zeros(tail_begin_);
      known.append(content::Rope::literal(tail_));
      Findings found;
      Defects findings(found, name_);
      auto place = find_central_directory(known, findings);
      bool last = tail_begin_ == 0 || wanted == k_tail_bytes_max;
      if (place && (last || ends_within_tail(*place))) {
        place_ = *place;
        return {};
      }
      if (last) return refused(found);
    }
    return {};
  }

  // With a long comment, the ZIP64 records may lie before the tail. Then the classic record alone seems to speak.
  bool ends_within_tail(const CentralPlace& place) const {
    return place.offset + place.size >= tail_begin_ + k_locator64_bytes + k_end64_bytes;
  }

  std::string_view in_tail(std::uint64_t begin, std::uint64_t end) const {
    return std::string_view(tail_).substr(begin - tail_begin_, end - begin);
  }

  // The entry that is wanted, empty when there is none. All of the directory is read: an entry is one only when those
  // before it are known. An extra field that begins before the tail may hold whole entries, which chain into real ones.
  Result<std::string> find_entry() {
    if (place_.offset < tail_begin_) TRY_DO(read_rest());
    auto entries = entries_of(in_tail(place_.offset, place_.offset + place_.size));
    if (!entries) return broken("Z012", "the central directory is damaged, or holds another kind of record");
    if (entries->size() != place_.entries)
      return broken("Z008", fmt::format("the end record counts {} entries, the central directory holds {}",
                                        place_.entries, entries->size()));
    return choose(*entries);
  }

  Result<void> read_rest() {
    if (place_.size > k_directory_bytes_max)
      return too_large("the central directory", place_.size, k_directory_bytes_max);
    TRY(auto front, bytes_at(place_.offset, tail_begin_ - place_.offset));
    tail_.insert(0, front);
    tail_begin_ = place_.offset;
    return {};
  }

  Result<std::string> choose(const std::vector<std::string_view>& entries) const {
    std::string chosen;
    for (auto entry : entries) {
      if (!request_.wanted(entry_name(entry))) continue;
      if (!chosen.empty())
        return broken("Z001", fmt::format("both {} and {} exist", names::printable(entry_name(chosen)),
                                          names::printable(entry_name(entry))));
      chosen = entry;
    }
    return chosen;
  }

  Result<std::string> read_member(const Header& central) {
    if (central.size > request_.bytes_max) return too_large(central.name, central.size, request_.bytes_max);
    // Deflate adds 5 bytes to 64 KiB at worst, so more than this stands for no honest member.
    if (central.stored_size > request_.bytes_max + request_.bytes_max / 1024 + 64)
      return too_large(central.name, central.stored_size, request_.bytes_max);
    auto offset = central.header_offset;
    if (offset >= place_.offset || place_.offset - offset < k_local_bytes)
      return broken("Z002", fmt::format("there is no local header of {} where the central directory says",
                                        names::printable(central.name)));
    auto room = place_.offset - offset;
    TRY(auto bytes,
        bytes_at(offset, std::min(room, k_local_bytes + central.name.size() + k_extra_guess + central.stored_size)));
    auto head = local_bytes(bytes);
    if (head == 0)
      return broken("Z002", fmt::format("there is no local header of {} where the central directory says",
                                        names::printable(central.name)));
    if (head > room || central.stored_size > room - head)
      return broken("Z004",
                    fmt::format("the data of {} reaches into the central directory", names::printable(central.name)));
    if (bytes.size() < head + central.stored_size) {
      TRY(auto more, bytes_at(offset + bytes.size(), head + central.stored_size - bytes.size()));
      bytes += more;
    }
    TRY_DO(check_local(central, bytes));
    return unpacked(central, bytes.substr(head, central.stored_size));
  }

  Result<void> check_local(const Header& central, std::string_view bytes) const {
    Findings found;
    Defects findings(found, name_);
    auto local = parse_local_header(bytes, findings);
    if (!local) return broken("Z002", fmt::format("the local header of {} is damaged", names::printable(central.name)));
    if (findings.broken()) return refused(found);
    if (local->name != central.name)
      return broken("Z003", fmt::format("the local header calls {} {}", names::printable(central.name),
                                        names::printable(local->name)));
    bool same = local->size == central.size && local->stored_size == central.stored_size && local->crc == central.crc &&
                local->method == central.method;
    if (same) return {};
    return broken("Z004",
                  fmt::format("local header and central directory disagree about {}", names::printable(central.name)));
  }

  Result<std::string> unpacked(const Header& header, std::string packed) const {
    std::string content;
    auto where = [&] { return fmt::format("while reading {}!{}", name_, names::printable(header.name)); };
    if (header.method == k_method_stored && header.size != header.stored_size)
      return broken("Z004", fmt::format("{} is stored with {} bytes that unpack to {}", names::printable(header.name),
                                        header.stored_size, header.size));
    if (header.method == k_method_stored)
      content = std::move(packed);
    else
      TRY_DO(inflate(content::Rope::literal(std::move(packed)), header.size,
                     [&](std::span<const std::byte> chunk) -> Result<void> {
                       content.append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
                       return {};
                     }),
             where());
    if (crc32(0, std::as_bytes(std::span(content))) != header.crc)
      return broken("Z005", fmt::format("the data of {} does not match its CRC", names::printable(header.name)));
    return content;
  }

  const content::Rope& archive_;
  const std::string& name_;
  const LookRequest& request_;
  std::uint64_t tail_begin_ = 0;
  std::string tail_;
  CentralPlace place_;
};

} // namespace

Result<std::optional<LookedAt>> look(const content::Rope& archive, const std::string& name,
                                     const LookRequest& request) {
  return Look(archive, name, request).run();
}

} // namespace quarry::zip
