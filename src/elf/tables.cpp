#include "elf/tables.hpp"

#include "elf/window.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::elf {

namespace {
constexpr std::uint64_t k_versions_max = 1u << 18; // entries of one table; libstdc++ and glibc define fewer than 100
constexpr std::uint64_t k_symbols_max = 1u << 24;  // 400 MB of symbol table; libLLVM has 46,000

/// `count` records from `at` on.
struct Chain {
  std::uint64_t at = 0, count = 0;
};

// Walks a chain of records linked by a relative `next`: each step goes forward, so a loop is impossible.
template <class Record, class Visit>
Result<void> walk_chain(Window& window, const Image& image, Chain chain, std::uint64_t& budget, const Visit& visit) {
  auto at = chain.at;
  for (std::uint64_t i = 0; i < chain.count; ++i) {
    if (budget-- == 0)
      return image.corrupt(fmt::format("its version tables have more than {} entries", k_versions_max));
    TRY(auto record, window.at<Record>(at));
    TRY(std::uint64_t next, visit(record, at));
    if (next == 0) {
      if (i + 1 < chain.count) return image.corrupt("a version table ends before its count");
      return {};
    }
    at += next;
  }
  return {};
}

Result<std::uint64_t> table_at(const Image& image, std::uint64_t address, std::uint64_t size, std::string_view what) {
  auto place = image.offset_of(address, size);
  if (!place) return image.corrupt(fmt::format("its {} is outside the loaded bytes", what));
  return *place;
}
} // namespace

Result<std::vector<VersionNeed>> read_version_needs(const Image& image) {
  std::vector<VersionNeed> out;
  auto address = image.value(DT_VERNEED), count = image.value(DT_VERNEEDNUM);
  if (!address || !count || *count == 0) return out;
  TRY(auto begin, table_at(image, *address, sizeof(Elf64_Verneed), "table of needed versions"));
  Window window(image.file);
  std::uint64_t budget = k_versions_max;
  auto on_aux = [&](const Elf64_Vernaux& aux, std::uint64_t) -> Result<std::uint64_t> {
    out.back().versions.push_back(aux.vna_name);
    return aux.vna_next;
  };
  Window aux_window(image.file);
  TRY_DO(walk_chain<Elf64_Verneed>(window, image, {begin, *count}, budget,
                                   [&](const Elf64_Verneed& need, std::uint64_t at) -> Result<std::uint64_t> {
                                     out.push_back({need.vn_file, at + offsetof(Elf64_Verneed, vn_file), {}});
                                     TRY_DO(walk_chain<Elf64_Vernaux>(aux_window, image,
                                                                      {at + need.vn_aux, need.vn_cnt}, budget, on_aux));
                                     return need.vn_next;
                                   }));
  return out;
}

Result<std::vector<std::uint64_t>> read_version_definition_names(const Image& image) {
  std::vector<std::uint64_t> names;
  auto address = image.value(DT_VERDEF), count = image.value(DT_VERDEFNUM);
  if (!address || !count || *count == 0) return names;
  TRY(auto begin, table_at(image, *address, sizeof(Elf64_Verdef), "table of defined versions"));
  Window window(image.file), aux_window(image.file);
  std::uint64_t budget = k_versions_max;
  auto on_aux = [&](const Elf64_Verdaux& aux, std::uint64_t) -> Result<std::uint64_t> {
    names.push_back(aux.vda_name);
    return aux.vda_next;
  };
  TRY_DO(walk_chain<Elf64_Verdef>(window, image, {begin, *count}, budget,
                                  [&](const Elf64_Verdef& definition, std::uint64_t at) -> Result<std::uint64_t> {
                                    TRY_DO(walk_chain<Elf64_Verdaux>(aux_window, image,
                                                                     {at + definition.vd_aux, definition.vd_cnt},
                                                                     budget, on_aux));
                                    return definition.vd_next;
                                  }));
  return names;
}

namespace {
// The chain of the highest bucket ends at the last symbol: its entry has the lowest bit set. Without a bucket in use,
// the table tells nothing about the symbols before it.
Result<SymbolCount> count_by_gnu_hash(const Image& image, std::uint64_t address) {
  TRY(auto at, table_at(image, address, 16, "GNU hash table"));
  Window window(image.file);
  TRY(auto buckets, window.at<std::uint32_t>(at));
  TRY(auto first, window.at<std::uint32_t>(at + 4));
  TRY(auto bloom, window.at<std::uint32_t>(at + 8));
  auto bucket_at = at + 16 + std::uint64_t{bloom} * 8;
  std::uint64_t last = 0;
  for (std::uint64_t i = 0; i < buckets; ++i) {
    TRY(auto bucket, window.at<std::uint32_t>(bucket_at + i * 4));
    last = std::max<std::uint64_t>(last, bucket);
  }
  if (last < first) return SymbolCount{first, false};
  for (auto chain = bucket_at + std::uint64_t{buckets} * 4;; ++last) {
    if (last > k_symbols_max) return image.corrupt("its GNU hash table has no end");
    TRY(auto hash, window.at<std::uint32_t>(chain + (last - first) * 4));
    if (hash & 1) return SymbolCount{last + 1, true};
  }
}
} // namespace

Result<SymbolCount> count_dynamic_symbols(const Image& image, const std::vector<Section>& sections) {
  auto table = image.value(DT_SYMTAB);
  if (!table) return SymbolCount{};
  SymbolCount found{0, false};
  if (auto hash = image.value(DT_GNU_HASH)) {
    TRY(found, count_by_gnu_hash(image, *hash));
  }
  if (auto hash = image.value(DT_HASH); hash && !found.exact) {
    TRY(auto at, table_at(image, *hash, 8, "hash table"));
    Window window(image.file);
    TRY(auto chains, window.at<std::uint32_t>(at + 4));
    found = {std::max<std::uint64_t>(found.count, chains), true};
  }
  for (const auto& s : sections)
    if (s.type == SHT_DYNSYM && s.address == *table) found = {std::max(found.count, s.size / sizeof(Elf64_Sym)), true};
  if (found.count > k_symbols_max) return image.corrupt(fmt::format("it claims {} dynamic symbols", found.count));
  return found;
}

Result<std::vector<std::uint32_t>> read_symbol_names(const Image& image, std::uint64_t count) {
  std::vector<std::uint32_t> names;
  if (count == 0) return names;
  TRY(auto at, table_at(image, *image.value(DT_SYMTAB), count * sizeof(Elf64_Sym), "dynamic symbol table"));
  if (!fits(at, count * sizeof(Elf64_Sym), image.file.size()))
    return image.corrupt("its dynamic symbol table reaches past the end of the file");
  names.reserve(static_cast<std::size_t>(count));
  Window window(image.file);
  for (std::uint64_t i = 0; i < count; ++i) {
    TRY(auto symbol, window.at<Elf64_Sym>(at + i * sizeof(Elf64_Sym)));
    names.push_back(symbol.st_name);
  }
  return names;
}

} // namespace quarry::elf
