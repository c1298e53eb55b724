#include "zip/layout.hpp"

#include "sys/clock.hpp"
#include "zip/format.hpp"
#include <fmt/core.h>

namespace quarry::zip {

using namespace zip;

namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::uint32_t slot32(std::uint64_t value) { return value >= k_max32 ? k_max32 : static_cast<std::uint32_t>(value); }

// Decided before deflating, from the size alone: an entry that deflate does not shrink is stored, so the packed size is
// never larger.
bool local_is_zip64(std::uint64_t size) { return size >= k_max32; }

std::string local_header(const Written& e, std::uint16_t method) {
  bool large = local_is_zip64(e.size);
  std::string h;
  put32(h, k_local_signature);
  put16(h, large ? k_version_zip64 : k_version_plain);
  put16(h, k_flag_utf8);
  put16(h, method);
  put16(h, k_dos_time);
  put16(h, k_dos_date);
  put32(h, e.crc);
  put32(h, large ? k_max32 : static_cast<std::uint32_t>(e.stored_size));
  put32(h, large ? k_max32 : static_cast<std::uint32_t>(e.size));
  put16(h, static_cast<std::uint16_t>(e.name.size()));
  put16(h, large ? 20 : 0);
  h += e.name;
  if (large) {
    put16(h, k_extra_zip64);
    put16(h, 16);
    put64(h, e.size);
    put64(h, e.stored_size);
  }
  return h;
}

// Exactly the fields whose 32-bit slot says so, in the format's order: readers derive the field's length from the
// slots.
std::string central_extra(const Written& e, std::uint64_t header_offset) {
  std::string fields;
  for (auto value : {e.size, e.stored_size, header_offset})
    if (value >= k_max32) put64(fields, value);
  if (fields.empty()) return fields;
  std::string extra;
  put16(extra, k_extra_zip64);
  put16(extra, static_cast<std::uint16_t>(fields.size()));
  return extra + fields;
}

void put_central_header(std::string& h, const Written& e, std::uint64_t header_offset, std::uint16_t method,
                        bool executable) {
  auto extra = central_extra(e, header_offset);
  std::uint16_t version = extra.empty() ? k_version_plain : k_version_zip64;
  put32(h, k_central_signature);
  put16(h, static_cast<std::uint16_t>(k_made_by_unix << 8 | version));
  put16(h, version);
  put16(h, k_flag_utf8);
  put16(h, method);
  put16(h, k_dos_time);
  put16(h, k_dos_date);
  put32(h, e.crc);
  put32(h, slot32(e.stored_size));
  put32(h, slot32(e.size));
  put16(h, static_cast<std::uint16_t>(e.name.size()));
  put16(h, static_cast<std::uint16_t>(extra.size()));
  put16(h, 0); // comment
  put16(h, 0); // disk
  put16(h, 0); // internal attributes
  put32(h, (k_mode_file | (executable ? 0755u : 0644u)) << 16);
  put32(h, slot32(header_offset));
  h += e.name;
  h += extra;
}

std::string end_records(std::uint64_t count, std::uint64_t offset, std::uint64_t size) {
  std::string h;
  if (count >= k_max16 || offset >= k_max32 || size >= k_max32) {
    put32(h, k_end64_signature);
    put64(h, k_end64_bytes - 12); // of the record behind this field
    put16(h, static_cast<std::uint16_t>(k_made_by_unix << 8 | k_version_zip64));
    put16(h, k_version_zip64);
    put32(h, 0);
    put32(h, 0);
    put64(h, count);
    put64(h, count);
    put64(h, size);
    put64(h, offset);
    put32(h, k_locator64_signature);
    put32(h, 0);
    put64(h, offset + size);
    put32(h, 1);
  }
  auto count16 = static_cast<std::uint16_t>(count >= k_max16 ? k_max16 : count);
  put32(h, k_end_signature);
  put16(h, 0);
  put16(h, 0);
  put16(h, count16);
  put16(h, count16);
  put32(h, slot32(size));
  put32(h, slot32(offset));
  put16(h, 0);
  return h;
}

} // namespace

void Layout::begin(const Entry& entry) {
  current_ = {entry.name, entry.data.size(), 0, 0, {}, {}};
  place_ = {end_, k_method_deflate, entry.executable};
  data_offset_ = end_ + k_local_bytes + entry.name.size() + (local_is_zip64(entry.data.size()) ? 20 : 0);
}

