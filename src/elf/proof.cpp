#include "elf/proof.hpp"

#include "base/zeros.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::elf {

namespace {
// E099 can be the file's doing (headers that contradict each other in a way that only the edited view shows); E114
// never is.
Unexpected broken(const Image& original, std::string_view what, std::string_view code = "E099") {
  return fail(code == "E099" ? ErrorKind::unsupported : ErrorKind::internal, std::string(code),
              fmt::format("the edit of {} cannot be proven: {}", original.name, what),
              "nothing was changed; build the file again, or package it unchanged");
}

Result<void> prove_rules(const Image& original, const content::Rope& edited) {
  auto first_error = [](const Findings& findings) {
    return std::find_if(findings.begin(), findings.end(),
                        [](const Finding& f) { return f.severity == Severity::error; });
  };
  auto after = verify(edited, original.name);
  auto found = first_error(after);
  if (found == after.end()) return {};
  auto before = verify(original.file, original.name);
  auto old = first_error(before);
  if (old == before.end()) return broken(original, fmt::format("{} ({})", found->message, found->code));
  return fail(
      ErrorKind::unsupported, "E012",
      fmt::format("{} cannot be edited, it is not sound as it is: {} ({})", original.name, old->message, old->code),
      "`quarry explain " + old->code + "` tells what that means; build the file again");
}

// E14, the file: outside the planned ranges, every byte is literally a byte of the original at its expected place.
Result<void> prove_bytes(const Image& original, const Layout& layout, const content::Rope& edited) {
  auto inserted = layout.inserted.size();
  if (edited.size() != original.file.size() + inserted)
    return broken(original, "its size is not the planned one", "E114");
  std::vector<std::pair<std::uint64_t, std::uint64_t>> planned{{layout.insert_at, layout.insert_at + inserted}};
  for (const auto& o : layout.overlays) planned.emplace_back(o.offset, o.offset + o.bytes.size());
  planned.emplace_back(edited.size(), edited.size());
  std::sort(planned.begin(), planned.end());
  std::uint64_t at = 0;
  for (auto [begin, end] : planned) {
    if (begin > at) {
      auto shift = at >= layout.insert_at + inserted ? inserted : 0;
      if (!content::same_piece({original.file, at - shift}, {edited, at}, begin - at))
        return broken(original, fmt::format("bytes from {:#x} changed", at), "E114");
    }
    at = std::max(at, end);
  }
  for (const auto& c : layout.copies)
    if (!content::same_piece({original.file, c.old_offset}, {edited, c.new_offset}, c.size))
      return broken(original, fmt::format("the copy of {:#x} differs", c.old_offset), "E114");
  return {};
}

// E14, memory: every segment is still mapped at its address with its rights; only the last may have grown.
Result<void> prove_segments(const Image& original, const Image& edited) {
  const auto &a = original.header, &b = edited.header;
  if (a.type != b.type || a.machine != b.machine || a.entry != b.entry || a.section_count != b.section_count ||
      a.names_index != b.names_index)
    return broken(original, "the ELF header changed");
  if (edited.segments.size() < original.segments.size() || edited.segments.size() > original.segments.size() + 1)
    return broken(original, "segments were lost");
  for (std::size_t i = 0; i < original.segments.size(); ++i) {
    const auto &x = original.segments[i], &y = edited.segments[i];
    bool same = x.type == y.type && x.flags == y.flags && x.align == y.align;
    if (x.type == PT_LOAD)
      same = same && x.offset == y.offset && x.address == y.address && y.file_size >= x.file_size &&
             y.memory_size >= x.memory_size;
    if (!same) return broken(original, fmt::format("segment {} changed", i));
  }
  return {};
}

// Entries other than those that an edit may touch stay what they were, in their order.
Result<void> prove_entries(const Image& original, const Image& edited) {
  auto kept = [](const Image& image) {
    std::vector<Dynamic> out;
    for (auto d : image.dynamic) {
      if (d.tag == DT_RPATH || d.tag == DT_RUNPATH || d.tag == DT_SONAME || d.tag == DT_NEEDED) continue;
      if (d.tag == DT_STRTAB || d.tag == DT_STRSZ || d.tag == DT_HASH || d.tag == DT_GNU_HASH || d.tag == DT_SYMTAB)
        d.value = 0;
      out.push_back(d);
    }
    return out;
  };
  if (kept(original) != kept(edited)) return broken(original, "dynamic entries changed that nobody asked to change");
  return {};
}

Result<void> prove_facts(const Image& original, const Edit& edit, const content::Rope& edited) {
  TRY(auto before, read_facts(original.file, original.name));
  TRY(auto after, read_facts(edited, original.name));
  auto expected = before;
  if (edit.rpath) {
    expected.rpath.reset();
    expected.runpath.reset();
    if (!edit.rpath->empty()) (edit.as_runpath ? expected.runpath : expected.rpath) = *edit.rpath;
  }
  if (edit.soname) expected.soname = *edit.soname;
  for (auto& name : expected.needed)
    for (const auto& [from, to] : edit.replace_needed)
      if (name == from) {
        name = to;
        break;
      }
  bool same = expected.soname == after.soname && expected.rpath == after.rpath && expected.runpath == after.runpath &&
              expected.needed == after.needed && expected.interpreter == after.interpreter &&
              expected.pie_flag == after.pie_flag;
  if (!same) return broken(original, "reading it back gives other values than asked for");
  return {};
}
} // namespace

