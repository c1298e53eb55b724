// .kpack archives: "KPAK", u32 version, u64 place of the table of contents; blobs; the table in MessagePack, up to the
// end of the file (rocm-systems, shared/kpack/runtime/src/toc_parser.cpp).
#include "gpu/message_pack.hpp"
#include "gpu/reading.hpp"
#include "gpu/unpack.hpp"

#include "elf/image.hpp"
#include "names/entry_names.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>

namespace quarry::gpu {

namespace {
constexpr std::size_t k_kpack_header = 16;
constexpr std::uint64_t k_contents_max = 64u << 20; // a table of contents; one kernel takes about 100 bytes of it
constexpr std::uint32_t k_kpack_version_max = 2;

struct Blob {
  std::uint64_t offset = 0, size = 0;
};
struct Kernel {
  std::string binary, target;
  std::uint64_t ordinal = 0, size = 0;
};
struct Table {
  std::string scheme = "none"; ///< "none", "zstd-per-kernel"
  std::vector<Blob> blobs;
  Blob packed; ///< of all frames
  std::vector<Kernel> kernels;
};

Unexpected damaged_table() { return damaged("the table of contents of the kpack archive is damaged"); }

/// Calls `take(key)` for each pair of a map. `take` reads the value, or returns false: then the value is skipped.
template <class Take> bool each_pair(MessagePack& in, const Take& take) {
  auto pairs = in.map();
  if (!pairs) return false;
  for (std::uint64_t i = 0; i < *pairs; ++i) {
    auto key = in.text();
    if (!key && !in.skip()) return false;
    if ((!key || !take(*key)) && !in.skip()) return false;
  }
  return true;
}

bool read_number(MessagePack& in, std::uint64_t& into) {
  auto value = in.number();
  if (value) into = *value;
  return value.has_value();
}

bool read_blobs(MessagePack& in, std::vector<Blob>& into) {
  auto count = in.array();
  if (!count) return false;
  for (std::uint64_t i = 0; i < *count; ++i) {
    Blob blob;
    if (!each_pair(in, [&](std::string_view key) {
          return (key == "offset" && read_number(in, blob.offset)) || (key == "size" && read_number(in, blob.size));
        }))
      return false;
    if (into.size() < k_objects_max) into.push_back(blob);
  }
  return true;
}

// binary -> target -> what and where.
bool read_kernels(MessagePack& in, std::vector<Kernel>& into) {
  return each_pair(in, [&](std::string_view binary) {
    return each_pair(in, [&](std::string_view target) {
      Kernel kernel{std::string(binary.substr(0, 4096)), std::string(target.substr(0, k_id_max))};
      bool read = each_pair(in, [&](std::string_view key) {
        return (key == "ordinal" && read_number(in, kernel.ordinal)) ||
               (key == "original_size" && read_number(in, kernel.size));
      });
      if (read && into.size() < k_objects_max) into.push_back(std::move(kernel));
      return read;
    });
  });
}

std::optional<Table> parse_contents(std::string_view bytes) {
  Table table;
  MessagePack in(bytes);
  bool read = each_pair(in, [&](std::string_view key) {
    if (key == "compression_scheme") {
      auto scheme = in.text();
      if (scheme) table.scheme = *scheme;
      return scheme.has_value();
    }
    if (key == "blobs") return read_blobs(in, table.blobs);
    if (key == "zstd_offset") return read_number(in, table.packed.offset);
    if (key == "zstd_size") return read_number(in, table.packed.size);
    return key == "toc" && read_kernels(in, table.kernels);
  });
  return read ? std::optional(std::move(table)) : std::nullopt;
}

/// The frames behind each other: u32 count, then for each u32 length and the frame.
Result<std::vector<Blob>> frames_of(const content::Rope& file, const Blob& packed) {
  if (!elf::fits(packed.offset, packed.size, file.size()))
    return damaged("the frames of the kpack archive are outside it");
  auto at = packed.offset, end = packed.offset + packed.size;
  TRY(auto head, bytes_at(file, at, 4));
  if (packed.size < 4) return damaged("the kpack archive has no frames");
  auto count = value_in<std::uint32_t>(head, 0);
  at += 4;
  std::vector<Blob> frames;
  for (std::uint32_t i = 0; i < count && frames.size() < k_objects_max; ++i) {
    if (end - at < 4) return damaged("the frames of the kpack archive end too early");
    TRY(auto length, bytes_at(file, at, 4));
    Blob frame{at + 4, value_in<std::uint32_t>(length, 0)};
    if (end - frame.offset < frame.size) return damaged("the frames of the kpack archive end too early");
    frames.push_back(frame);
    at = frame.offset + frame.size;
  }
  return frames;
}

Result<std::string> head_of(Reading& reading, const Blob& blob, bool packed) {
  if (!elf::fits(blob.offset, blob.size, reading.file.size()))
    return damaged("a blob of the kpack archive is outside it");
  if (!packed) return bytes_at(reading.file, blob.offset, std::min<std::uint64_t>(blob.size, k_elf_head_bytes));
  auto unpacker = unpack(Method::zstd, reading.file.slice(blob.offset, blob.size));
  TRY(auto piece, unpacker->next());
  return std::string(piece.substr(0, k_elf_head_bytes));
}

/// The first bytes of blobs: several kernels may name the same blob, which is unpacked once.
using Heads = std::map<std::uint64_t, std::string>;

struct Blobs {
  std::vector<Blob> places;
  bool packed = false;
  Heads heads = {};
};

Result<void> add_kernel(Reading& reading, const Kernel& kernel, Blobs& blobs) {
  auto target = parse_target(kernel.target);
  if (!target)
    return unknown_form(
        fmt::format("the kpack archive names a target `{}` that is not known", names::printable(kernel.target)));
  if (kernel.ordinal >= blobs.places.size())
    return damaged(fmt::format("the code of {} for {} is blob {} of {}", names::printable(kernel.binary), target->str(),
                               kernel.ordinal, blobs.places.size()));
  const auto& blob = blobs.places[kernel.ordinal];
  auto [head, is_new] = blobs.heads.try_emplace(kernel.ordinal);
  if (is_new) {
    TRY(head->second, head_of(reading, blob, blobs.packed));
  }
  auto bytes = blobs.packed ? kernel.size : blob.size;
  add_object(reading, {Container::kpack, *target, blob.offset, bytes, {}, true}, head->second);
  return {};
}
} // namespace

Result<void> read_kpack(Reading& reading) {
  TRY(auto head, bytes_at(reading.file, 0, k_kpack_header));
  if (head.size() < k_kpack_header) return damaged("the kpack archive ends inside its header");
  auto version = value_in<std::uint32_t>(head, 4);
  if (version == 0 || version > k_kpack_version_max)
    return unknown_form(
        fmt::format("the kpack archive has version {}; versions 1 to {} are known", version, k_kpack_version_max));
  auto at = value_in<std::uint64_t>(head, 8);
  if (at < k_kpack_header || at >= reading.file.size())
    return damaged("the table of contents of the kpack archive is outside it");
  if (reading.file.size() - at > k_contents_max)
    return damaged(fmt::format("the table of contents of the kpack archive has more than {} bytes", k_contents_max));
  TRY(auto bytes, bytes_at(reading.file, at, k_contents_max));
  auto table = parse_contents(bytes);
  if (!table) return damaged_table();
  Blobs blobs{std::move(table->blobs), table->scheme == "zstd-per-kernel"};
  if (!blobs.packed && table->scheme != "none")
    return unknown_form(fmt::format("the kpack archive is packed with `{}`", names::printable(table->scheme)));
  if (blobs.packed) {
    TRY(blobs.places, frames_of(reading.file, table->packed));
  }
  ++reading.contents.containers;
  reading.contents.stored_bytes += reading.file.size();
  for (const auto& kernel : table->kernels)
    if (auto added = add_kernel(reading, kernel, blobs); !added) TRY_DO(keep(reading, added.error(), ""));
  return {};
}

} // namespace quarry::gpu