Result<void> Layout::add(const Entry& entry, const PackedChunk& chunk) {
  if (chunk.offset == 0) begin(entry);
  current_.crc = chunk.offset == 0 ? chunk.crc : crc32_combine(current_.crc, chunk.crc, chunk.data.size());
  // What deflate did not shrink is stored: a single chunk is still at hand.
  bool store = chunk.packed.data() == chunk.data.data() ||
               (chunk.offset == 0 && chunk.last && chunk.packed.size() >= chunk.data.size());
  auto bytes = store ? chunk.data : chunk.packed;
  if (store) place_.method = k_method_stored;
  TRY_DO(into_.write_at(data_offset_ + current_.stored_size, bytes));
  begin_sync(bytes.size());
  current_.stored_size += bytes.size();
  bool one_of_several = chunk.offset > 0 || !chunk.last;
  if (one_of_several && !store) {
    if (chunk.taken) current_.taken.push_back(current_.pieces.size());
    current_.pieces.push_back(static_cast<std::uint32_t>(bytes.size()));
  }
  return chunk.last ? complete(entry, chunk) : Result<void>{};
}

Result<void> Layout::keep(const Member& member, const content::Rope& archive) {
  if (member.stored_size >= k_max32 && !local_is_zip64(member.size))
    return fail(ErrorKind::unsupported, "Z023",
                fmt::format("{} is larger packed than unpacked, and its size has no place in a header", member.name),
                "pack the wheel again: `quarry wheel unpack`, then `quarry wheel pack`");
  current_ = {member.name, member.size, 0, member.crc, {}, {}};
  place_ = {end_, member.method, member.executable()};
  data_offset_ = end_ + k_local_bytes + member.name.size() + (local_is_zip64(member.size) ? 20 : 0);
  TRY_DO(content::pump(archive.slice(member.data_offset, member.stored_size),
                       [&](std::span<const std::byte> part) -> Result<void> {
                         TRY_DO(sys::check_interrupted());
                         TRY_DO(into_.write_at(data_offset_ + current_.stored_size, part));
                         begin_sync(part.size());
                         current_.stored_size += part.size();
                         return {};
                       }));
  return place();
}

// `more` bytes were added to the member: what is whole of it goes to the disk while the rest is made.
void Layout::begin_sync(std::uint64_t more) {
  constexpr std::uint64_t k_step = 8u << 20;
  auto whole = current_.stored_size / k_step * k_step;
  if (current_.stored_size + more >= whole + k_step) into_.begin_sync(data_offset_ + whole, k_step);
}

Result<void> Layout::complete(const Entry& entry, const PackedChunk& chunk) {
  if (place_.method == k_method_deflate && current_.stored_size >= current_.size) TRY_DO(store_instead(entry));
  current_.sha256 = chunk.sha256;
  return place();
}

Result<void> Layout::place() {
  TRY_DO(into_.write_at(place_.header_offset, bytes_of(local_header(current_, place_.method))));
  end_ = data_offset_ + current_.stored_size;
  done_.push_back(current_);
  placed_.push_back(place_);
  return {};
}

// Content of several chunks is read a second time and overwrites the packed bytes. The CRC proves that it did not
// change.
Result<void> Layout::store_instead(const Entry& entry) {
  place_.method = k_method_stored;
  current_.stored_size = 0;
  current_.pieces.clear();
  current_.taken.clear();
  std::uint32_t crc = 0;
  TRY_DO(content::pump(entry.data, [&](std::span<const std::byte> part) -> Result<void> {
    crc = crc32(crc, part);
    TRY_DO(into_.write_at(data_offset_ + current_.stored_size, part));
    current_.stored_size += part.size();
    return {};
  }));
  if (crc != current_.crc)
    return fail(ErrorKind::corrupt, "Z020", fmt::format("{} changed while it was packed", entry.name),
                "something else writes to it: run the command again when it is done");
  return {};
}

std::string Layout::central_directory() const {
  std::string all;
  for (std::size_t i = 0; i < done_.size(); ++i)
    put_central_header(all, done_[i], placed_[i].header_offset, placed_[i].method, placed_[i].executable);
  return all;
}

Result<std::uint64_t> Layout::finish() {
  auto central = central_directory();
  auto bytes = central + end_records(done_.size(), end_, central.size());
  TRY_DO(into_.write_at(end_, bytes_of(bytes)));
  auto size = end_ + bytes.size();
  TRY_DO(into_.truncate(size));
  return size;
}

} // namespace quarry::zip
