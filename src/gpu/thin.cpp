#include "gpu/thin.hpp"

#include "base/zeros.hpp"
#include "digest/md5.hpp"
#include "gpu/ar.hpp"
#include "gpu/kpack.hpp"
#include "gpu/reading.hpp"
#include "gpu/repack.hpp"
#include "gpu/thin_proof.hpp"
#include "names/entry_names.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <utility>

namespace quarry::gpu {

namespace {
constexpr std::size_t k_left_max = 100; // sentences of a file: more teach nobody anything

void stays(Thinning& thinning, std::string sentence) {
  if (thinning.left.size() < k_left_max) thinning.left.push_back(std::move(sentence));
}

template <class T> void put_value(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xFF));
}

// Plain bundles

bool is_unwanted_entry(const Entry& entry, const std::vector<std::string>& devices) {
  auto target = parse_entry_id(entry.id);
  return target && is_unwanted(*target, devices);
}

std::uint64_t table_bytes(const std::vector<Entry>& entries) {
  auto bytes = k_bundle_magic.size() + sizeof(std::uint64_t);
  for (const auto& entry : entries) bytes += 3 * sizeof(std::uint64_t) + entry.id.size();
  return bytes;
}

/// The table of `entries`, filled with zeros to `size`.
std::string table_of(const std::vector<Entry>& entries, std::uint64_t size) {
  std::string out(k_bundle_magic);
  put_value<std::uint64_t>(out, entries.size());
  for (const auto& entry : entries) {
    put_value(out, entry.offset);
    put_value(out, entry.size);
    put_value<std::uint64_t>(out, entry.id.size());
    out += entry.id;
  }
  out.resize(size);
  return out;
}

/// What changes in the plain bundle that begins at `begin`; nothing if all of it is wanted. `removed` gets its targets.
Result<std::vector<Change>> changes_of(const std::vector<Entry>& entries, std::uint64_t begin, Thinning& thinning,
                                       std::vector<const Entry*>& removed) {
  std::vector<Change> changes;
  std::vector<Entry> kept;
  for (const auto& entry : entries) {
    if (is_unwanted_entry(entry, thinning.request.devices))
      removed.push_back(&entry);
    else
      kept.push_back({entry.id, entry.offset, entry.size, {}});
  }
  if (removed.empty()) return changes;
  if (kept.empty()) {
    stays(thinning, "a bundle has no entry for the host, and nothing would be left of it");
    removed.clear();
    return changes;
  }
  auto table = table_bytes(entries);
  for (const auto& entry : entries)
    if (entry.size > 0 && entry.offset < table)
      return damaged(
          fmt::format("the code of entry {} begins inside the table of its bundle", names::printable(entry.id)));
  changes.push_back({begin, begin + table, content::Rope::literal(table_of(kept, table))});
  for (const auto* entry : removed)
    if (entry->size > 0)
      changes.push_back(
          {begin + entry->offset, begin + entry->offset + entry->size, content::Rope::zeros(entry->size)});
  return changes;
}

/// `file` with the changes, which get sorted. Fails with corrupt (G101) if two of them overlap.
Result<content::Rope> changed_file(const content::Rope& file, std::vector<Change>& changes) {
  std::ranges::sort(changes, {}, [](const Change& change) { return std::pair(change.begin, change.end); });
  content::Rope out;
  std::uint64_t at = 0;
  for (const auto& change : changes) {
    if (change.begin < at)
      return damaged(fmt::format("two bundles or code objects share the bytes at {:#x}", change.begin));
    out.append(file.slice(at, change.begin - at));
    out.append(change.bytes);
    at = change.end;
  }
  out.append(file.slice(at, file.size() - at));
  return out;
}

Result<bool> is_zero(const content::Rope& file, std::uint64_t begin, std::uint64_t end) {
  constexpr std::uint64_t k_step = 1u << 20;
  for (; begin < end; begin += k_step) {
    TRY(auto bytes, bytes_at(file, begin, std::min(k_step, end - begin)));
    if (!zeros::all_zero(bytes)) return false;
  }
  return true;
}

