#include "elf/elf.hpp"
#include "elf/intent.hpp"
#include "elf/place.hpp"
#include "elf/proof.hpp"

#include <fmt/core.h>

namespace quarry::elf {

namespace {
constexpr std::int64_t k_prelink_tags[] = {0x6ffffdf5 /* GNU_PRELINKED */, 0x6ffffef8 /* GNU_CONFLICT */,
                                           0x6ffffef9 /* GNU_LIBLIST */};

Result<void> check_kind(const Image& image) {
  const auto& h = image.header;
  auto refuse = [&](std::string_view code, std::string why) {
    return fail(ErrorKind::unsupported, std::string(code), fmt::format("{} {}", image.name, why));
  };
  if (!h.is_64) return refuse("E011", "is a 32-bit ELF file: only 64-bit ones are edited");
  if (h.machine != EM_X86_64 && h.machine != EM_AARCH64)
    return refuse("E011", fmt::format("is for machine {}: only x86-64 and aarch64 are edited", h.machine));
  if (h.type != ET_EXEC && h.type != ET_DYN) return refuse("E010", "is neither a program nor a shared library");
  if (!image.dynamic_segment)
    return refuse("E010",
                  "has no dynamic section: it is statically linked, or only the debug information of another file");
  if (image.dynamic_segment->file_size != image.dynamic_capacity * sizeof(Elf64_Dyn))
    return refuse("E012", "has a dynamic section of an odd size");
  for (auto tag : k_prelink_tags)
    if (image.value(tag))
      return refuse("E013", "is prelinked: its addresses are recorded elsewhere, undo that first (prelink -u)");
  return {};
}

content::Rope apply(const content::Rope& file, const Layout& layout) {
  auto out = file.slice(0, layout.insert_at);
  out.append(layout.inserted);
  out.append(file.slice(layout.insert_at, file.size() - layout.insert_at));
  for (const auto& o : layout.overlays) out = out.overlay(o.offset, o.bytes);
  return out;
}

std::uint64_t literal_bytes(const Layout& layout) {
  std::uint64_t count = layout.inserted.size();
  for (const auto& c : layout.copies) count -= c.size;
  for (const auto& o : layout.overlays)
    if (o.offset < layout.insert_at || o.offset >= layout.insert_at + layout.inserted.size()) count += o.bytes.size();
  return count;
}
} // namespace

Result<Edited> edit(const content::Rope& file, const Edit& edit, std::string_view name) {
  if (edit.empty()) return Edited{file, "none", 0};
  TRY(auto image, Image::read(file, name));
  TRY_DO(check_kind(image));
  TRY(auto intent, make_intent(image, edit));
  if (intent.entries == image.dynamic && intent.strings.empty()) return Edited{file, "none", 0};
  TRY(auto sections, image.read_sections());
  TRY(auto names, section_names(image, sections));
  TRY(auto layout, place(image, sections, names, intent));
  if (!layout.inserted.empty()) TRY_DO(prove_tail(image, sections, layout.insert_at));
  auto edited = apply(file, layout);
  TRY_DO(prove(image, edit, layout, edited));
  return Edited{std::move(edited), layout.strategy, literal_bytes(layout)};
}

} // namespace quarry::elf
