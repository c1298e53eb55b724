#include "matrix/import.hpp"

#include "matrix/python_literal.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>

namespace quarry::matrix {

namespace {
using Kind = Literal::Kind;

class Importer {
public:
  Importer(const std::string& file, const Families& base) : file_(file), out_(base) {
    out_.families.clear();
    out_.name = "imported";
  }

  Result<Families> run(const std::vector<Assignment>& tables) {
    for (const auto& table : tables) TRY_DO(take(table));
    if (out_.families.empty())
      return fail(ErrorKind::invalid_argument, "F010", fmt::format("{} holds no table of families", file_),
                  "its dicts are called …_presubmit, …_postsubmit and …_nightly");
    std::stable_sort(out_.families.begin(), out_.families.end(),
                     [&](const Family& a, const Family& b) { return rank(a.tier) < rank(b.tier); });
    return parse_families(write_families(out_), "the imported table");
  }

private:
  Unexpected error(int line, const std::string& why) const {
    return fail(ErrorKind::invalid_argument, "F010", fmt::format("{}:{}: {}", file_, line, why),
                "docs/formats/families.md lists the fields that are understood");
  }

  std::size_t rank(const std::string& tier) const {
    return static_cast<std::size_t>(std::find(out_.tiers.begin(), out_.tiers.end(), tier) - out_.tiers.begin());
  }

  Result<void> take(const Assignment& table) {
    if (table.name == "all_build_variants") return take_variants(table.value);
    if (table.name == "BUILD_RUNNER_LABELS") return take_build_runners(table.value);
    for (const auto& tier : out_.tiers)
      if (table.name.ends_with("_" + tier)) return take_tier(table.value, tier);
    return {};
  }

  Result<void> expect(const Literal& value, Kind kind, std::string_view what) const {
    if (value.kind == kind) return {};
    constexpr std::array<std::string_view, 6> k_names = {"None",     "True or False", "a whole number",
                                                         "a number", "a string",      "a list"};
    auto name = kind == Kind::dict ? std::string_view("a dict") : k_names[static_cast<std::size_t>(kind)];
    return error(value.line, fmt::format("{} must be {}", what, name));
  }

  Result<void> take_tier(const Literal& table, const std::string& tier) {
    TRY_DO(expect(table, Kind::dict, tier));
    for (const auto& [key, platforms] : table.members) {
      TRY_DO(expect(platforms, Kind::dict, key));
      if (out_.find(key)) return error(platforms.line, fmt::format("{} appears in two tables", key));
      Family family;
      family.key = key;
      family.tier = tier;
      for (const auto& [platform, fields] : platforms.members) {
        const auto& known = platform_names();
        if (std::find(known.begin(), known.end(), platform) == known.end())
          return error(fields.line, fmt::format("{}: {:?} is not a platform", key, platform));
        TRY_DO(take_place(family, platform, fields));
      }
      std::sort(family.places.begin(), family.places.end(),
                [](const Place& a, const Place& b) { return a.platform < b.platform; });
      out_.families.push_back(std::move(family));
    }
    return {};
  }

  Result<void> take_place(Family& family, const std::string& platform, const Literal& fields) {
    auto what = family.key + "." + platform;
    TRY_DO(expect(fields, Kind::dict, what));
    Place place;
    place.platform = platform;
    // First what is there: where a field is misspelt, its line says more than that the right one is missing.
    for (const auto& [field, value] : fields.members) TRY_DO(take_field(family, place, field, value));
    for (auto needed : {"family", "test-runs-on", "fetch-gfx-targets", "build_variants"})
      if (!fields.find(needed)) return error(fields.line, fmt::format("{} lacks {:?}", what, needed));
    family.places.push_back(std::move(place));
    return {};
  }