/// Whether only zeros follow what stays of the bundle: the next one is looked for behind them. `changes` begins with
/// the bundle's table.
Result<bool> ends_in_zeros(const Thinning& thinning, const Bundle& bundle, const std::vector<Change>& changes) {
  auto at = changes.front().end; // becomes the end of what stays
  for (const auto& entry : bundle.entries)
    if (!is_unwanted_entry(entry, thinning.request.devices))
      at = std::max(at, bundle.begin + entry.offset + entry.size);
  auto zeroed = std::vector(changes.begin() + 1, changes.end());
  std::ranges::sort(zeroed, {}, &Change::begin);
  for (const auto& change : zeroed) {
    TRY(bool zero, is_zero(thinning.file, at, change.begin));
    if (!zero) return false;
    at = std::max(at, change.end);
  }
  return is_zero(thinning.file, at, page_end(bundle));
}

Result<void> undescribed(Thinning& thinning, const Bundle& bundle) {
  stays(thinning, fmt::format("bytes that no entry describes follow the code of the bundle at {:#x}", bundle.begin));
  return {};
}

Result<void> thin_plain(Thinning& thinning, const Bundle& bundle) {
  std::vector<const Entry*> removed;
  TRY(auto changes, changes_of(bundle.entries, bundle.begin, thinning, removed));
  if (removed.empty()) return {};
  TRY(bool zeros, ends_in_zeros(thinning, bundle, changes));
  if (!zeros) return undescribed(thinning, bundle);
  for (const auto* entry : removed)
    thinning.removed.emplace(bundle.begin + entry->offset, parse_entry_id(entry->id)->str());
  std::ranges::move(changes, std::back_inserter(thinning.changes));
  return {};
}

// Compressed bundles

/// The plain bundle, in a file without a name.
Result<content::Rope> unpacked(const Thinning& thinning, const Bundle& bundle, const CompressedHeader& header) {
  TRY(auto spool, content::Spool::create(thinning.request.spool_directory));
  auto unpacker =
      unpack(header.method, thinning.file.slice(bundle.begin + header.bytes, bundle.end - bundle.begin - header.bytes));
  Budget budget;
  while (true) {
    TRY(auto piece, unpacker->next());
    if (piece.empty()) break;
    budget.packed = unpacker->consumed();
    budget.unpacked = spool->size();
    if (!budget.allows(piece.size()) || piece.size() > header.unpacked - spool->size())
      return damaged(fmt::format("the compressed bundle at {:#x} unpacks to more than it promises", bundle.begin));
    TRY_DO(spool->append(std::as_bytes(std::span(piece))));
  }
  if (spool->size() != header.unpacked)
    return damaged(fmt::format("the compressed bundle at {:#x} promises {} bytes and unpacks to {}", bundle.begin,
                               header.unpacked, spool->size()));
  return content::Rope::of(spool);
}

/// The low half of the MD5 of the plain bundle, as clang writes it; runtimes name what they cache by it.
Result<std::uint64_t> hash_of(const content::Rope& plain) {
  Md5Hasher hasher;
  TRY_DO(content::pump(plain, [&](std::span<const std::byte> piece) -> Result<void> {
    hasher.update(piece);
    return {};
  }));
  auto digest = hasher.finish();
  std::uint64_t out = 0;
  for (int i = 7; i >= 0; --i) out = out << 8 | digest[static_cast<std::size_t>(i)];
  return out;
}

std::string header_of(const CompressedHeader& header, std::uint64_t total, std::uint64_t hash) {
  std::string out(k_compressed_magic);
  put_value(out, header.version);
  put_value<std::uint16_t>(out, header.method == Method::zlib ? 0 : 1);
  if (header.version == 2) put_value(out, static_cast<std::uint32_t>(total));
  if (header.version >= 3) put_value(out, total);
  if (header.version <= 2)
    put_value(out, static_cast<std::uint32_t>(header.unpacked));
  else
    put_value(out, header.unpacked);
  put_value(out, hash);
  return out;
}

