#pragma once
// Containers of device code made field by field, so that each can lie. For tests only.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include <zlib.h>
#include <zstd.h>

namespace quarry::gpu::forge {

template <class T> void put(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xFF));
}
inline void pad(std::string& out, std::size_t to) { out.resize((out.size() + to - 1) / to * to); }

/// An AMDGPU code object of `size` bytes: its header alone says something.
inline std::string code(std::uint32_t flags, std::size_t size = 5000, char abi = 2) {
  std::string out("\177ELF\2\1\1\100", 8);
  out += abi;
  out.resize(16);
  put<std::uint16_t>(out, 3), put<std::uint16_t>(out, 224), put<std::uint32_t>(out, 1);
  put<std::uint64_t>(out, 0), put<std::uint64_t>(out, 64), put<std::uint64_t>(out, 0);
  put<std::uint32_t>(out, flags);
  put<std::uint16_t>(out, 64), put<std::uint16_t>(out, 56), put<std::uint16_t>(out, 0); // no program headers
  put<std::uint16_t>(out, 64), put<std::uint16_t>(out, 0), put<std::uint16_t>(out, 0);  // no sections
  out.resize(size, 'c');
  return out;
}
constexpr std::uint32_t k_gfx942 = 0x54c, k_gfx1201 = 0x4e, k_gfx1030 = 0x36, k_gfx906 = 0x2f;
constexpr std::uint32_t k_gfx90a = 0x53f, k_gfx90a_xnack_on = 0x73f; // xnack and sramecc any; xnack on, sramecc any

struct Item {
  std::string id, payload;
  std::optional<std::uint64_t> offset, size, id_length; ///< what the table says instead of the truth
};
inline Item device(std::string_view target, std::string payload) {
  return {"hipv4-amdgcn-amd-amdhsa--" + std::string(target), std::move(payload), {}, {}, {}};
}

/// An offload bundle with the host's empty entry first.
inline std::string bundle(std::vector<Item> items, std::optional<std::uint64_t> count = {}) {
  items.insert(items.begin(), {"host-x86_64-unknown-linux-gnu-", "", {}, {}, {}});
  std::string table("__CLANG_OFFLOAD_BUNDLE__"), payloads;
  put<std::uint64_t>(table, count.value_or(items.size()));
  for (const auto& item : items) {
    put(table, item.offset.value_or(4096 + payloads.size()));
    put<std::uint64_t>(table, item.size.value_or(item.payload.size()));
    put<std::uint64_t>(table, item.id_length.value_or(item.id.size()));
    table += item.id;
    payloads += item.payload;
    pad(payloads, 4096);
  }
  while (!payloads.empty() && payloads.back() == '\0') payloads.pop_back();
  if (table.size() < 4096) table.resize(4096);
  return table + payloads;
}

struct Packing {
  std::uint16_t version = 3, method = 1; ///< 0 zlib, 1 zstd
  std::optional<std::uint64_t> total, unpacked;
};
inline std::string packed_stream(std::string_view plain, std::uint16_t method) {
  if (method == 0) {
    std::string out(compressBound(plain.size()), '\0');
    uLongf size = out.size();
    compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(plain.data()), plain.size(),
              6);
    out.resize(size);
    return out;
  }
  std::string out(ZSTD_compressBound(plain.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), plain.data(), plain.size(), 3));
  return out;
}
inline std::string compressed(std::string_view plain, Packing how = {}) {
  auto stream = packed_stream(plain, how.method);
  std::string out("CCOB");
  put(out, how.version), put(out, how.method);
  auto unpacked = how.unpacked.value_or(plain.size());
  auto total = [&](std::size_t header) { return how.total.value_or(header + stream.size()); };
  if (how.version == 1) put(out, static_cast<std::uint32_t>(unpacked));
  if (how.version == 2) put(out, static_cast<std::uint32_t>(total(24))), put(out, static_cast<std::uint32_t>(unpacked));
  if (how.version >= 3) put(out, total(32)), put(out, unpacked);
  put<std::uint64_t>(out, 0x1234); // the hash is for the runtime's cache
  return out + stream;
}

