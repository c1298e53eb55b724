#include "elf/place.hpp"

#include "elf/growth.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::elf {

namespace {
std::vector<Dynamic> resolved(const Intent& intent, const StringPlaces& places) {
  auto entries = intent.entries;
  for (std::size_t i = 0; i < intent.strings.size(); ++i)
    for (auto index : intent.strings[i].entries) entries[index].value = places.offsets[i];
  return entries;
}

// The version table stands before every place where bytes are inserted, so its offsets are the same in the new file.
void overlay_version_names(Layout& layout, const Intent& intent, const StringPlaces& places) {
  for (std::size_t i = 0; i < intent.strings.size(); ++i)
    for (auto at : intent.strings[i].version_fields)
      layout.overlays.push_back({at, encode_value(static_cast<std::uint32_t>(places.offsets[i]))});
}

// Entries in the room of the old section; the rest of the room becomes DT_NULL.
std::string padded(std::vector<Dynamic> entries, std::size_t capacity) {
  entries.resize(capacity);
  return encode(entries);
}

Layout in_place(const Image& image, std::vector<Dynamic> entries, const StringPlaces& places) {
  Layout layout;
  layout.strategy = "S0";
  layout.insert_at = image.file.size();
  if (entries != image.dynamic)
    layout.overlays.push_back({image.dynamic_segment->offset, padded(std::move(entries), image.dynamic_capacity)});
  auto table = *image.offset_of(*image.value(DT_STRTAB), *image.value(DT_STRSZ));
  for (const auto& o : places.overwrites) layout.overlays.push_back({table + o.offset, o.bytes});
  return layout;
}
} // namespace

Result<Layout> place(const Image& image, const std::vector<Section>& sections, const std::vector<std::string>& names,
                     const Intent& intent) {
  TRY(auto places, place_strings(image, intent, sections));
  auto entries = resolved(intent, places);
  bool entries_fit = entries.size() < image.dynamic_capacity; // one DT_NULL must stay
  Layout layout;
  if (entries_fit && places.appended.empty()) {
    layout = in_place(image, std::move(entries), places);
  } else {
    Need need{std::move(entries), std::move(places.appended), intent.new_segment, !entries_fit};
    for (const auto& o : places.overwrites) need.overwrites.push_back({o.offset, o.bytes});
    TRY(layout, grow(image, sections, names, need));
  }
  overlay_version_names(layout, intent, places);
  return layout;
}

} // namespace quarry::elf