/// `plain` compressed as `header` says it, at most `limit` bytes with the header; nullopt if it does not fit.
Result<std::optional<content::Rope>> packed_again(const Thinning& thinning, const content::Rope& plain,
                                                  const CompressedHeader& header, std::uint64_t limit) {
  for (auto effort : {Effort::usual, Effort::high}) {
    TRY(auto stream, pack_stream(plain, {header.method, effort, limit - header.bytes}, thinning.request.spool));
    if (!stream) continue;
    TRY(bool same, unpacks_to(header.method, *stream, plain));
    if (!same)
      return fail(ErrorKind::internal, "G116", "a bundle that was compressed again does not unpack to the same bytes",
                  "nothing was written; report the file");
    TRY(auto hash, hash_of(plain));
    auto out = content::Rope::literal(header_of(header, header.bytes + stream->size(), hash));
    out.append(*stream);
    return std::optional(std::move(out));
  }
  return std::optional<content::Rope>();
}

/// What is kept of a plain bundle, moved together: only its own table names places in it. Were the removed code blanked
/// as in a plain bundle, the stream could unpack to thousands of times its size, which readers take for an attack.
content::Rope moved_together(const content::Rope& plain, const std::vector<Entry>& entries,
                             const std::vector<const Entry*>& removed) {
  std::vector<Entry> kept;
  for (const auto& entry : entries)
    if (std::ranges::find(removed, &entry) == removed.end()) kept.push_back({entry.id, entry.offset, entry.size, {}});
  std::vector<Entry*> by_place;
  for (auto& entry : kept) by_place.push_back(&entry);
  std::ranges::sort(by_place, {}, [](const Entry* entry) { return std::pair(entry->offset, entry->size); });
  content::Rope code;
  const auto begin = table_bytes(kept);
  for (auto* entry : by_place) {
    auto aligned_to = std::min(std::max<std::uint64_t>(entry->offset & (~entry->offset + 1), 1), k_bundle_align);
    auto end = begin + code.size(), at = (end + aligned_to - 1) / aligned_to * aligned_to;
    code.append(content::Rope::zeros(at - end));
    code.append(plain.slice(entry->offset, entry->size));
    entry->offset = at;
  }
  auto out = content::Rope::literal(table_of(kept, begin));
  out.append(code);
  return out;
}

Result<void> thin_compressed(Thinning& thinning, const Bundle& bundle) {
  if (std::ranges::none_of(bundle.entries,
                           [&](const Entry& e) { return is_unwanted_entry(e, thinning.request.devices); }))
    return {};
  TRY(bool zeros, is_zero(thinning.file, bundle.end, page_end(bundle)));
  if (!zeros) return undescribed(thinning, bundle);
  TRY(auto head, bytes_at(thinning.file, bundle.begin, 32));
  TRY(auto header, parse_compressed(head));
  TRY(auto plain, unpacked(thinning, bundle, header));
  std::vector<const Entry*> removed;
  TRY(auto changes, changes_of(bundle.entries, 0, thinning, removed));
  if (removed.empty()) return {};
  TRY_DO(changed_file(plain, changes)); // refuses entries that share bytes
  auto thinned = moved_together(plain, bundle.entries, removed);
  header.unpacked = thinned.size();
  auto room = bundle.end - bundle.begin;
  TRY(auto packed, packed_again(thinning, thinned, header, room));
  if (!packed) {
    stays(thinning,
          fmt::format("the compressed bundle at {:#x} does not fit into its {} bytes when it is compressed again",
                      bundle.begin, room));
    return {};
  }
  // Tools take what follows the stream in a file of its own for a damaged stream. In a library, places stay.
  TRY(auto magic, bytes_at(thinning.file, 0, k_compressed_magic.size()));
  if (magic == k_compressed_magic && bundle.end == thinning.file.size())
    thinning.shorter = room - packed->size();
  else
    packed->append(content::Rope::zeros(room - packed->size()));
  thinning.changes.push_back({bundle.begin, bundle.end, std::move(*packed)});
  for (const auto* entry : removed) thinning.removed.emplace(bundle.begin, parse_entry_id(entry->id)->str());
  return {};
}

