#include "gpu/thin_proof.hpp"

#include "elf/elf.hpp"
#include "elf/image.hpp"
#include "gpu/bundle.hpp"
#include "names/entry_names.hpp"
#include "pe/layout.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::gpu {

namespace {
Unexpected not_proven(std::string_view name, std::string_view what) {
  return fail(ErrorKind::internal, "G116", fmt::format("the thinned {} cannot be proven: {}", name, what),
              "nothing was written; report the file");
}

bool same_object(const CodeObject& a, const CodeObject& b) {
  return a.container == b.container && a.target == b.target && a.offset == b.offset && a.bytes == b.bytes &&
         a.elf_target == b.elf_target && a.label_agrees == b.label_agrees;
}

Result<void> prove_bytes(const Thinning& thinning, const Thinned& thinned, std::string_view name) {
  if (thinned.file.size() + thinning.shorter != thinning.file.size()) return not_proven(name, "its size changed");
  std::uint64_t at = 0;
  for (const auto& change : thinning.changes) {
    if (change.begin < at || !content::same_piece({thinning.file, at}, {thinned.file, at}, change.begin - at))
      return not_proven(name, fmt::format("bytes changed before {:#x}", change.begin));
    at = change.end;
  }
  if (!content::same_piece({thinning.file, at}, {thinned.file, at}, thinning.file.size() - at))
    return not_proven(name, fmt::format("bytes changed behind {:#x}", at));
  return {};
}

Result<void> prove_contents(const Thinning& thinning, const Thinned& thinned, std::string_view name) {
  std::vector<CodeObject> expected;
  for (const auto& object : thinned.before.objects)
    if (!thinning.removed.contains({object.offset, object.target.str()})) expected.push_back(object);
  const auto& after = thinned.after;
  if (has_errors(after.findings)) return not_proven(name, after.findings.front().message);
  if (after.containers != thinned.before.containers || !std::ranges::equal(expected, after.objects, same_object))
    return not_proven(name, "reading it back gives other code objects than those that were kept");
  return {};
}
} // namespace

Result<void> check_sections(const content::Rope& file, std::string_view name, const std::vector<Change>& changes) {
  TRY(auto image, elf::Image::read(file, name));
  TRY(auto sections, image.read_sections());
  TRY(auto names_of_sections, elf::section_names(image, sections));
  auto check = [&](std::uint64_t begin, std::uint64_t size, std::string_view what) -> Result<void> {
    auto next = std::ranges::partition_point(changes, [&](const Change& change) { return change.end <= begin; });
    if (size == 0 || begin >= file.size() || next == changes.end() ||
        next->begin >= begin + std::min(size, file.size()))
      return {};
    return damaged(fmt::format("the code at {:#x} stands in {}, too", next->begin, names::printable(what)));
  };
  const auto& header = image.header;
  TRY_DO(check(0, k_elf_head_bytes, "the header"));
  TRY_DO(check(header.segments_at, std::uint64_t{header.segment_count} * header.segment_size, "the program headers"));
  TRY_DO(check(header.sections_at, std::uint64_t{header.section_count} * header.section_size, "the section headers"));
  for (std::size_t i = 0; i < sections.size(); ++i)
    if (sections[i].has_bytes() && names_of_sections[i] != ".hip_fatbin")
      TRY_DO(check(sections[i].offset, sections[i].size, "section " + names_of_sections[i]));
  return {};
}

Result<void> prepare_windows(Thinning& thinning, std::string_view name) {
  auto drop = [&](std::string reason) {
    thinning.changes.clear();
    thinning.removed.clear();
    thinning.left.push_back(std::move(reason));
  };
  auto layout = pe::read_layout(thinning.file, name);
  if (!layout && layout.error().kind != ErrorKind::corrupt) return fail(std::move(layout).error());
  if (!layout) {
    drop(layout.error().message);
    return {};
  }
  if (layout->is_signed) {
    drop("it is signed: without the code, the signature would not fit");
    return {};
  }
  auto is_inside = [&](const Change& change) {
    return std::ranges::any_of(layout->sections, [&](const pe::SectionPlace& section) {
      bool code = section.name == ".hip_fat";
      return code && change.begin >= section.begin && change.end <= section.begin + section.size;
    });
  };
  auto is_shared = [&](const Change& change) {
    bool other = std::ranges::any_of(layout->sections, [&](const pe::SectionPlace& section) {
      return section.name != ".hip_fat" && change.begin < section.begin + section.size && section.begin < change.end;
    });
    return other || change.begin < layout->headers_size;
  };
  if (!std::ranges::all_of(thinning.changes, is_inside) || std::ranges::any_of(thinning.changes, is_shared))
    drop("its code stands in its headers or in another section, too");
  return {};
}

Result<content::Rope> with_new_checksum(Thinning& thinning, const content::Rope& changed) {
  TRY(auto layout, pe::read_layout(thinning.file, "the file"));
  if (layout.checksum == 0) return changed;
  TRY(auto right, pe::checksum_of(thinning.file, layout.checksum_at));
  if (right != layout.checksum) return changed; // nothing has looked at it so far
  TRY(auto sum, pe::checksum_of(changed, layout.checksum_at));
  std::string bytes;
  for (unsigned i = 0; i < 4; ++i) bytes.push_back(static_cast<char>(sum >> (8 * i) & 0xFF));
  Change field{layout.checksum_at, layout.checksum_at + 4, content::Rope::literal(bytes)};
  thinning.changes.insert(thinning.changes.begin(), std::move(field)); // headers come first
  return changed.overlay(layout.checksum_at, std::move(bytes));
}

Result<void> prove_thinned(const Thinning& thinning, const Thinned& thinned, std::string_view name) {
  TRY_DO(prove_bytes(thinning, thinned, name));
  return prove_contents(thinning, thinned, name);
}

Result<void> prove_elf(const Thinning& thinning, const Thinned& thinned, std::string_view name) {
  std::set<std::pair<std::string, std::string>> known;
  for (const auto& finding : elf::verify(thinning.file, name)) known.emplace(finding.code, finding.message);
  for (const auto& finding : elf::verify(thinned.file, name))
    if (!known.contains({finding.code, finding.message}))
      return fail(ErrorKind::unsupported, "G116",
                  fmt::format("{} cannot be thinned: afterwards, {} ({})", name, finding.message, finding.code),
                  "its headers contradict each other; build the file again, or keep it as it is");
  return {};
}

} // namespace quarry::gpu
