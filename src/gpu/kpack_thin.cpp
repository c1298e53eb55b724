#include "gpu/kpack.hpp"
#include "gpu/message_pack.hpp"

#include "elf/image.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <optional>
#include <utility>

namespace quarry::gpu {

namespace {
constexpr std::uint64_t k_blob_align = 64; // where packers put the blobs that are not compressed
constexpr std::uint64_t k_gone = UINT64_MAX;

struct KpackPlan {
  const KpackArchive& archive;
  const std::vector<std::string>& devices;
  std::vector<std::uint64_t> ordinals = {}; ///< new ones by old ones; k_gone
  std::vector<KpackBlob> kept = {};         ///< by new ordinals, at their places in the new file
  content::Rope body = {};                  ///< what stands between the header and the table
  std::uint64_t frames_size = 0;
  bool blobs_written = false;
};

bool is_unwanted_label(std::string_view label, const std::vector<std::string>& devices) {
  auto target = parse_target(label);
  return target && is_unwanted(*target, devices);
}

/// Which blobs stay, in their order: those that a row that stays names.
Result<void> number_blobs(KpackPlan& plan) {
  plan.ordinals.assign(plan.archive.blobs.size(), k_gone);
  for (const auto& kernel : plan.archive.kernels) {
    if (is_unwanted_label(kernel.target, plan.devices)) continue;
    if (kernel.ordinal >= plan.ordinals.size())
      return damaged(
          fmt::format("a row of the kpack archive names blob {} of {}", kernel.ordinal, plan.archive.blobs.size()));
    plan.ordinals[kernel.ordinal] = 0;
  }
  for (std::size_t i = 0; i < plan.ordinals.size(); ++i) {
    if (plan.ordinals[i] == k_gone) continue;
    plan.ordinals[i] = plan.kept.size();
    plan.kept.push_back(plan.archive.blobs[i]);
  }
  return {};
}

std::string little_endian(std::uint64_t value, unsigned width) {
  std::string out;
  for (unsigned i = 0; i < width; ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xFF));
  return out;
}

/// Frames stand behind each other, each with its length before it.
Result<void> lay_frames(KpackPlan& plan, const content::Rope& file) {
  const auto begin = plan.archive.frames.offset;
  if (begin < k_kpack_header) return damaged("the frames of the kpack archive stand in its header");
  plan.body = file.slice(k_kpack_header, begin - k_kpack_header);
  plan.body.append(content::Rope::literal(little_endian(plan.kept.size(), 4)));
  for (auto& blob : plan.kept) {
    plan.body.append(content::Rope::literal(little_endian(blob.size, 4)));
    auto at = k_kpack_header + plan.body.size();
    plan.body.append(file.slice(blob.offset, blob.size));
    blob.offset = at;
  }
  plan.frames_size = k_kpack_header + plan.body.size() - begin;
  return {};
}

Result<void> lay_blobs(KpackPlan& plan, const content::Rope& file) {
  for (auto& blob : plan.kept) {
    if (!elf::fits(blob.offset, blob.size, file.size())) return damaged("a blob of the kpack archive is outside it");
    auto end = k_kpack_header + plan.body.size();
    auto at = (end + k_blob_align - 1) / k_blob_align * k_blob_align;
    plan.body.append(content::Rope::zeros(at - end));
    plan.body.append(file.slice(blob.offset, blob.size));
    blob.offset = at;
  }
  return {};
}

// The table of contents, value by value. What is not known is copied as it stands.

enum class Fate : std::uint8_t { same, changed, dropped, damaged };

bool copy_value(MessagePack& in, std::string& out) {
  auto before = in.rest();
  if (!in.skip()) return false;
  out += before.substr(0, before.size() - in.rest().size());
  return true;
}

/// Copies a map. `change(key, value)` leaves a value that stays the same unread, and reads any other.
template <class Change> bool copy_map(MessagePack& in, std::string& out, const Change& change) {
  auto pairs = in.map();
  if (!pairs) return false;
  std::string body;
  std::uint32_t kept = 0;
  for (std::uint64_t i = 0; i < *pairs; ++i) {
    auto before = in.rest();
    auto key = in.text();
    if (!key && !in.skip()) return false;
    auto key_bytes = before.substr(0, before.size() - in.rest().size());
    std::string value;
    auto fate = key ? change(*key, value) : Fate::same;
    if (fate == Fate::damaged || (fate == Fate::same && !copy_value(in, value))) return false;
    if (fate == Fate::dropped) continue;
    body += key_bytes;
    body += value;
    ++kept;
  }
  out += packed_map(kept) + body;
  return true;
}

Fate put_instead(MessagePack& in, std::string& out, std::uint64_t value) {
  if (!in.skip()) return Fate::damaged;
  out += packed_number(value);
  return Fate::changed;
}

Fate changed_if(bool done) { return done ? Fate::changed : Fate::damaged; }

bool copy_blobs(KpackPlan& plan, MessagePack& in, std::string& out) {
  auto count = in.array();
  if (!count) return false;
  // Only a hostile table has two lists; the first one gets all blobs.
  auto kept = std::exchange(plan.blobs_written, true) ? std::vector<KpackBlob>() : plan.kept;
  out += packed_array(static_cast<std::uint32_t>(kept.size()));
  std::size_t next = 0;
  for (std::uint64_t i = 0; i < *count; ++i) {
    bool stays = next < kept.size() && i < plan.ordinals.size() && plan.ordinals[i] != k_gone;
    std::string blob;
    bool placed = false;
    bool copied = copy_map(in, blob, [&](std::string_view key, std::string& value) {
      if (!stays || key != "offset") return Fate::same;
      placed = true;
      return put_instead(in, value, kept[next].offset);
    });
    if (!copied || placed != stays) return false;
    if (stays) out += blob, ++next;
  }
  return next == kept.size();
}

bool copy_targets(const KpackPlan& plan, MessagePack& in, std::string& out) {
  auto count = in.array();
  if (!count) return false;
  std::string body;
  std::uint32_t kept = 0;
  for (std::uint64_t i = 0; i < *count; ++i) {
    auto peek = in;
    auto label = peek.text();
    std::string value;
    if (!copy_value(in, value)) return false;
    if (label && is_unwanted_label(*label, plan.devices)) continue;
    body += value;
    ++kept;
  }
  out += packed_array(kept) + body;
  return true;
}

Fate copy_kernel(const KpackPlan& plan, MessagePack& in, std::string_view label, std::string& out) {
  if (is_unwanted_label(label.substr(0, k_id_max), plan.devices)) return in.skip() ? Fate::dropped : Fate::damaged;
  bool numbered = false;
  bool copied = copy_map(in, out, [&](std::string_view key, std::string& value) {
    if (key != "ordinal") return Fate::same;
    auto old = in.number();
    if (!old || *old >= plan.ordinals.size() || plan.ordinals[*old] == k_gone) return Fate::damaged;
    value = packed_number(plan.ordinals[*old]);
    numbered = true;
    return Fate::changed;
  });
  return changed_if(copied && numbered);
}

/// A binary whose code leaves altogether leaves, too.
Fate copy_binary(const KpackPlan& plan, MessagePack& in, std::string& out) {
  bool copied = copy_map(
      in, out, [&](std::string_view label, std::string& value) { return copy_kernel(plan, in, label, value); });
  if (!copied) return Fate::damaged;
  return out == packed_map(0) ? Fate::dropped : Fate::changed;
}

std::optional<std::string> copy_contents(KpackPlan& plan) {
  MessagePack in(plan.archive.contents);
  std::string out;
  bool copied = copy_map(in, out, [&](std::string_view key, std::string& value) {
    if (key == "blobs" && !plan.archive.packed) return changed_if(copy_blobs(plan, in, value));
    if (key == "zstd_size" && plan.archive.packed) return put_instead(in, value, plan.frames_size);
    if (key == "gfx_arches") return changed_if(copy_targets(plan, in, value));
    if (key != "toc") return Fate::same;
    return changed_if(
        copy_map(in, value, [&](std::string_view, std::string& binary) { return copy_binary(plan, in, binary); }));
  });
  return copied ? std::optional(std::move(out)) : std::nullopt;
}

// Proof

Unexpected kpack_not_proven(std::string_view name, std::string_view what) {
  return fail(ErrorKind::internal, "G116", fmt::format("the thinned {} cannot be proven: {}", name, what),
              "nothing was written; report the file");
}

/// The rows that stay are all there, in their order, and name the same bytes.
Result<void> prove_kpack(const Thinning& thinning, const KpackArchive& before, const Thinned& thinned,
                         std::string_view name) {
  auto after = read_kpack_archive(thinned.file);
  if (!after || has_errors(thinned.after.findings)) return kpack_not_proven(name, "it does not read back");
  std::size_t next = 0;
  for (const auto& kernel : before.kernels) {
    if (is_unwanted_label(kernel.target, thinning.request.devices)) continue;
    if (next == after->kernels.size()) return kpack_not_proven(name, "rows are missing");
    const auto& copy = after->kernels[next++];
    if (copy.binary != kernel.binary || copy.target != kernel.target || copy.size != kernel.size ||
        copy.ordinal >= after->blobs.size())
      return kpack_not_proven(name, "its rows are others");
    const auto &old = before.blobs[kernel.ordinal], &blob = after->blobs[copy.ordinal];
    if (old.size != blob.size ||
        !content::same_piece({thinning.file, old.offset}, {thinned.file, blob.offset}, old.size))
      return kpack_not_proven(name, "a row names other bytes");
  }
  if (next != after->kernels.size()) return kpack_not_proven(name, "it has rows that were not kept");
  auto wanted = std::ranges::count_if(thinned.before.objects, [&](const CodeObject& object) {
    return !is_unwanted(object.target, thinning.request.devices);
  });
  if (static_cast<std::size_t>(wanted) != thinned.after.objects.size())
    return kpack_not_proven(name, "it has other code objects than those that were kept");
  return {};
}
} // namespace

