// E6-E9: what the dynamic loader follows.
#include "elf/tables.hpp"
#include "elf/verify.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::elf {

namespace {
void verify_dynamic_place(Subject& s) {
  const auto& d = *s.image.dynamic_segment;
  auto holder = std::find_if(s.loads.begin(), s.loads.end(), [&](const Segment& l) {
    return d.offset >= l.offset && fits(d.offset - l.offset, d.file_size, l.file_size);
  });
  if (holder == s.loads.end())
    s.error("E106", "PT_DYNAMIC is not inside a PT_LOAD");
  else if (!(holder->flags & PF_W))
    s.error("E106", "PT_DYNAMIC is in a segment that is not writable: glibc before 2.35 relocates it in place");
  for (const auto& section : s.sections)
    if (section.type == SHT_DYNAMIC &&
        (section.address != d.address || section.offset != d.offset || section.size > d.memory_size))
      s.error("E106", "the section .dynamic and PT_DYNAMIC describe different places");
}

struct DynamicTable {
  std::int64_t address, size;
  std::string_view name;
};
constexpr DynamicTable k_tables[] = {
    {DT_STRTAB, DT_STRSZ, "DT_STRTAB"},
    {DT_RELA, DT_RELASZ, "DT_RELA"},
    {DT_REL, DT_RELSZ, "DT_REL"},
    {36 /* DT_RELR */, 35 /* DT_RELRSZ */, "DT_RELR"},
    {DT_JMPREL, DT_PLTRELSZ, "DT_JMPREL"},
    {DT_INIT_ARRAY, DT_INIT_ARRAYSZ, "DT_INIT_ARRAY"},
    {DT_FINI_ARRAY, DT_FINI_ARRAYSZ, "DT_FINI_ARRAY"},
    {DT_PREINIT_ARRAY, DT_PREINIT_ARRAYSZ, "DT_PREINIT_ARRAY"},
};

void verify_range(Subject& s, std::string_view name, std::uint64_t address, std::uint64_t size) {
  if (size && !s.image.offset_of(address, size))
    s.error("E107",
            fmt::format("{} names {} bytes at {:#x}, which no segment maps from the file", name, size, address));
}

struct EntrySize {
  std::int64_t tag;
  std::uint64_t size;
  std::string_view name;
};
constexpr EntrySize k_entry_sizes[] = {{DT_RELAENT, sizeof(Elf64_Rela), "DT_RELAENT"},
                                       {DT_RELENT, sizeof(Elf64_Rel), "DT_RELENT"},
                                       {37, 8, "DT_RELRENT"},
                                       {DT_SYMENT, sizeof(Elf64_Sym), "DT_SYMENT"}};

/// The loader of glibc compares them and stops with an assertion.
void verify_entry_sizes(Subject& s) {
  for (const auto& entry : k_entry_sizes)
    if (auto size = s.image.value(entry.tag); size && *size != entry.size)
      s.error("E107", fmt::format("{} is {}, an entry has {} bytes", entry.name, *size, entry.size));
  if (auto kind = s.image.value(DT_PLTREL); kind && *kind != DT_RELA && *kind != DT_REL)
    s.error("E107", fmt::format("DT_PLTREL is {}, neither DT_RELA nor DT_REL", *kind));
}

void verify_tables(Subject& s, std::uint64_t symbols) {
  verify_entry_sizes(s);
  for (const auto& table : k_tables)
    if (auto address = s.image.value(table.address))
      verify_range(s, table.name, *address, s.image.value(table.size).value_or(0));
  if (auto address = s.image.value(DT_SYMTAB)) verify_range(s, "DT_SYMTAB", *address, symbols * sizeof(Elf64_Sym));
  if (auto address = s.image.value(DT_VERSYM)) verify_range(s, "DT_VERSYM", *address, symbols * 2);
  if (auto address = s.image.value(DT_GNU_HASH)) verify_range(s, "DT_GNU_HASH", *address, 16);
  if (auto address = s.image.value(DT_HASH)) verify_range(s, "DT_HASH", *address, 8);
  for (auto tag : {DT_INIT, DT_FINI})
    if (auto address = s.image.value(tag); address && *address) {
      bool runs = std::any_of(s.loads.begin(), s.loads.end(), [&](const Segment& l) {
        return (l.flags & PF_X) && *address >= l.address && *address < l.memory_end();
      });
      if (!runs)
        s.error("E107", fmt::format("{} points at {:#x}, which is not executable",
                                    tag == DT_INIT ? "DT_INIT" : "DT_FINI", *address));
    }
}

// Each string must begin inside the table, and the table end with a NUL: then every string ends inside it.
Result<void> verify_strings(Subject& s, std::uint64_t symbols) {
  auto size = s.image.value(DT_STRSZ).value_or(0);
  auto place = s.image.offset_of(s.image.value(DT_STRTAB).value_or(0), size);
  if (!place || size == 0) {
    s.error("E108", "there is no usable dynamic string table");
    return {};
  }
  TRY(auto last, s.image.read_bytes(*place + size - 1, 1));
  if (last[0] != '\0') s.error("E108", "the dynamic string table does not end with a NUL byte");
  auto check = [&](std::uint64_t offset, std::string_view what) {
    if (offset >= size)
      s.error("E108", fmt::format("{} names the string {}, the table has {} bytes", what, offset, size));
  };
  for (auto tag : {DT_NEEDED, DT_SONAME, DT_RPATH, DT_RUNPATH, DT_AUXILIARY, DT_FILTER, 0x6ffffefa /* CONFIG */,
                   0x6ffffefb /* DEPAUDIT */, 0x6ffffefc /* AUDIT */})
    for (auto offset : s.image.values(tag)) check(offset, "the dynamic section");
  TRY(auto needs, read_version_needs(s.image));
  for (const auto& need : needs) check(need.name, "the table of needed versions");
  TRY(auto defined, read_version_definition_names(s.image));
  for (const auto& need : needs)
    for (auto offset : need.versions) check(offset, "the table of needed versions");
  for (auto offset : defined) check(offset, "the table of defined versions");
  TRY(auto names, read_symbol_names(s.image, symbols));
  if (!names.empty()) check(*std::max_element(names.begin(), names.end()), "a dynamic symbol");
  return {};
}

// glibc looks up each file of the needed versions among the loaded ones and stops with an assertion when there is none.
Result<void> verify_versions(Subject& s) {
  TRY(auto needs, read_version_needs(s.image));
  std::set<std::string> needed;
  for (auto offset : s.image.values(DT_NEEDED)) {
    TRY(auto name, s.image.string_at(offset));
    needed.insert(std::move(name));
  }
  for (const auto& need : needs) {
    TRY(auto name, s.image.string_at(need.name));
    if (!needed.contains(name))
      s.error("E109", fmt::format("versions of {} are needed, but it is not among the needed libraries", name));
  }
  return {};
}
} // namespace

void verify_dynamic(Subject& s) {
  verify_dynamic_place(s);
  auto symbols = count_dynamic_symbols(s.image, s.sections);
  if (!symbols) return s.error("E107", symbols.error().message);
  verify_tables(s, symbols->count);
  if (auto done = verify_strings(s, symbols->count); !done) return s.error("E108", done.error().message);
  if (auto done = verify_versions(s); !done) s.error("E109", done.error().message);
}

} // namespace quarry::elf
