// E13: the registration records that HIP programs carry in .hipFatBinSegment must still point at a bundle of device
// code.
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
constexpr std::size_t k_wrappers_max = 1u << 16; // librocsparse has 111
constexpr std::uint64_t k_head_bytes = 32;       // of what they point at: the longest magic has 24

bool is_bundle(std::string_view bytes) {
  // Bundle, compressed bundle, plain ELF code object.
  return bytes.starts_with("__CLANG_OFFLOAD_BUNDLE__") || bytes.starts_with("CCOB") || bytes.starts_with(ELFMAG);
}

// RELATIVE relocations whose place lies inside [begin, end): place -> addend.
Result<std::map<std::uint64_t, std::uint64_t>> relative_targets(const Image& image, std::uint64_t begin,
                                                                std::uint64_t end) {
  std::map<std::uint64_t, std::uint64_t> out;
  auto address = image.value(DT_RELA), size = image.value(DT_RELASZ);
  if (!address || !size) return out;
  auto at = image.offset_of(*address, *size);
  if (!at) return image.corrupt("DT_RELA is outside the loaded bytes");
  const std::uint64_t relative = image.header.machine == EM_AARCH64 ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE;
  Window window(image.file);
  for (std::uint64_t i = 0; i < *size / sizeof(Elf64_Rela); ++i) {
    TRY(auto rela, window.at<Elf64_Rela>(*at + i * sizeof(Elf64_Rela)));
    if (rela.r_offset >= begin && rela.r_offset < end && ELF64_R_TYPE(rela.r_info) == relative &&
        out.size() < 2 * k_wrappers_max)
      out[rela.r_offset] = static_cast<std::uint64_t>(rela.r_addend);
  }
  return out;
}

struct Wrapper {
  std::uint64_t number = 0, target = 0;
  std::optional<std::uint64_t> place; ///< of the target, in the file
};

// Those before the first that cannot be read.
Result<void> find_wrappers(const Image& image, const Section& section, std::vector<Wrapper>& wrappers) {
  TRY(auto targets, relative_targets(image, section.address, section.address + section.size));
  Window window(image.file);
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(section.size / k_wrapper_bytes, k_wrappers_max); ++i) {
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

Result<void> verify_wrappers(Subject& s, const Section& section) {
  std::vector<Wrapper> wrappers;
  auto all = find_wrappers(s.image, section, wrappers);
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
} // namespace

void verify_fat_binary(Subject& s) {
  for (std::size_t i = 0; i < s.sections.size(); ++i)
    if (s.names[i] == ".hipFatBinSegment" && s.sections[i].has_bytes() &&
        fits(s.sections[i].offset, s.sections[i].size, s.image.file.size()) &&
        fits(s.sections[i].address, s.sections[i].size, UINT64_MAX))
      if (auto done = verify_wrappers(s, s.sections[i]); !done) s.error("E113", done.error().message);
}

} // namespace quarry::elf
