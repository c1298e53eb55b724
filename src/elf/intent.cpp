#include "elf/intent.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <cstring>
#include <fmt/core.h>
#include <set>

namespace quarry::elf {

namespace {
constexpr std::uint64_t k_reuse_max = 64u
                                      << 20; // larger string tables are not searched, only copied; libLLVM has 3.2 MB

Result<void> check_value(std::string_view what, const std::string& value, bool may_be_empty) {
  auto bad = [&](std::string_view why) {
    return fail(ErrorKind::invalid_argument, "E015", fmt::format("the {} {}", what, why));
  };
  if (value.empty() && !may_be_empty) return bad("is empty");
  if (value.find('\0') != value.npos) return bad("holds a NUL byte");
  if (value.size() >= k_string_max)
    return bad(fmt::format("has {} bytes, more than {}", value.size(), k_string_max - 1));
  return {};
}

struct Maker {
  const Image& image;
  Intent intent;

  Intent::NewString& string(const std::string& text) {
    for (auto& s : intent.strings)
      if (s.text == text) return s;
    return intent.strings.emplace_back(Intent::NewString{text, {}, {}});
  }

  Result<void> set(std::size_t index, const std::string& text) {
    auto& entry = intent.entries[index];
    TRY(auto now, image.string_at(entry.value));
    if (now == text) return {};
    intent.freed.push_back(std::exchange(entry.value, 0));
    string(text).entries.push_back(index);
    return {};
  }

  void add(std::int64_t tag, const std::string& text) {
    intent.entries.push_back({tag, 0});
    string(text).entries.push_back(intent.entries.size() - 1);
  }

  // One run path stays: an entry that already holds the text, else the first; the loader ignores DT_RPATH beside
  // DT_RUNPATH.
  Result<void> run_path(const std::string& text, std::int64_t tag) {
    auto is_path = [](const Dynamic& d) { return d.tag == DT_RPATH || d.tag == DT_RUNPATH; };
    std::optional<std::size_t> kept;
    for (std::size_t i = 0; i < intent.entries.size(); ++i) {
      if (!is_path(intent.entries[i])) continue;
      TRY(auto now, image.string_at(intent.entries[i].value));
      if (!kept || now == text) kept = i;
    }
    if (!kept && !text.empty()) return add(tag, text), Result<void>{};
    std::vector<Dynamic> left;
    std::optional<std::size_t> index;
    for (std::size_t i = 0; i < intent.entries.size(); ++i) {
      if (!is_path(intent.entries[i]))
        left.push_back(intent.entries[i]);
      else if (i == *kept && !text.empty())
        index = left.size(), left.push_back({tag, intent.entries[i].value});
      else
        intent.freed.push_back(intent.entries[i].value);
    }
    intent.entries = std::move(left);
    return index ? set(*index, text) : Result<void>{};
  }

  Result<void> soname(const std::string& text) {
    for (std::size_t i = 0; i < intent.entries.size(); ++i)
      if (intent.entries[i].tag == DT_SONAME) return set(i, text);
    add(DT_SONAME, text);
    return {};
  }

  Result<void> needed(const std::vector<std::pair<std::string, std::string>>& pairs) {
    std::vector<char> used(pairs.size());
    auto replacement = [&](const std::string& name) -> const std::string* {
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (name == pairs[i].second) used[i] = 1; // done by an earlier edit
        if (name == pairs[i].first) return used[i] = 1, &pairs[i].second;
      }
      return nullptr;
    };
    for (std::size_t i = 0; i < intent.entries.size(); ++i) {
      if (intent.entries[i].tag != DT_NEEDED) continue;
      TRY(auto name, image.string_at(intent.entries[i].value));
      if (const auto* text = replacement(name)) TRY_DO(set(i, *text));
    }
    for (std::size_t i = 0; i < pairs.size(); ++i)
      if (!used[i])
        return fail(ErrorKind::not_found, "E016", fmt::format("{} does not need {}", image.name, pairs[i].first),
                    "`quarry elf show` lists what it needs");
    // The loader looks up the files of the version table by name among the needed ones: both must say the same.
    TRY(auto versions, read_version_needs(image));
    for (const auto& v : versions) {
      TRY(auto name, image.string_at(v.name));
      if (const auto* text = replacement(name); text && *text != name)
        string(*text).version_fields.push_back(v.field_at);
    }
    return {};
  }
};
} // namespace

Result<Intent> make_intent(const Image& image, const Edit& edit) {
  Maker maker{image, {}};
  maker.intent.entries = image.dynamic;
  maker.intent.new_segment = edit.new_segment;
  // First, because it may drop entries and so renumber those behind them.
  if (edit.rpath) {
    TRY_DO(check_value("run path", *edit.rpath, true));
    TRY_DO(maker.run_path(*edit.rpath, edit.as_runpath ? DT_RUNPATH : DT_RPATH));
  }
  if (edit.soname) {
    TRY_DO(check_value("SONAME", *edit.soname, false));
    TRY_DO(maker.soname(*edit.soname));
  }
  for (const auto& [from, to] : edit.replace_needed) TRY_DO(check_value("replacement of " + from, to, false));
  if (!edit.replace_needed.empty()) TRY_DO(maker.needed(edit.replace_needed));
  return std::move(maker.intent);
}

