#include "gpu/offload.hpp"

#include "base/zeros.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <optional>

namespace quarry::gpu {

namespace {
constexpr std::string_view k_offload_magic = "\x10\xFF\x10\xAD";
constexpr std::uint64_t k_align = 8;
constexpr std::size_t k_offload_header = 32, k_offload_entry = 40, k_string_entry = 16;
constexpr std::uint64_t k_strings_max = 64;   // of one image; clang writes three
constexpr std::size_t k_string_max = 256;     // bytes; "amdgcn-amd-amdhsa" has 17
constexpr std::uint64_t k_gap_max = 64 << 10; // zeros between two containers: linkers align to pages of at most 64 KiB

constexpr std::uint32_t k_fatbin_magic = 0xBA55ED50;
constexpr std::size_t k_fatbin_header = 16, k_code_header = 64;
constexpr std::uint16_t k_ptx = 1, k_cubin = 2, k_mercury = 16; // kinds of code; others are options of tools
constexpr std::uint64_t k_packed_flags = 0x2000 | 0x8000;       // LZ4; zstd since CUDA 12.4

std::uint64_t to_multiple(std::uint64_t at) { return (at + k_align - 1) / k_align * k_align; }

void add_note(Reading& reading, std::string_view section, std::uint64_t at) {
  add_finding(reading,
              {"G102", Severity::note, reading.name,
               fmt::format("the code in {} from {:#x} on is in a form that is not known, and not listed", section, at),
               "a newer quarry may know it"});
}

/// Behind zeros, at a multiple of 8; `end` if only zeros follow or if there are too many.
Result<std::uint64_t> next_container(const Reading& reading, const SectionPlace& rest) {
  auto at = to_multiple(rest.begin);
  if (at >= rest.end) return rest.end;
  TRY(auto bytes, bytes_at(reading.file, at, std::min(k_gap_max, rest.end - at)));
  auto first = zeros::first_not_zero(bytes);
  if (first == std::string_view::npos) return rest.end;
  return at + first / k_align * k_align;
}

// Offload binaries

/// A string of the binary that begins at `begin` and has `size` bytes.
Result<std::string> string_at(const Reading& reading, const SectionPlace& binary, std::uint64_t offset) {
  if (offset >= binary.end - binary.begin) return std::string();
  auto at = binary.begin + offset;
  TRY(auto bytes, bytes_at(reading.file, at, std::min<std::uint64_t>(k_string_max, binary.end - at)));
  return bytes.substr(0, bytes.find('\0'));
}

struct Image {
  std::uint64_t offset = 0, size = 0; ///< in the binary
  std::map<std::string, std::string> strings;
};

bool has_room(std::uint64_t offset, std::uint64_t size, std::uint64_t all) {
  return offset <= all && size <= all - offset;
}

/// Returns nullopt if the binary is in another form.
Result<std::optional<Image>> read_image(const Reading& reading, const SectionPlace& binary, std::string_view header) {
  auto size = binary.end - binary.begin;
  auto entry_at = value_in<std::uint64_t>(header, 16), entry_size = value_in<std::uint64_t>(header, 24);
  if (entry_size < k_offload_entry || !has_room(entry_at, entry_size, size)) return std::optional<Image>();
  TRY(auto entry, bytes_at(reading.file, binary.begin + entry_at, k_offload_entry));
  Image image{value_in<std::uint64_t>(entry, 24), value_in<std::uint64_t>(entry, 32), {}};
  auto strings_at = value_in<std::uint64_t>(entry, 8), strings = value_in<std::uint64_t>(entry, 16);
  if (!has_room(image.offset, image.size, size) || strings > k_strings_max ||
      !has_room(strings_at, strings * k_string_entry, size))
    return std::optional<Image>();
  TRY(auto table, bytes_at(reading.file, binary.begin + strings_at, strings * k_string_entry));
  for (std::size_t at = 0; at < table.size(); at += k_string_entry) {
    TRY(auto key, string_at(reading, binary, value_in<std::uint64_t>(table, at)));
    TRY(auto value, string_at(reading, binary, value_in<std::uint64_t>(table, at + 8)));
    image.strings.emplace(std::move(key), std::move(value));
  }
  return std::optional(std::move(image));
}

/// The string `arch`; without one, the first part of `triple`: "spirv64" of "spirv64-intel".
std::optional<Target> target_of_image(const Image& image) {
  for (const auto* key : {"arch", "triple"}) {
    auto found = image.strings.find(key);
    if (found == image.strings.end() || found->second.empty()) continue;
    auto text = std::string_view(found->second);
    if (auto target = parse_target(key == std::string_view("arch") ? text : text.substr(0, text.find('-'))))
      return target;
  }
  return std::nullopt;
}

Result<void> add_image(Reading& reading, const SectionPlace& binary, const Image& image) {
  auto target = target_of_image(image);
  if (!target) {
    add_note(reading, ".llvm.offloading", binary.begin);
    return {};
  }
  auto at = binary.begin + image.offset;
  TRY(auto head, bytes_at(reading.file, at, std::min<std::uint64_t>(image.size, k_elf_head_bytes)));
  auto elf = parse_elf_head(head); // of other makers' code the header says nothing that we know
  add_object(reading, {Container::offload_binary, *target, at, image.size, {}, true},
             elf && elf->is_amdgpu() ? std::string_view(head) : std::string_view());
  return {};
}

// Fatbins

struct CodePiece {
  std::uint16_t kind = 0;
  std::uint64_t header = 0, stored = 0, bytes = 0; ///< `bytes`: decompressed
  std::uint32_t processor = 0;
  bool packed = false;
};

std::optional<CodePiece> piece_of(std::string_view bytes, std::uint64_t room) {
  if (bytes.size() < k_code_header) return std::nullopt;
  CodePiece piece{value_in<std::uint16_t>(bytes, 0),  value_in<std::uint32_t>(bytes, 4),
                  value_in<std::uint64_t>(bytes, 8),  0,
                  value_in<std::uint32_t>(bytes, 28), (value_in<std::uint64_t>(bytes, 40) & k_packed_flags) != 0};
  auto unpacked = value_in<std::uint64_t>(bytes, 56);
  piece.bytes = piece.packed && unpacked != 0 ? unpacked : piece.stored;
  constexpr std::uint32_t k_processor_max = 999;
  if (piece.header < k_code_header || !has_room(piece.header, piece.stored, room) || piece.processor > k_processor_max)
    return std::nullopt;
  return piece;
}

void add_piece(Reading& reading, const CodePiece& piece, std::uint64_t at) {
  if (piece.kind != k_ptx && piece.kind != k_cubin && piece.kind != k_mercury) return;
  Target target{fmt::format("{}_{}", piece.kind == k_ptx ? "compute" : "sm", piece.processor), {}, {}};
  auto container = piece.packed ? Container::compressed_fatbin : Container::fatbin;
  add_object(reading, {container, std::move(target), at + piece.header, piece.bytes, {}, true}, {});
}

/// False if the pieces do not fill [begin, end).
Result<bool> read_pieces(Reading& reading, const SectionPlace& fatbin) {
  for (auto at = fatbin.begin; at < fatbin.end;) {
    if (is_full(reading)) return true;
    TRY(auto bytes, bytes_at(reading.file, at, std::min<std::uint64_t>(k_code_header, fatbin.end - at)));
    auto piece = piece_of(bytes, fatbin.end - at);
    if (!piece) return false;
    add_piece(reading, *piece, at);
    at += piece->header + piece->stored;
  }
  return true;
}
} // namespace

Result<void> read_offload_binaries(Reading& reading, const SectionPlace& place) {
  TRY(auto at, next_container(reading, place));
  while (at < place.end && !is_full(reading)) {
    TRY(auto header, bytes_at(reading.file, at, std::min<std::uint64_t>(k_offload_header, place.end - at)));
    bool known = header.size() == k_offload_header && header.starts_with(k_offload_magic) &&
                 value_in<std::uint32_t>(header, 4) == 1;
    auto size = known ? value_in<std::uint64_t>(header, 8) : 0;
    std::optional<Image> image;
    if (size >= k_offload_header && size <= place.end - at) {
      TRY(image, read_image(reading, {at, at + size}, header));
    }
    if (!image) {
      add_note(reading, ".llvm.offloading", at);
      return {};
    }
    ++reading.contents.containers;
    reading.contents.stored_bytes += size;
    TRY_DO(add_image(reading, {at, at + size}, *image));
    TRY(at, next_container(reading, {at + size, place.end}));
  }
  return {};
}

Result<void> read_fatbins(Reading& reading, const SectionPlace& place) {
  TRY(auto at, next_container(reading, place));
  while (at < place.end && !is_full(reading)) {
    TRY(auto header, bytes_at(reading.file, at, std::min<std::uint64_t>(k_fatbin_header, place.end - at)));
    bool known = header.size() == k_fatbin_header && value_in<std::uint32_t>(header, 0) == k_fatbin_magic &&
                 value_in<std::uint16_t>(header, 4) == 1;
    std::uint64_t begin = known ? value_in<std::uint16_t>(header, 6) : 0;
    auto size = known ? value_in<std::uint64_t>(header, 8) : 0;
    bool fits = known && begin >= k_fatbin_header && has_room(begin, size, place.end - at);
    if (fits) {
      ++reading.contents.containers;
      reading.contents.stored_bytes += begin + size;
      TRY(fits, read_pieces(reading, {at + begin, at + begin + size}));
    }
    if (!fits) {
      add_note(reading, ".nv_fatbin", at);
      return {};
    }
    TRY(at, next_container(reading, {at + begin + size, place.end}));
  }
  return {};
}

} // namespace quarry::gpu