  Result<void> take_field(Family& family, Place& place, const std::string& field, const Literal& value) {
    auto what = fmt::format("{}.{}.{}", family.key, place.platform, field);
    if (field == "family") {
      TRY_DO(expect(value, Kind::text, what));
      if (!family.name.empty() && family.name != value.text)
        return error(value.line, fmt::format("{} has two names: {} and {}", family.key, family.name, value.text));
      family.name = value.text;
      return {};
    }
    if (field == "fetch-gfx-targets") return take_texts(value, what, place.fetch);
    if (field == "build_variants") return take_texts(value, what, place.variants);
    if (field == "test-runs-on-kernel") return take_kernels(value, what, place);
    if (auto purpose = purpose_of(field); !purpose.empty())
      return field.ends_with("-labels") ? take_labels(value, what, place.runners, purpose)
                                        : take_label(value, what, place, purpose);
    return take_state(place, field, value, what);
  }

  static std::string purpose_of(std::string_view field) {
    constexpr std::string_view k_labels = "-labels";
    if (field.ends_with(k_labels)) field.remove_suffix(k_labels.size());
    if (field == "test-runs-on") return "test";
    if (field == "test-runs-on-sandbox") return "sandbox";
    if (field == "test-runs-on-multi-gpu") return "multi-gpu";
    return field == "benchmark-runs-on" ? "benchmark" : "";
  }

  Result<void> take_texts(const Literal& value, const std::string& what, std::vector<std::string>& into) {
    TRY_DO(expect(value, Kind::list, what));
    for (const auto& item : value.items) {
      TRY_DO(expect(item, Kind::text, what));
      into.push_back(item.text);
    }
    return {};
  }

  Result<void> take_kernels(const Literal& value, const std::string& what, Place& place) {
    TRY_DO(expect(value, Kind::dict, what));
    for (const auto& [kernel, label] : value.members) {
      TRY_DO(expect(label, Kind::text, what));
      place.kernels[kernel] = label.text;
    }
    return {};
  }

  /// A single label stands for itself; where a list of labels says more, the list is taken.
  Result<void> take_label(const Literal& value, const std::string& what, Place& place, const std::string& purpose) {
    TRY_DO(expect(value, Kind::text, what));
    if (!value.text.empty() && !place.runners.contains(purpose)) place.runners[purpose] = {{value.text, 1}};
    return {};
  }

  Result<void> take_labels(const Literal& value, const std::string& what, std::map<std::string, Runners>& into,
                           const std::string& purpose) {
    TRY_DO(expect(value, Kind::list, what));
    Runners runners;
    for (const auto& item : value.items) {
      TRY_DO(expect(item, Kind::dict, what));
      TRY(auto runner, read_runner(item, what));
      runners.push_back(std::move(runner));
    }
    std::sort(runners.begin(), runners.end(), [](const Runner& a, const Runner& b) { return a.label < b.label; });
    if (runners.empty()) return error(value.line, fmt::format("{} names no label", what));
    into[purpose] = std::move(runners);
    return {};
  }

  /// {label, count or weight}: the count wins, as the incumbent's choice does.
  Result<Runner> read_runner(const Literal& item, const std::string& what) {
    Runner runner;
    for (const auto& [field, value] : item.members)
      if (field != "label" && field != "count" && field != "weight")
        return error(value.line, fmt::format("{} has an unknown field {:?}", what, field));
    const auto* label = item.find("label");
    if (!label) return error(item.line, fmt::format("{} lacks a label", what));
    TRY_DO(expect(*label, Kind::text, what));
    runner.label = label->text;
    const auto* weight = item.find("count") ? item.find("count") : item.find("weight");
    if (!weight) return runner;
    bool whole = weight->kind == Kind::number && weight->number >= 0 && weight->number <= 1e6 &&
                 static_cast<double>(static_cast<std::int64_t>(weight->number)) == weight->number;
    if (weight->kind != Kind::integer && !whole)
      return error(weight->line, fmt::format("{}: a weight must be a whole number", what));
    runner.weight = whole ? static_cast<std::int64_t>(weight->number) : weight->integer;
    return runner;
  }

