// E15: bytes that no header describes. The loader and `strip` do not see them: `strip` removes them, and whoever finds
// them by their place in the file (a payload, a signature) reads other bytes after an edit.
#include "elf/verify.hpp"

#include "base/zeros.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::elf {

namespace {
constexpr std::uint64_t k_page_of_loader = 4096;
constexpr std::uint64_t k_alignment_gap = 16;   // bytes; less lies before each table, and is not worth a read
constexpr std::uint64_t k_zeros_max = 2u << 20; // of padding: the largest page that linkers align segments to
constexpr std::size_t k_gap_piece = 64u << 10;  // bytes that are read at once

struct Described {
  std::uint64_t begin = 0, end = 0;
};

void add_range(std::vector<Described>& ranges, const Image& image, std::uint64_t offset, std::uint64_t size) {
  if (size && fits(offset, size, image.file.size())) ranges.push_back({offset, offset + size});
}

// The kernel maps whole pages, so that what stands between two segments of one page is loaded, too.
void add_segments(std::vector<Described>& ranges, const Subject& s) {
  for (const auto& segment : s.image.segments) add_range(ranges, s.image, segment.offset, segment.file_size);
  for (std::size_t i = 0; i + 1 < s.loads.size(); ++i) {
    const auto &load = s.loads[i], &next = s.loads[i + 1];
    auto end = load.file_end() % k_page_of_loader;
    if (load.file_size && end && next.offset > load.file_end())
      add_range(ranges, s.image, load.file_end(), std::min(k_page_of_loader - end, next.offset - load.file_end()));
    auto begin = next.offset % k_page_of_loader;
    if (next.file_size && begin) add_range(ranges, s.image, next.offset - begin, begin);
  }
}

std::vector<Described> described_ranges(const Subject& s, bool mapped) {
  const auto& h = s.image.header;
  std::vector<Described> ranges;
  add_range(ranges, s.image, 0, h.is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr));
  add_range(ranges, s.image, h.segments_at, std::uint64_t{h.segment_count} * h.segment_size);
  if (!s.sections.empty()) add_range(ranges, s.image, h.sections_at, std::uint64_t{h.section_count} * h.section_size);
  for (std::size_t i = 1; i < s.sections.size(); ++i)
    if (s.sections[i].has_bytes()) add_range(ranges, s.image, s.sections[i].offset, s.sections[i].size);
  if (mapped) add_segments(ranges, s);
  std::ranges::sort(ranges, {}, &Described::begin);
  return ranges;
}

// A part of the file that cannot be read here (Sketch) says so to its owner, who reads the whole file then.
bool is_only_zeros(const Image& image, Described gap) {
  if (gap.end - gap.begin > k_zeros_max) return false;
  for (auto at = gap.begin; at < gap.end; at += k_gap_piece) {
    auto bytes = image.read_bytes(at, std::min<std::uint64_t>(k_gap_piece, gap.end - at));
    if (!bytes || !zeros::all_zero(*bytes)) return false;
  }
  return true;
}
} // namespace

void verify_gaps(Subject& s, bool mapped) {
  auto ranges = described_ranges(s, mapped);
  ranges.push_back({s.image.file.size(), s.image.file.size()});
  std::uint64_t at = 0;
  for (const auto& range : ranges) {
    bool wide = range.begin > at && range.begin - at >= k_alignment_gap;
    bool last = range.begin == s.image.file.size(); // an appended byte is never padding of a table
    if ((wide || (last && range.begin > at)) && s.findings.size() < k_findings_max &&
        !is_only_zeros(s.image, {at, range.begin}))
      s.add("E115", Severity::note, fmt::format("{} bytes at {:#x} that no header describes", range.begin - at, at));
    at = std::max(at, range.end);
  }
}

} // namespace quarry::elf
