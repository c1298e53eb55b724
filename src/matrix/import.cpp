#include "matrix/import.hpp"

#include "matrix/python_literal.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>

namespace quarry::matrix {

namespace {
using Kind = Literal::Kind;

using Variants = std::map<Platform, std::vector<Variant>>;
using BuildRunners = std::map<Platform, std::map<std::string, Runners>>; // platform -> kind -> runners

/// A value of a table, and what messages call it.
struct Item {
  const std::string& file;
  std::string what; ///< "gfx94x.linux.family"
  const Literal& value;
  Item part(std::string name, const Literal& inside) const { return {file, std::move(name), inside}; }
};

Unexpected import_error(const std::string& file, int line, const std::string& why) {
  return fail(ErrorKind::invalid_argument, "F010", fmt::format("{}:{}: {}", file, line, why),
              "docs/formats/families.md lists the fields that are understood");
}
Unexpected import_error(const Item& item, const std::string& why) {
  return import_error(item.file, item.value.line, why);
}

Result<void> expect(const Item& item, Kind kind) {
  if (item.value.kind == kind) return {};
  constexpr std::array<std::string_view, 6> k_names = {"None",     "True or False", "a whole number",
                                                       "a number", "a string",      "a list"};
  auto name = kind == Kind::dict ? std::string_view("a dict") : k_names[static_cast<std::size_t>(kind)];
  return import_error(item, fmt::format("{} must be {}", item.what, name));
}

// ---- values

Result<std::vector<std::string>> read_texts(const Item& item) {
  TRY_DO(expect(item, Kind::list));
  std::vector<std::string> texts;
  for (const auto& one : item.value.items) {
    TRY_DO(expect(item.part(item.what, one), Kind::text));
    texts.push_back(one.text);
  }
  return texts;
}

Result<std::map<std::string, std::string>> read_kernels(const Item& item) {
  TRY_DO(expect(item, Kind::dict));
  std::map<std::string, std::string> kernels;
  for (const auto& [kernel, label] : item.value.members) {
    TRY_DO(expect(item.part(item.what, label), Kind::text));
    kernels[kernel] = label.text;
  }
  return kernels;
}

/// {label, count or weight}: the count wins, as the incumbent's choice does.
Result<Runner> read_runner(const Item& item) {
  Runner runner;
  const auto& fields = item.value;
  for (const auto& [field, value] : fields.members)
    if (field != "label" && field != "count" && field != "weight")
      return import_error(item.file, value.line, fmt::format("{} has an unknown field {:?}", item.what, field));
  const auto* label = fields.find("label");
  if (!label) return import_error(item, fmt::format("{} lacks a label", item.what));
  TRY_DO(expect(item.part(item.what, *label), Kind::text));
  runner.label = label->text;
  const auto* weight = fields.find("count") ? fields.find("count") : fields.find("weight");
  if (!weight) return runner;
  bool whole = weight->kind == Kind::number && weight->number >= 0 && weight->number <= 1e6 &&
               static_cast<double>(static_cast<std::int64_t>(weight->number)) == weight->number;
  if (weight->kind != Kind::integer && !whole)
    return import_error(item.file, weight->line, fmt::format("{}: a weight must be a whole number", item.what));
  runner.weight = whole ? static_cast<std::int64_t>(weight->number) : weight->integer;
  return runner;
}

Result<Runners> read_labels(const Item& item) {
  TRY_DO(expect(item, Kind::list));
  Runners runners;
  for (const auto& one : item.value.items) {
    auto inside = item.part(item.what, one);
    TRY_DO(expect(inside, Kind::dict));
    TRY(auto runner, read_runner(inside));
    runners.push_back(std::move(runner));
  }
  std::sort(runners.begin(), runners.end(), [](const Runner& a, const Runner& b) { return a.label < b.label; });
  if (runners.empty()) return import_error(item, fmt::format("{} names no label", item.what));
  return runners;
}

// ---- families

/// The purpose of the runners in a field; empty for other fields.
std::string purpose_of(std::string_view field) {
  constexpr std::string_view k_labels = "-labels";
  if (field.ends_with(k_labels)) field.remove_suffix(k_labels.size());
  if (field == "test-runs-on") return "test";
  if (field == "test-runs-on-sandbox") return "sandbox";
  if (field == "test-runs-on-multi-gpu") return "multi-gpu";
  return field == "benchmark-runs-on" ? "benchmark" : "";
}

/// A single label stands for itself; where a list of labels says more, the list is taken.
Result<void> read_runner_field(const std::string& field, const Item& item, std::map<std::string, Runners>& runners) {
  auto purpose = purpose_of(field);
  if (field.ends_with("-labels")) {
    TRY(runners[purpose], read_labels(item));
    return {};
  }
  TRY_DO(expect(item, Kind::text));
  if (!item.value.text.empty() && !runners.contains(purpose)) runners[purpose] = {{item.value.text, 1}};
  return {};
}

Result<void> read_state(const std::string& field, const Item& item, Place& place) {
  constexpr std::array<std::pair<std::string_view, Scope>, 4> k_values = {
      {{"sanity_check_only_for_family", Scope::sanity},
       {"nightly_check_only_for_family", Scope::nightly},
       {"run-full-tests-only", Scope::full},
       {"submodule_bump_tests_only", Scope::submodule}}};
  bool is_failure = field == "expect_failure" || field == "expect_pytorch_failure";
  auto scope = std::find_if(k_values.begin(), k_values.end(), [&](const auto& s) { return s.first == field; });
  if (!is_failure && scope == k_values.end() && field != "bypass_tests_for_releases")
    return import_error(item, fmt::format("{} is an unknown field", item.what));
  TRY_DO(expect(item, Kind::boolean));
  if (!item.value.boolean) return {};
  if (is_failure) {
    place.expected_failure.emplace_back(field == "expect_failure" ? "build" : "pytorch");
  } else if (scope == k_values.end()) {
    place.release_untested = true;
  } else if (place.tests != Scope::all) {
    return import_error(item, fmt::format("{}: only one of these fields can restrict the tests", item.what));
  } else {
    place.tests = scope->second;
  }
  return {};
}

/// Any field but the family's name.
Result<void> read_field(const std::string& field, const Item& item, Place& place) {
  if (field == "fetch-gfx-targets") {
    TRY(place.fetch, read_texts(item));
  } else if (field == "build_variants") {
    TRY(place.variants, read_texts(item));
  } else if (field == "test-runs-on-kernel") {
    TRY(place.kernels, read_kernels(item));
  } else if (!purpose_of(field).empty()) {
    return read_runner_field(field, item, place.runners);
  } else {
    return read_state(field, item, place);
  }
  return {};
}

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

Result<BuildRunners> read_build_runners(const Item& item) {
  TRY_DO(expect(item, Kind::dict));
  BuildRunners runners;
  for (const auto& [platform, kinds] : item.value.members) {
    TRY_DO(expect(item.part(platform, kinds), Kind::dict));
    for (const auto& [kind, labels] : kinds.members) {
      TRY(runners[Platform::read(platform)][kind], read_labels(item.part(kind, labels)));
    }
  }
  return runners;
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
