#include "base/zeros.hpp"
#include "gpu/ar.hpp"
#include "gpu/names.hpp"
#include "gpu/reading.hpp"

#include "names/entry_names.hpp"

#include <algorithm>
#include <fmt/core.h>

namespace quarry::gpu {

namespace {
constexpr std::string_view k_kpack_magic = "KPAK", k_elf_magic = "\177ELF", k_pe_magic = "MZ";
constexpr std::uint64_t k_padding_max = 64u << 10; // before the first bundle: linkers align to pages of at most 64 KiB
constexpr std::uint64_t k_zeros_step_max = 1u << 20; // what is read at once of the code that thinning blanked

/// Moves `at` by a multiple of 4096 behind the zeros there, or to `end`; page by page, and in larger steps as the gap
/// grows.
Result<void> skip_zeros(const Reading& reading, std::uint64_t& at, std::uint64_t end, std::uint64_t zeros_max) {
  const auto begin = at;
  for (auto step = k_bundle_align; at < end;) {
    auto bytes = bytes_at(reading.file, at, std::min(step, end - at));
    // A file of which parts were kept has the pages that begin a bundle, and not all pages behind them.
    if (!bytes && bytes.error().kind == ErrorKind::unavailable && step > k_bundle_align) {
      step = k_bundle_align;
      continue;
    }
    if (!bytes) return fail(std::move(bytes).error());
    auto place = zeros::first_not_zero(*bytes);
    if (place != std::string_view::npos) {
      at += place / k_bundle_align * k_bundle_align;
      return {};
    }
    at += bytes->size();
    if (at - begin > zeros_max)
      return damaged(fmt::format("more than {} zeros stand where a bundle must begin", zeros_max));
    step = std::min(2 * step, k_zeros_step_max);
  }
  return {};
}

/// The first bundle at or after `at`, behind zeros; nullopt if only zeros follow. `at` becomes its place.
Result<std::optional<Bundle>> next_bundle(Reading& reading, std::uint64_t& at, std::uint64_t end,
                                          std::uint64_t zeros_max) {
  TRY_DO(skip_zeros(reading, at, end, zeros_max));
  if (at >= end) return std::optional<Bundle>();
  TRY(auto front, bytes_at(reading.file, at, std::min(k_bundle_align, end - at)));
  TRY(auto bundle, read_bundle(reading.file, at, end, std::move(front), reading.budget));
  return std::optional(std::move(bundle));
}

// Heads of plain bundles are read later: many reads that are announced first come side by side.
void place_entries(Reading& reading, const Bundle& bundle, std::vector<CodeObject>& placed) {
  bool plain = bundle.container == Container::bundle;
  std::set<Target> seen;
  for (const auto& entry : bundle.entries) {
    if (entry.id.starts_with("host-")) continue;
    auto target = parse_entry_id(entry.id);
    if (!target) {
      add_finding(reading, {"G102", Severity::warning, reading.name,
                            fmt::format("the bundle at {:#x} has an entry `{}`, which names no target that is known",
                                        bundle.begin, names::printable(entry.id)),
                            "a newer quarry may know it"});
      continue;
    }
    if (!seen.insert(*target).second)
      add_finding(reading,
                  {"G118", Severity::warning, reading.name,
                   fmt::format("the bundle at {:#x} has more than one entry for {}", bundle.begin, target->str()),
                   "bundle each target once: which of the entries is loaded depends on the runtime"});
    CodeObject object{bundle.container, *target, bundle.begin + (plain ? entry.offset : 0), entry.size, {}, true};
    if (plain) {
      reading.file.prefetch(object.offset, std::min<std::uint64_t>(entry.size, k_elf_head_bytes));
      placed.push_back(std::move(object));
    } else {
      add_object(reading, std::move(object), entry.head);
    }
  }
}

Result<void> read_whole_file(Reading& reading, std::string_view head) {
  if (head.starts_with(k_elf_magic)) return read_elf(reading);
  if (head.starts_with(k_bundle_magic) || head.starts_with(k_compressed_magic))
    return read_bundles(reading, 0, reading.file.size(), "the file");
  if (head.starts_with(k_kpack_magic)) return read_kpack(reading);
  if (head.starts_with(k_pe_magic)) return read_pe(reading);
  if (head.starts_with(k_ar_magic)) return read_ar(reading);
  return {};
}
} // namespace

std::string_view to_string(Container container) {
  switch (container) {
  case Container::elf: return "elf";
  case Container::bundle: return "bundle";
  case Container::compressed_bundle: return "compressed bundle";
  case Container::kpack: return "kpack";
  case Container::offload_binary: return "offload binary";
  case Container::fatbin: return "fatbin";
  case Container::compressed_fatbin: return "compressed fatbin";
  }
  return "";
}

bool may_hold_code(std::string_view head) {
  return std::ranges::any_of(
      std::initializer_list{k_elf_magic, k_bundle_magic, k_compressed_magic, k_kpack_magic, k_pe_magic, k_ar_magic},
      [&](std::string_view magic) { return head.starts_with(magic); });
}

void add_finding(Reading& reading, Finding finding) {
  if (reading.contents.findings.size() < k_findings_max)
    reading.contents.findings.push_back(std::move(finding));
  else
    ++reading.hidden;
}

Result<void> keep(Reading& reading, const Error& error, std::string_view where) {
  if (error.kind != ErrorKind::corrupt && error.kind != ErrorKind::unsupported) return fail(error);
  auto severity = error.kind == ErrorKind::corrupt ? Severity::error : Severity::warning;
  auto code = error.kind == ErrorKind::corrupt ? "G101" : "G102";
  add_finding(reading, {code, severity, reading.name,
                        where.empty() ? error.message : fmt::format("{}: {}", where, error.message), error.hint});
  return {};
}

namespace {
constexpr std::string_view k_bitcode_magic = "BC\xC0\xDE";
constexpr std::string_view k_bitcode = "LLVM bitcode", k_nothing = "nothing";

/// What stands where code for one of AMD's processors must be; empty for code. Labels such as `amdgcnspirv` are for
/// code that the runtime compiles, and `sm_90` is for another maker's.
std::string_view what_is_no_code(const CodeObject& object, std::string_view head) {
  bool says_nothing = object.container == Container::offload_binary || object.container == Container::fatbin ||
                      object.container == Container::compressed_fatbin;
  if (says_nothing || !object.target.processor.starts_with("gfx")) return {};
  if (auto elf = parse_elf_head(head)) return elf->is_amdgpu() ? std::string_view() : "an ELF file for another machine";
  if (head.empty()) return k_nothing;
  if (head.starts_with(k_bitcode_magic)) return k_bitcode;
  return zeros::first_not_zero(head) == std::string_view::npos ? "zeros" : "bytes that are not an ELF file";
}

/// Bitcode is what the linker of device code takes (-fgpu-rdc), and an empty entry is what a removal may leave; other
/// bytes are a mistake.
Severity severity_of_no_code(std::string_view what) {
  if (what == k_bitcode) return Severity::note;
  return what == k_nothing ? Severity::warning : Severity::error;
}

void add_no_code(Reading& reading, const CodeObject& object, std::string_view what) {
  add_finding(reading, {"G117", severity_of_no_code(what), reading.name,
                        fmt::format("the entry for {} at {:#x} holds {}, and does not count as code for it",
                                    object.target.str(), object.offset, what),
                        what == k_bitcode ? "link the device code: the runtime loads code objects"
                                          : "build the file again: the runtime cannot load the entry"});
}
} // namespace

bool is_named_like_code(std::string_view path) {
  return path.ends_with(".hsaco") || (path.ends_with(".co") && target_of_path(path));
}

Finding no_code_in_file(std::string_view name) {
  return {"G117", Severity::error, std::string(name),
          "it is named like a code object, and holds neither a code object nor a bundle",
          "build or fetch the file again"};
}

bool is_full(const Reading& reading) { return reading.contents.objects.size() >= k_objects_max; }

namespace {
bool has_room_for(Reading& reading, const Target& target) {
  if (reading.labels.contains(target)) return true;
  if (reading.labels.size() < k_targets_max) return reading.labels.insert(target).second;
  add_finding(reading,
              {"G101", Severity::error, reading.name,
               fmt::format("it has labels of more than {} targets; {} is not listed", k_targets_max, target.str()),
               "build or fetch the file again"});
  return false;
}
} // namespace

void add_object(Reading& reading, CodeObject object, std::string_view head) {
  if (auto what = what_is_no_code(object, head); !what.empty()) return add_no_code(reading, object, what);
  if (is_full(reading) || !has_room_for(reading, object.target)) return;
  if (auto elf = parse_elf_head(head)) {
    if (elf->tables_end > object.bytes)
      add_finding(reading, {"G101", Severity::error, reading.name,
                            fmt::format("the code object for {} at {:#x} is cut off: it has {} bytes of at least {}",
                                        object.target.str(), object.offset, object.bytes, elf->tables_end),
                            "build or fetch the file again"});
    object.elf_target = target_of(*elf);
    object.label_agrees = object.elf_target && agrees(object.target, *elf);
    if (!object.elf_target)
      add_finding(reading,
                  {"G102", Severity::warning, reading.name,
                   fmt::format("the code object for {} at {:#x} has machine {} and e_flags {:#x}, which name no "
                               "processor that is known",
                               object.target.str(), object.offset, elf->machine, elf->flags),
                   "a newer quarry may know it"});
    object.label_agrees = object.label_agrees || !object.elf_target; // unknown is not a contradiction
  }
  reading.contents.objects.push_back(std::move(object));
}

Result<void> read_bundles(Reading& reading, std::uint64_t begin, std::uint64_t end, std::string_view where) {
  std::vector<CodeObject> placed;
  auto at = begin;
  while (at < end && !is_full(reading) && placed.size() < k_objects_max) {
    // A thinned bundle ends early, and zeros stand where its last code objects were: any number of them.
    auto next = next_bundle(reading, at, end, at == begin ? k_padding_max : UINT64_MAX);
    if (!next) {
      TRY_DO(keep(reading, next.error(), fmt::format("{} at {:#x}, {} bytes before its end", where, at, end - at)));
      break;
    }
    if (!*next) break;
    const auto& bundle = **next;
    ++reading.contents.containers;
    reading.contents.stored_bytes += bundle.end - bundle.begin;
    if (reading.on_bundle) reading.on_bundle(bundle);
    place_entries(reading, bundle, placed);
    at = page_end(bundle);
  }
  for (auto& object : placed) {
    TRY(auto head, bytes_at(reading.file, object.offset, std::min<std::uint64_t>(object.bytes, k_elf_head_bytes)));
    add_object(reading, std::move(object), head);
  }
  return {};
}

Result<void> read_all(Reading& reading) {
  TRY(auto head, bytes_at(reading.file, 0, k_bundle_magic.size()), "while reading " + reading.name);
  if (auto done = read_whole_file(reading, head); !done)
    TRY_DO(keep(reading, done.error(), ""), "while reading " + reading.name);
  if (is_named_like_code(reading.name) && reading.contents.containers == 0 && reading.contents.findings.empty())
    reading.contents.findings.push_back(no_code_in_file(reading.name));
  if (is_full(reading))
    add_finding(reading, {"G102", Severity::warning, reading.name,
                          fmt::format("it holds more than the {} code objects that are listed", k_objects_max), ""});
  if (reading.hidden > 0)
    reading.contents.findings.push_back(
        {"G101", Severity::warning, reading.name, fmt::format("{} more findings are not listed", reading.hidden), ""});
  return {};
}

Result<Contents> read_contents(const content::Rope& file, std::string_view name) {
  Reading reading{file, std::string(name)};
  TRY_DO(read_all(reading));
  return std::move(reading.contents);
}

} // namespace quarry::gpu