/// An ELF file that is not itself a code object.
bool is_library(const Contents& contents, std::string_view head) {
  return head.starts_with("\177ELF") && std::ranges::none_of(contents.objects, [](const CodeObject& object) {
           return object.container == Container::elf;
         });
}

bool is_archive(const Contents& contents) {
  return std::ranges::any_of(contents.objects,
                             [](const CodeObject& object) { return object.container == Container::kpack; });
}

Result<void> require_undamaged(const Contents& contents, std::string_view name) {
  auto found = std::ranges::find(contents.findings, Severity::error, &Finding::severity);
  if (found == contents.findings.end()) return {};
  return fail(ErrorKind::corrupt, "G101", fmt::format("{} has damaged device code: {}", name, found->message),
              "build or fetch the file again");
}

/// What cannot be thinned, if it holds code that nobody asked for.
void note_others(Thinning& thinning, const Contents& contents) {
  auto is_other = [&](const CodeObject& object) {
    return object.container == Container::offload_binary && is_unwanted(object.target, thinning.request.devices);
  };
  if (std::ranges::any_of(contents.objects, is_other)) stays(thinning, "offload binaries are not thinned");
  for (const auto& finding : contents.findings) stays(thinning, finding.message);
}

Result<void> thin_bundles(Thinning& thinning, const std::vector<Bundle>& bundles) {
  for (const auto& bundle : bundles)
    TRY_DO(bundle.container == Container::bundle ? thin_plain(thinning, bundle) : thin_compressed(thinning, bundle));
  return {};
}

/// Applies the changes, and proves the result. `head` begins the file.
Result<void> change(Thinning& thinning, Thinned& thinned, std::string_view head, std::string_view name) {
  const auto& file = thinning.file;
  bool elf = is_library(thinned.before, head), windows = head.starts_with("MZ");
  if (windows && !thinning.changes.empty()) TRY_DO(prepare_windows(thinning, name));
  thinned.changed = !thinning.changes.empty();
  if (!thinned.changed) {
    thinned.after = thinned.before;
    return {};
  }
  TRY(thinned.file, changed_file(file, thinning.changes));
  if (elf) TRY_DO(check_sections(file, name, thinning.changes));
  if (windows) {
    TRY(thinned.file, with_new_checksum(thinning, thinned.file));
  }
  TRY(thinned.after, read_contents(thinned.file, name));
  TRY_DO(prove_thinned(thinning, thinned, name));
  if (elf) TRY_DO(prove_elf(thinning, thinned, name));
  return {};
}
} // namespace

bool is_unwanted(const Target& code, const std::vector<std::string>& devices) {
  const auto& processor = code.processor;
  bool group = processor.starts_with("gfx") && processor.size() > 4 && processor.ends_with('x');
  if (!group && known_processor(processor) != processor) return false;
  return std::ranges::none_of(devices, [&](const std::string& device) { return runs_on(processor, device); });
}

Result<Thinned> thin(const content::Rope& file, std::string_view name, const ThinRequest& request) {
  TRY(auto head, bytes_at(file, 0, k_bundle_magic.size()));
  if (head.starts_with(k_ar_magic)) return thin_ar(file, name, request);
  Reading reading{file, std::string(name)};
  std::vector<Bundle> bundles;
  reading.on_bundle = [&](const Bundle& bundle) { bundles.push_back(bundle); };
  TRY_DO(read_all(reading));
  TRY_DO(require_undamaged(reading.contents, name));
  Thinning thinning{file, request};
  Thinned thinned{file, false, std::move(reading.contents), {}, {}};
  note_others(thinning, thinned.before);
  auto doing = fmt::format("while thinning {}", name);
  if (is_archive(thinned.before)) {
    TRY_DO(thin_kpack(thinning, thinned, name), doing);
    if (!thinned.changed) thinned.after = thinned.before;
  } else {
    TRY_DO(thin_bundles(thinning, bundles), doing);
    TRY_DO(change(thinning, thinned, head, name), doing);
  }
  thinned.left = std::move(thinning.left);
  return thinned;
}

} // namespace quarry::gpu
