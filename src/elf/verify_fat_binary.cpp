// E13: the registration records that HIP programs carry in .hipFatBinSegment must still point at a bundle of device
// code.
#include "elf/fat_binary.hpp"
#include "elf/verify.hpp"
#include "elf/window.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <optional>
#include <vector>

namespace quarry::elf {

namespace {
// clang, lib/CodeGen/CGCUDANV.cpp: { int magic, version; void* binary, *unused; }
constexpr std::uint64_t k_wrapper_bytes = 24, k_binary_at = 8;
constexpr std::uint32_t k_hip_magic =
    0x48495046; // "HIPF"; split (kpack) files write "HIPK" and keep their code elsewhere
constexpr std::size_t k_wrappers_max = 1u << 14;       // of a file; librocsparse has 111
constexpr std::size_t k_sections_of_wrappers_max = 16; // a linker makes one
constexpr std::uint64_t k_head_bytes = 32;             // of what they point at: the longest magic has 24
constexpr std::uint64_t k_table_page = 4096;           // holds the table of a bundle with 40 entries

bool is_bundle(std::string_view bytes) {
  // Bundle, compressed bundle, plain ELF code object.
  return bytes.starts_with("__CLANG_OFFLOAD_BUNDLE__") || bytes.starts_with("CCOB") || bytes.starts_with(ELFMAG);
}

constexpr std::uint64_t k_rela_soon = 4u << 20; // of DT_RELA that is asked for at once; librocsparse has 0.3 MB

using Targets = std::map<std::uint64_t, std::uint64_t>; // place -> addend

// RELATIVE relocations whose place lies inside one of `sections`. All of DT_RELA is read once, however many sections
// there are: it may have as many entries as the file has bytes.
Result<Targets> relative_targets(const Image& image, const std::vector<Section>& sections) {
  Targets out;
  auto address = image.value(DT_RELA), size = image.value(DT_RELASZ);
  if (!address || !size) return out;
  auto at = image.offset_of(*address, *size);
  if (!at) return image.corrupt("DT_RELA is outside the loaded bytes");
  image.file.prefetch(*at, std::min(*size, k_rela_soon));
  const std::uint64_t relative = image.header.machine == EM_AARCH64 ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE;
  auto inside = [&](std::uint64_t place) {
    return std::any_of(sections.begin(), sections.end(),
                       [&](const Section& s) { return place >= s.address && place - s.address < s.size; });
  };
  Window window(image.file);
  for (std::uint64_t i = 0; i < *size / sizeof(Elf64_Rela); ++i) {
    TRY(auto rela, window.at<Elf64_Rela>(*at + i * sizeof(Elf64_Rela)));
    if (ELF64_R_TYPE(rela.r_info) == relative && inside(rela.r_offset) && out.size() < 2 * k_wrappers_max)
      out[rela.r_offset] = static_cast<std::uint64_t>(rela.r_addend);
  }
  return out;
}

struct Wrapper {
  std::uint64_t number = 0, target = 0;
  std::optional<std::uint64_t> place; ///< of the target, in the file
};

// Those before the first that cannot be read.
Result<void> find_wrappers(const Image& image, const Section& section, const Targets& targets,
                           std::vector<Wrapper>& wrappers) {
  Window window(image.file);
  for (std::uint64_t i = 0; i < section.size / k_wrapper_bytes && wrappers.size() < k_wrappers_max; ++i) {
    auto at = section.offset + i * k_wrapper_bytes;
    TRY(auto magic, window.at<std::uint32_t>(at));
    if (magic != k_hip_magic) continue;
    TRY(auto in_place, window.at<std::uint64_t>(at + k_binary_at));
    auto found = targets.find(section.address + i * k_wrapper_bytes + k_binary_at);
    auto target = found == targets.end() ? in_place : found->second;
    wrappers.push_back({i, target, image.offset_of(target, k_head_bytes)});
  }
  return {};
}

Result<void> verify_wrappers(Subject& s, const std::vector<Section>& sections) {
  TRY(auto targets, relative_targets(s.image, sections));
  std::vector<Wrapper> wrappers;
  Result<void> all;
  for (const auto& section : sections)
    if (all) all = find_wrappers(s.image, section, targets, wrappers);
  // A hundred bundles lie far apart: one after the other, a disk would be waited for a hundred times.
  for (const auto& wrapper : wrappers)
    if (wrapper.place) s.image.file.prefetch(*wrapper.place, k_head_bytes);
  for (const auto& wrapper : wrappers) {
    auto bytes = wrapper.place ? s.image.read_bytes(*wrapper.place, k_head_bytes) : Result<std::string>(std::string());
    if (!bytes || !is_bundle(*bytes))
      s.error("E113", fmt::format("record {} of .hipFatBinSegment points at {:#x}, where no device code begins",
                                  wrapper.number, wrapper.target));
  }
  return all;
}

std::vector<Section> sections_of_wrappers(const Image& image, const std::vector<Section>& sections,
                                          const std::vector<std::string>& names) {
  std::vector<Section> out;
  for (std::size_t i = 0; i < sections.size(); ++i)
    if (names[i] == ".hipFatBinSegment" && sections[i].has_bytes() &&
        fits(sections[i].offset, sections[i].size, image.file.size()) &&
        fits(sections[i].address, sections[i].size, UINT64_MAX))
      out.push_back(sections[i]);
  return out;
}
} // namespace

void verify_fat_binary(Subject& s) {
  auto sections = sections_of_wrappers(s.image, s.sections, s.names);
  if (sections.size() > k_sections_of_wrappers_max)
    return s.error("E113", fmt::format("there are {} sections called .hipFatBinSegment, more than the {} that are read",
                                       sections.size(), k_sections_of_wrappers_max));
  if (sections.empty()) return;
  if (auto done = verify_wrappers(s, sections); !done) s.error("E113", done.error().message);
}

void prefetch_fat_binaries(const Image& image, const std::vector<Section>& sections,
                           const std::vector<std::string>& names) {
  auto wanted = sections_of_wrappers(image, sections, names);
  if (wanted.empty() || wanted.size() > k_sections_of_wrappers_max) return;
  auto targets = relative_targets(image, wanted);
  if (!targets) return;
  std::vector<Wrapper> wrappers;
  for (const auto& section : wanted) static_cast<void>(find_wrappers(image, section, *targets, wrappers));
  for (const auto& wrapper : wrappers)
    if (wrapper.place) image.file.prefetch(*wrapper.place, k_table_page);
}

} // namespace quarry::elf
