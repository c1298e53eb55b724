#include "matrix/import.hpp"

#include "matrix/import_fields.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::matrix {

namespace {
using Kind = Literal::Kind;
using Variants = std::map<Platform, std::vector<Variant>>;

/// Every platform of a family says the family's name.
Result<std::string> read_name(const Family& family, const Item& item) {
  TRY_DO(expect(item, Kind::text));
  if (!family.name.empty() && family.name != item.value.text)
    return import_error(item, fmt::format("{} has two names: {} and {}", family.key, family.name, item.value.text));
  return item.value.text;
}

Result<void> read_place(const Platform& platform, const Item& item, Family& family) {
  TRY_DO(expect(item, Kind::dict));
  Place place;
  place.platform = platform;
  // First what is there: where a field is misspelt, its line says more than that the right one is missing.
  for (const auto& [field, value] : item.value.members) {
    auto inside = item.part(item.what + "." + field, value);
    if (field == "family") {
      TRY(family.name, read_name(family, inside));
    } else {
      TRY_DO(read_field(field, inside, place));
    }
  }
  for (auto needed : {"family", "test-runs-on", "fetch-gfx-targets", "build_variants"})
    if (!item.value.find(needed)) return import_error(item, fmt::format("{} lacks {:?}", item.what, needed));
  family.places.push_back(std::move(place));
  return {};
}

Result<Family> read_family(const std::string& tier, const Item& item) {
  TRY_DO(expect(item, Kind::dict));
  Family family;
  family.key = item.what;
  family.tier = tier;
  for (const auto& [name, fields] : item.value.members) {
    auto platform = Platform::read(name);
    if (!platform.kind())
      return import_error(item.file, fields.line, fmt::format("{}: {:?} is not a platform", family.key, name));
    TRY_DO(read_place(platform, item.part(family.key + "." + name, fields), family));
  }
  std::sort(family.places.begin(), family.places.end(),
            [](const Place& a, const Place& b) { return a.platform < b.platform; });
  return family;
}

/// Adds the families of one tier's table to `families`.
Result<void> read_tier(const std::string& tier, const Item& item, Families& families) {
  TRY_DO(expect(item, Kind::dict));
  for (const auto& [key, platforms] : item.value.members) {
    auto inside = item.part(key, platforms);
    TRY_DO(expect(inside, Kind::dict));
    if (families.find(key)) return import_error(inside, fmt::format("{} appears in two tables", key));
    TRY(auto family, read_family(tier, inside));
    families.families.push_back(std::move(family));
  }
  return {};
}

// ---- variants and build runners

/// The incumbent chooses by the name of the variant, and falls back where a platform has no such machines.
void choose_machines(Variant& variant, const std::map<std::string, Runners>* kinds) {
  bool sanitizer = variant.name.ends_with("asan") || variant.name.ends_with("tsan");
  if (sanitizer && kinds && kinds->contains("sanitizer")) variant.build = "sanitizer";
  if (variant.name.ends_with("asan")) variant.test = {"sandbox"};
}

Result<Variant> read_variant(const Platform& platform, const Item& item) {
  TRY_DO(expect(item, Kind::dict));
  Variant variant;
  variant.name = item.what;
  for (const auto& [field, value] : item.value.members) {
    auto inside = item.part(fmt::format("{}.{}.{}", platform, variant.name, field), value);
    bool is_flag = field == "expect_failure";
    TRY_DO(expect(inside, is_flag ? Kind::boolean : Kind::text));
    if (is_flag)
      variant.expected_failure = value.boolean;
    else if (field == "build_variant_suffix")
      variant.suffix = value.text;
    else if (field == "build_variant_cmake_preset")
      variant.preset = value.text;
    else if (field != "build_variant_label")
      return import_error(inside, fmt::format("{} is an unknown field", inside.what));
    else if (value.text != variant.name)
      return import_error(inside, fmt::format("{} is not {:?}", inside.what, variant.name));
  }
  return variant;
}

Result<Variants> read_variants(const Item& item, const BuildRunners& runners) {
  TRY_DO(expect(item, Kind::dict));
  Variants variants;
  for (const auto& [key, list] : item.value.members) {
    TRY_DO(expect(item.part(key, list), Kind::dict));
    auto platform = Platform::read(key);
    auto kinds = runners.find(platform);
    for (const auto& [name, fields] : list.members) {
      TRY(auto variant, read_variant(platform, item.part(name, fields)));
      choose_machines(variant, kinds == runners.end() ? nullptr : &kinds->second);
      variants[platform].push_back(std::move(variant));
    }
  }
  return variants;
}

// ---- the tables

Result<void> read_table(const std::string& file, const Assignment& table, Families& families) {
  if (table.name == "all_build_variants") {
    TRY(families.variants, read_variants({file, table.name, table.value}, families.build_runners));
  } else if (table.name == "BUILD_RUNNER_LABELS") {
    TRY(families.build_runners, read_build_runners({file, table.name, table.value}));
  } else {
    for (const auto& tier : families.tiers)
      if (table.name.ends_with("_" + tier)) return read_tier(tier, {file, tier, table.value}, families);
  }
  return {};
}

/// Build runners first: which of them a variant uses depends on what there is.
void order_tables(std::vector<Assignment>& tables) {
  std::stable_partition(tables.begin(), tables.end(),
                        [](const Assignment& t) { return t.name == "BUILD_RUNNER_LABELS"; });
}

void order_families(Families& families) {
  const auto& tiers = families.tiers;
  auto rank = [&](const Family& family) { return std::find(tiers.begin(), tiers.end(), family.tier) - tiers.begin(); };
  std::stable_sort(families.families.begin(), families.families.end(),
                   [&](const Family& a, const Family& b) { return rank(a) < rank(b); });
}
} // namespace

Result<Families> import_families(NamedText named, const Families& base) {
  const auto text = named.text;
  const std::string file(named.name);
  TRY(auto tables, parse_python_tables({text, file}));
  order_tables(tables);
  auto families = base;
  families.families.clear();
  families.name = "imported";
  for (const auto& table : tables) TRY_DO(read_table(file, table, families));
  if (families.families.empty())
    return fail(ErrorKind::invalid_argument, "F010", fmt::format("{} holds no table of families", file),
                "its dicts are called …_presubmit, …_postsubmit and …_nightly");
  order_families(families);
  return parse_families({write_families(families), "the imported table"});
}

} // namespace quarry::matrix
