#include "gpu/kpack.hpp"

#include "gpu/message_pack.hpp"
#include "gpu/unpack.hpp"

#include "elf/image.hpp"
#include "names/entry_names.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>

namespace quarry::gpu {

namespace {
constexpr std::uint64_t k_contents_max = 64u << 20; // a table of contents; one kernel takes about 100 bytes of it
constexpr std::uint32_t k_kpack_version_max = 2;

using Blob = KpackBlob;
using Kernel = KpackKernel;

struct KpackTable {
  std::string scheme = "none"; ///< "none", "zstd-per-kernel"
  std::vector<Blob> blobs;
  Blob packed; ///< of all frames
  std::vector<Kernel> kernels;
};

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

std::optional<KpackTable> parse_contents(std::string_view bytes) {
  KpackTable table;
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
  if (!packed) return bytes_at(reading.file, blob.offset, std::min<std::uint64_t>(blob.size, k_elf_head_bytes));
  auto unpacker = unpack(Method::zstd, reading.file.slice(blob.offset, blob.size));
  TRY(auto piece, unpacker->next());
  return std::string(piece.substr(0, k_elf_head_bytes));
}

/// The first bytes of blobs: several kernels may name the same blob, which is unpacked once.
using Heads = std::map<std::uint64_t, std::string>;

Result<void> add_kernel(Reading& reading, const Kernel& kernel, const KpackArchive& archive, Heads& heads) {
  auto target = parse_target(kernel.target);
  if (!target)
    return unknown_form(
        fmt::format("the kpack archive names a target `{}` that is not known", names::printable(kernel.target)));
  if (kernel.ordinal >= archive.blobs.size())
    return damaged(fmt::format("the code of {} for {} is blob {} of {}", names::printable(kernel.binary), target->str(),
                               kernel.ordinal, archive.blobs.size()));
  const auto& blob = archive.blobs[kernel.ordinal];
  if (!elf::fits(blob.offset, blob.size, reading.file.size()))
    return damaged("a blob of the kpack archive is outside it");
  auto [head, is_new] = heads.try_emplace(kernel.ordinal);
  if (is_new) {
    TRY(head->second, head_of(reading, blob, archive.packed));
  }
  auto bytes = archive.packed ? kernel.size : blob.size;
  add_object(reading, {Container::kpack, *target, blob.offset, bytes, {}, true}, head->second);
  return {};
}
} // namespace

Result<KpackArchive> read_kpack_archive(const content::Rope& file) {
  TRY(auto head, bytes_at(file, 0, k_kpack_header));
  if (head.size() < k_kpack_header) return damaged("the kpack archive ends inside its header");
  auto version = value_in<std::uint32_t>(head, 4);
  if (version == 0 || version > k_kpack_version_max)
    return unknown_form(
        fmt::format("the kpack archive has version {}; versions 1 to {} are known", version, k_kpack_version_max));
  auto at = value_in<std::uint64_t>(head, 8);
  if (at < k_kpack_header || at >= file.size())
    return damaged("the table of contents of the kpack archive is outside it");
  if (file.size() - at > k_contents_max)
    return damaged(fmt::format("the table of contents of the kpack archive has more than {} bytes", k_contents_max));
  KpackArchive archive;
  TRY(archive.contents, bytes_at(file, at, k_contents_max));
  auto table = parse_contents(archive.contents);
  if (!table) return damaged("the table of contents of the kpack archive is damaged");
  archive.packed = table->scheme == "zstd-per-kernel";
  if (!archive.packed && table->scheme != "none")
    return unknown_form(fmt::format("the kpack archive is packed with `{}`", names::printable(table->scheme)));
  archive.frames = table->packed;
  archive.blobs = std::move(table->blobs);
  archive.kernels = std::move(table->kernels);
  if (archive.packed) {
    TRY(archive.blobs, frames_of(file, archive.frames));
  }
  return archive;
}

Result<void> read_kpack(Reading& reading) {
  TRY(auto archive, read_kpack_archive(reading.file));
  ++reading.contents.containers;
  reading.contents.stored_bytes += reading.file.size();
  Heads heads;
  for (const auto& kernel : archive.kernels)
    if (auto added = add_kernel(reading, kernel, archive, heads); !added) TRY_DO(keep(reading, added.error(), ""));
  return {};
}

} // namespace quarry::gpu