struct Part {
  std::string name, bytes;
  std::optional<std::uint64_t> offset, size; ///< what the section table says instead of the truth
};
/// A shared library that has sections and nothing to load; each section begins at a multiple of 4096.
inline std::string library(const std::vector<Part>& parts) {
  std::string names(1, '\0'), body(4096, '\0'), table(64, '\0');
  auto section = [&](std::string_view name, std::uint32_t type, std::uint64_t offset, std::uint64_t size) {
    put(table, static_cast<std::uint32_t>(names.size())), put(table, type);
    put<std::uint64_t>(table, 0), put<std::uint64_t>(table, 0), put(table, offset), put(table, size);
    put<std::uint64_t>(table, 0), put<std::uint64_t>(table, 1), put<std::uint64_t>(table, 0);
    names += name, names += '\0';
  };
  for (const auto& part : parts) {
    section(part.name, 1, part.offset.value_or(body.size()), part.size.value_or(part.bytes.size()));
    body += part.bytes;
    pad(body, 4096);
  }
  section(".shstrtab", 3, body.size(), names.size() + 10);
  body += names;
  pad(body, 8);
  std::string head("\177ELF\2\1\1\0", 8);
  head.resize(16);
  put<std::uint16_t>(head, 3), put<std::uint16_t>(head, 62), put<std::uint32_t>(head, 1);
  put<std::uint64_t>(head, 0), put<std::uint64_t>(head, 0), put<std::uint64_t>(head, body.size()),
      put<std::uint32_t>(head, 0);
  put<std::uint16_t>(head, 64), put<std::uint16_t>(head, 56), put<std::uint16_t>(head, 0), put<std::uint16_t>(head, 64);
  put(head, static_cast<std::uint16_t>(parts.size() + 2)), put(head, static_cast<std::uint16_t>(parts.size() + 1));
  return body.replace(0, head.size(), head) + table;
}
struct DllHeader {
  std::uint32_t checksum = 0, certificates = 0;
  std::uint32_t align = 4096; ///< of sections in the file, and the size of the headers; linkers take 512
};
/// A DLL that holds together.
inline std::string dll(const std::vector<Part>& parts, DllHeader said = {}) {
  std::string out("MZ");
  out.resize(0x3C);
  put<std::uint32_t>(out, 64);
  out += std::string("PE\0\0\x64\x86", 6);
  put(out, static_cast<std::uint16_t>(parts.size()));
  out.resize(64 + 20);
  put<std::uint16_t>(out, 240), put<std::uint16_t>(out, 0x2022);
  std::string optional;
  put<std::uint16_t>(optional, 0x20b);
  optional.resize(60);
  put(optional, said.align), put(optional, said.checksum); // SizeOfHeaders, CheckSum
  optional.resize(108);
  put<std::uint32_t>(optional, 16); // directories
  optional.resize(112 + 4 * 8);
  put(optional, said.certificates);
  optional.resize(240);
  out += optional;
  std::uint32_t at = said.align;
  for (const auto& part : parts) {
    auto name = part.name;
    name.resize(8);
    out += name;
    auto size = static_cast<std::uint32_t>(part.size.value_or(part.bytes.size()));
    auto place = static_cast<std::uint32_t>(part.offset.value_or(at));
    put(out, size), put(out, place), put(out, size), put(out, place);
    out.resize(out.size() + 16);
    at += static_cast<std::uint32_t>((part.bytes.size() + said.align - 1) / said.align * said.align);
  }
  for (const auto& part : parts) pad(out, said.align), out += part.bytes;
  return out;
}
/// Bundles as a linker puts them: each at a multiple of 4096.
inline std::string linked(const std::vector<std::string>& bundles) {
  std::string out;
  for (const auto& one : bundles) pad(out, 4096), out += one;
  return out;
}
inline std::string record(std::string_view magic) { // "FPIH" (HIPF) or "HIPK" in memory
  std::string out(magic);
  out.resize(24);
  return out;
}

// MessagePack
inline std::string text(std::string_view value) {
  return std::string("\xD9") + static_cast<char>(value.size()) + std::string(value);
}
inline std::string number(std::uint64_t value) {
  std::string out("\xCF");
  for (int i = 7; i >= 0; --i) out.push_back(static_cast<char>(value >> (8 * i) & 0xFF));
  return out;
}
inline std::string map(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string out{static_cast<char>(0xDE), static_cast<char>(pairs.size() >> 8), static_cast<char>(pairs.size())};
  for (const auto& [key, value] : pairs) out += text(key) + value;
  return out;
}
inline std::string array(const std::vector<std::string>& values) {
  std::string out{static_cast<char>(0xDC), static_cast<char>(values.size() >> 8), static_cast<char>(values.size())};
  for (const auto& value : values) out += value;
  return out;
}

struct Kernel {
  std::string binary, target, payload;
};
inline std::string kpack(const std::vector<Kernel>& kernels, bool packed) {
  std::string out("KPAK");
  put<std::uint32_t>(out, 1), put<std::uint64_t>(out, 0);
  pad(out, 64);
  auto frames_at = out.size();
  if (packed) put(out, static_cast<std::uint32_t>(kernels.size()));
  std::vector<std::string> blobs, targets;
  std::vector<std::pair<std::string, std::string>> contents;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    auto bytes = packed ? packed_stream(kernels[i].payload, 1) : kernels[i].payload;
    if (packed)
      put(out, static_cast<std::uint32_t>(bytes.size()));
    else
      pad(out, 64);
    blobs.push_back(map({{"offset", number(out.size())}, {"size", number(bytes.size())}}));
    out += bytes;
    auto kernel =
        map({{"type", text("hsaco")}, {"ordinal", number(i)}, {"original_size", number(kernels[i].payload.size())}});
    contents.emplace_back(kernels[i].binary, map({{kernels[i].target, kernel}}));
    targets.push_back(text(kernels[i].target));
  }
  auto frames_size = out.size() - frames_at;
  auto table = map({{"format_version", number(1)},
                    {"gfx_arches", array(targets)},
                    {"compression_scheme", text(packed ? "zstd-per-kernel" : "none")},
                    packed ? std::pair{std::string("zstd_offset"), number(frames_at)}
                           : std::pair{std::string("blobs"), array(blobs)},
                    {"zstd_size", number(frames_size)},
                    {"toc", map(contents)}});
  std::string place;
  put<std::uint64_t>(place, out.size());
  return out.replace(8, 8, place) + table;
}

} // namespace quarry::gpu::forge
