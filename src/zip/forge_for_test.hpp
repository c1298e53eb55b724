#pragma once
// A zip file made field by field, so that each can lie. For tests only.
#include "digest/sha256.hpp"
#include "zip/format.hpp"
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include <zlib.h>

namespace quarry::zip::forge {

struct Header {
  std::string name;
  std::uint16_t version = 20, flags = 0x800, method = 0, time = 0, date = 0x21;
  std::uint32_t crc = 0, packed = 0, size = 0;
  std::string extra;
};

struct Item {
  Header local, central;
  std::string before, data, after; // what stands before the local header, the packed data, what follows it
  std::string comment;
  std::uint16_t made_by = 0x0314, disk = 0;
  std::uint32_t attributes = 0100644u << 16;
  std::optional<std::uint32_t> offset;
  bool has_local = true, has_central = true;

  void both(void (*change)(Header&)) { change(local), change(central); }
  Item& named(std::string_view name) {
    local.name = central.name = name;
    return *this;
  }
  Item& extra(std::string bytes) {
    local.extra = central.extra = std::move(bytes);
    return *this;
  }
  Item& mode(unsigned value) {
    attributes = value << 16;
    return *this;
  }
};

inline std::string deflate(std::string_view data) {
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, data.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  z.avail_in = static_cast<uInt>(data.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  ::deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

inline Item item(std::string_view name, std::string_view data, bool deflated = false) {
  Item i;
  i.data = deflated ? deflate(data) : std::string(data);
  Header h;
  h.name = name;
  h.method = deflated ? 8 : 0;
  h.crc = crc32(0, std::as_bytes(std::span(data)));
  h.packed = static_cast<std::uint32_t>(i.data.size());
  h.size = static_cast<std::uint32_t>(data.size());
  i.local = i.central = h;
  return i;
}
inline Item directory(std::string_view name) { return item(name, "").mode(0040755); }

inline std::string field(std::uint16_t id, std::string_view data) {
  std::string out;
  put16(out, id);
  put16(out, static_cast<std::uint16_t>(data.size()));
  return out += data;
}
inline std::string zip64(std::initializer_list<std::uint64_t> values) {
  std::string data;
  for (auto v : values) put64(data, v);
  return field(1, data);
}
inline std::string unicode_path(std::string_view of, std::string_view name) {
  std::string data("\1", 1);
  put32(data, crc32(0, std::as_bytes(std::span(of))));
  return field(0x7075, data.append(name));
}

struct End64 {
  bool record = true, locator = true;
  std::uint64_t record_size = 44;
  std::string extensible;
  std::uint32_t disk = 0, central_disk = 0, locator_disk = 0, disks = 1;
  std::optional<std::uint64_t> entries, disk_entries, size, offset, record_offset;
};

struct Zip {
  std::vector<Item> items{item("a.txt", "alpha"), item("b/c.txt", std::string(5000, 'c'), true),
                          item("d.txt", "delta")};
  std::string prefix, before_central, after_central, comment, trailing;
  std::vector<std::size_t> central_order;
  std::optional<End64> end64;
  std::uint16_t disk = 0, central_disk = 0;
  std::optional<std::uint16_t> entries, disk_entries, comment_size;
  std::optional<std::uint32_t> central_size, central_offset;

  std::string bytes() const {
    std::string out = prefix;
    std::vector<std::uint64_t> offsets;
    for (const auto& i : items) offsets.push_back(put_local(out, i));
    out += before_central;
    auto start = out.size();
    std::uint64_t count = 0;
    for (std::size_t n = 0; n < items.size(); ++n) {
      auto at = central_order.empty() ? n : central_order.at(n);
      if (items[at].has_central) put_central(out, items[at], offsets[at]), ++count;
    }
    auto size = out.size() - start;
    out += after_central;
    put_end(out, count, start, size);
    return out + comment + trailing;
  }

private:
  static void put_common(std::string& out, const Header& h) {
    put16(out, h.version), put16(out, h.flags), put16(out, h.method), put16(out, h.time), put16(out, h.date);
    put32(out, h.crc), put32(out, h.packed), put32(out, h.size);
    put16(out, static_cast<std::uint16_t>(h.name.size())), put16(out, static_cast<std::uint16_t>(h.extra.size()));
  }
  static std::uint64_t put_local(std::string& out, const Item& i) {
    out += i.before;
    auto at = out.size();
    if (!i.has_local) return at;
    put32(out, k_local_signature);
    put_common(out, i.local);
    out += i.local.name + i.local.extra + i.data + i.after;
    return at;
  }
  static void put_central(std::string& out, const Item& i, std::uint64_t offset) {
    put32(out, k_central_signature);
    put16(out, i.made_by);
    put_common(out, i.central);
    put16(out, static_cast<std::uint16_t>(i.comment.size())), put16(out, i.disk), put16(out, 0);
    put32(out, i.attributes), put32(out, i.offset.value_or(static_cast<std::uint32_t>(offset)));
    out += i.central.name + i.central.extra + i.comment;
  }
  void put_end(std::string& out, std::uint64_t count, std::uint64_t start, std::uint64_t size) const {
    if (end64) {
      auto at = out.size();
      const auto& e = *end64;
      if (e.record) {
        put32(out, k_end64_signature), put64(out, e.record_size + e.extensible.size());
        put16(out, 0x032D), put16(out, 45), put32(out, e.disk), put32(out, e.central_disk);
        put64(out, e.disk_entries.value_or(count)), put64(out, e.entries.value_or(count));
        put64(out, e.size.value_or(size)), put64(out, e.offset.value_or(start));
        out += e.extensible;
      }
      if (e.locator) {
        put32(out, k_locator64_signature), put32(out, e.locator_disk);
        put64(out, e.record_offset.value_or(at)), put32(out, e.disks);
      }
    }
    put32(out, k_end_signature), put16(out, disk), put16(out, central_disk);
    put16(out, disk_entries.value_or(static_cast<std::uint16_t>(count))),
        put16(out, entries.value_or(static_cast<std::uint16_t>(count)));
    put32(out, central_size.value_or(static_cast<std::uint32_t>(size))),
        put32(out, central_offset.value_or(static_cast<std::uint32_t>(start)));
    put16(out, comment_size.value_or(static_cast<std::uint16_t>(comment.size())));
  }
};

} // namespace quarry::zip::forge