Result<void> thin_kpack(Thinning& thinning, Thinned& thinned, std::string_view name) {
  auto is_wanted = [&](const KpackKernel& kernel) {
    return !is_unwanted_label(kernel.target, thinning.request.devices);
  };
  TRY(auto archive, read_kpack_archive(thinning.file));
  if (std::ranges::all_of(archive.kernels, is_wanted)) return {};
  if (std::ranges::none_of(archive.kernels, is_wanted)) {
    thinning.left.emplace_back("nothing would be left of the kpack archive");
    return {};
  }
  if (archive.kernels.size() >= k_objects_max || archive.blobs.size() >= k_objects_max) {
    thinning.left.push_back(fmt::format("the kpack archive has {} rows or blobs, or more", k_objects_max));
    return {};
  }
  KpackPlan plan{archive, thinning.request.devices};
  TRY_DO(number_blobs(plan));
  TRY_DO(archive.packed ? lay_frames(plan, thinning.file) : lay_blobs(plan, thinning.file));
  auto contents = copy_contents(plan);
  if (!contents) return damaged("the table of contents of the kpack archive cannot be copied");
  auto file = thinning.file.slice(0, 8); // magic and version
  file.append(content::Rope::literal(little_endian(k_kpack_header + plan.body.size(), 8)));
  file.append(plan.body);
  file.append(content::Rope::literal(std::move(*contents)));
  if (file.size() >= thinning.file.size()) {
    thinning.left.emplace_back("the kpack archive would not get smaller: its blobs share bytes");
    return {};
  }
  thinned.file = std::move(file);
  thinned.changed = true;
  TRY(thinned.after, read_contents(thinned.file, name));
  return prove_kpack(thinning, archive, thinned, name);
}

} // namespace quarry::gpu