  Result<void> take_state(Place& place, const std::string& field, const Literal& value, const std::string& what) {
    constexpr std::array<std::pair<std::string_view, Scope>, 4> k_values = {
        {{"sanity_check_only_for_family", Scope::sanity},
         {"nightly_check_only_for_family", Scope::nightly},
         {"run-full-tests-only", Scope::full},
         {"submodule_bump_tests_only", Scope::submodule}}};
    bool is_failure = field == "expect_failure" || field == "expect_pytorch_failure";
    auto scope = std::find_if(k_values.begin(), k_values.end(), [&](const auto& s) { return s.first == field; });
    if (!is_failure && scope == k_values.end() && field != "bypass_tests_for_releases")
      return error(value.line, fmt::format("{} is an unknown field", what));
    TRY_DO(expect(value, Kind::boolean, what));
    if (!value.boolean) return {};
    if (is_failure) {
      place.expected_failure.emplace_back(field == "expect_failure" ? "build" : "pytorch");
    } else if (scope == k_values.end()) {
      place.release_untested = true;
    } else if (place.tests != Scope::all) {
      return error(value.line, fmt::format("{}: only one of these fields can restrict the tests", what));
    } else {
      place.tests = scope->second;
    }
    return {};
  }

  Result<void> take_variants(const Literal& table) {
    TRY_DO(expect(table, Kind::dict, "all_build_variants"));
    decltype(out_.variants) variants;
    for (const auto& [platform, list] : table.members) {
      TRY_DO(expect(list, Kind::dict, platform));
      for (const auto& [name, fields] : list.members) {
        TRY_DO(expect(fields, Kind::dict, name));
        TRY(auto variant, read_variant(platform, name, fields));
        variants[platform].push_back(std::move(variant));
      }
    }
    out_.variants = std::move(variants);
    return {};
  }

  Result<Variant> read_variant(const std::string& platform, const std::string& name, const Literal& fields) {
    Variant variant;
    variant.name = name;
    for (const auto& [field, value] : fields.members) {
      auto what = fmt::format("{}.{}.{}", platform, name, field);
      bool is_flag = field == "expect_failure";
      TRY_DO(expect(value, is_flag ? Kind::boolean : Kind::text, what));
      if (is_flag)
        variant.expected_failure = value.boolean;
      else if (field == "build_variant_suffix")
        variant.suffix = value.text;
      else if (field == "build_variant_cmake_preset")
        variant.preset = value.text;
      else if (field != "build_variant_label")
        return error(value.line, fmt::format("{} is an unknown field", what));
      else if (value.text != name)
        return error(value.line, fmt::format("{} is not {:?}", what, name));
    }
    // The incumbent chooses by the name of the variant, and falls back where a platform has no such machines.
    auto kinds = out_.build_runners.find(platform);
    bool sanitizer = name.ends_with("asan") || name.ends_with("tsan");
    if (sanitizer && kinds != out_.build_runners.end() && kinds->second.contains("sanitizer"))
      variant.build = "sanitizer";
    if (name.ends_with("asan")) variant.test = {"sandbox"};
    return variant;
  }

  Result<void> take_build_runners(const Literal& table) {
    TRY_DO(expect(table, Kind::dict, "BUILD_RUNNER_LABELS"));
    decltype(out_.build_runners) runners;
    for (const auto& [platform, kinds] : table.members) {
      TRY_DO(expect(kinds, Kind::dict, platform));
      for (const auto& [kind, labels] : kinds.members) TRY_DO(take_labels(labels, kind, runners[platform], kind));
    }
    out_.build_runners = std::move(runners);
    return {};
  }

  const std::string& file_;
  Families out_;
};

/// Build runners first: which of them a variant uses depends on what there is.
void order_tables(std::vector<Assignment>& tables) {
  std::stable_partition(tables.begin(), tables.end(),
                        [](const Assignment& t) { return t.name == "BUILD_RUNNER_LABELS"; });
}
} // namespace

Result<Families> import_families(std::string_view text, const std::string& file, const Families& base) {
  TRY(auto tables, parse_python_tables(text, file));
  order_tables(tables);
  return Importer(file, base).run(tables);
}

} // namespace quarry::matrix