namespace {
struct Table {
  std::string bytes;
  bool known = false; ///< false: too large to search
};

Result<Table> read_table(const Image& image) {
  auto address = image.value(DT_STRTAB), size = image.value(DT_STRSZ);
  auto place = address && size && *size ? image.offset_of(*address, *size) : std::nullopt;
  if (!place) return image.corrupt("its dynamic string table is outside the loaded bytes");
  if (*size > k_reuse_max) return Table{};
  TRY(auto bytes, image.read_bytes(*place, *size));
  if (bytes.back() != '\0') return image.corrupt("its dynamic string table does not end with a NUL byte");
  return Table{std::move(bytes), true};
}

// Every string offset that stays in use: entries, versions, symbols. nullopt if the number of symbols is not known: any
// of them could name any string.
Result<std::optional<std::vector<std::uint64_t>>> references(const Image& image, const Intent& intent,
                                                             const std::vector<Section>& sections) {
  std::vector<std::uint64_t> out;
  for (const auto& d : intent.entries)
    for (auto tag :
         {DT_NEEDED, DT_SONAME, DT_RPATH, DT_RUNPATH, DT_AUXILIARY, DT_FILTER, 0x6ffffefa, 0x6ffffefb, 0x6ffffefc})
      if (d.tag == tag && d.value) out.push_back(d.value);
  std::set<std::uint64_t> renamed;
  for (const auto& s : intent.strings) renamed.insert(s.version_fields.begin(), s.version_fields.end());
  TRY(auto needs, read_version_needs(image));
  for (const auto& need : needs) out.insert(out.end(), need.versions.begin(), need.versions.end());
  for (const auto& need : needs)
    if (!renamed.contains(need.field_at)) out.push_back(need.name);
  TRY(auto defined, read_version_definition_names(image));
  TRY(auto symbol, count_dynamic_symbols(image, sections));
  if (!symbol.exact) return std::nullopt;
  TRY(auto symbols, read_symbol_names(image, symbol.count));
  out.insert(out.end(), defined.begin(), defined.end());
  out.insert(out.end(), symbols.begin(), symbols.end());
  return std::optional(std::move(out));
}

// The space of an old string may be reused if it is not the tail of a longer one and nothing else points into it.
bool is_free(const std::string& table, std::uint64_t begin, std::uint64_t end, const std::vector<std::uint64_t>& used) {
  if (begin == 0 || table[begin - 1] != '\0') return false;
  return std::none_of(used.begin(), used.end(), [&](std::uint64_t r) { return r >= begin && r <= end; });
}

std::optional<std::uint64_t> find_equal(const std::string& table, const std::string& text) {
  const void* hit =
      ::memmem(table.data(), table.size(), text.c_str(), text.size() + 1); // string::find takes 10 times as long
  if (!hit) return std::nullopt;
  return static_cast<std::uint64_t>(static_cast<const char*>(hit) - table.data());
}

Result<bool> place_in_freed(const Image& image, const Intent& intent, const std::vector<Section>& sections,
                            const std::string& table, StringPlaces& places) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> rooms; // begin, end (the NUL)
  std::optional<std::vector<std::uint64_t>> used;
  auto freed = intent.freed;
  std::sort(freed.begin(), freed.end());
  freed.erase(std::unique(freed.begin(), freed.end()), freed.end());
  for (std::size_t i = 0; i < intent.strings.size(); ++i) {
    const auto& text = intent.strings[i].text;
    if (places.offsets[i]) continue;
    if (!used) {
      TRY(used, references(image, intent, sections));
      if (!used) return false;
      for (std::size_t k = 0; k < intent.strings.size(); ++k)
        if (places.offsets[k]) used->push_back(places.offsets[k]);
    }
    auto room = std::find_if(freed.begin(), freed.end(), [&](std::uint64_t begin) {
      if (begin >= table.size()) return false;
      auto end = table.find('\0', begin);
      return end - begin >= text.size() && is_free(table, begin, end, *used);
    });
    if (room == freed.end()) return false;
    auto end = table.find('\0', *room);
    places.offsets[i] = *room;
    places.overwrites.push_back({*room, text + std::string(end - *room - text.size(), '\0')});
    freed.erase(room);
  }
  return true;
}
} // namespace

Result<StringPlaces> place_strings(const Image& image, const Intent& intent, const std::vector<Section>& sections) {
  StringPlaces places;
  places.offsets.resize(intent.strings.size());
  if (intent.strings.empty()) return places;
  TRY(auto table, read_table(image));
  auto size = *image.value(DT_STRSZ);
  if (table.known) {
    for (std::size_t i = 0; i < intent.strings.size(); ++i)
      places.offsets[i] = find_equal(table.bytes, intent.strings[i].text).value_or(0);
    TRY(bool all, place_in_freed(image, intent, sections, table.bytes, places));
    if (all) return places;
    for (const auto& o : places.overwrites) // the table moves anyway: leave its old bytes alone
      for (auto& offset : places.offsets)
        if (offset == o.offset) offset = 0;
    places.overwrites.clear();
  }
  for (std::size_t i = 0; i < intent.strings.size(); ++i) {
    if (places.offsets[i]) continue;
    places.offsets[i] = size + places.appended.size();
    places.appended += intent.strings[i].text + '\0';
  }
  return places;
}

} // namespace quarry::elf