namespace {
struct Piece {
  std::uint64_t begin = 0, end = 0;
};

// What the headers describe behind `from`, in the order of the file.
std::vector<Piece> described(const Image& image, const std::vector<Section>& sections, std::uint64_t from) {
  std::vector<Piece> out;
  auto add = [&](std::uint64_t offset, std::uint64_t size) {
    if (size && fits(offset, size, image.file.size()) && offset + size > from) out.push_back({offset, offset + size});
  };
  for (std::size_t i = 1; i < sections.size(); ++i)
    if (sections[i].has_bytes()) add(sections[i].offset, sections[i].size);
  const auto& h = image.header;
  if (!sections.empty()) add(h.sections_at, std::uint64_t{h.section_count} * h.section_size);
  std::sort(out.begin(), out.end(), [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
  return out;
}

// Linkers align what is not loaded to a page at most, and each earlier edit of ours left less than that.
constexpr std::uint64_t k_padding_max = 4096;

Result<bool> is_padding(const Image& image, std::uint64_t begin, std::uint64_t end) {
  if (end - begin > k_padding_max) return false;
  TRY(auto bytes, image.read_bytes(begin, end - begin));
  return zeros::all_zero(bytes);
}
} // namespace

Result<void> prove_tail(const Image& original, const std::vector<Section>& sections, std::uint64_t insert_at) {
  auto pieces = described(original, sections, insert_at);
  pieces.push_back({original.file.size(), original.file.size()});
  auto at = insert_at;
  for (const auto& piece : pieces) {
    if (piece.begin > at) {
      TRY(bool padding, is_padding(original, at, piece.begin));
      if (!padding)
        return fail(ErrorKind::unsupported, "E040",
                    fmt::format("{} has {} bytes at {:#x} that no section describes, and the edit would move them",
                                original.name, piece.begin - at, at),
                    "link the program with a run path that is long enough, or append the payload as a section: objcopy "
                    "--add-section");
    }
    at = std::max(at, piece.end);
  }
  return {};
}

Result<void> prove(const Image& original, const Edit& edit, const Layout& layout, const content::Rope& edited) {
  TRY_DO(prove_rules(original, edited));
  TRY_DO(prove_bytes(original, layout, edited));
  TRY(auto image, Image::read(edited, original.name));
  TRY_DO(prove_segments(original, image));
  TRY_DO(prove_entries(original, image));
  return prove_facts(original, edit, edited);
}

} // namespace quarry::elf
