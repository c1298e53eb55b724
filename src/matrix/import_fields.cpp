#include "matrix/import_fields.hpp"

#include <algorithm>
#include <array>
#include <fmt/core.h>

namespace quarry::matrix {

namespace {
using Kind = Literal::Kind;

constexpr std::array<std::pair<std::string_view, Scope>, 4> k_restrictions = {
    {{"sanity_check_only_for_family", Scope::sanity},
     {"nightly_check_only_for_family", Scope::nightly},
     {"run-full-tests-only", Scope::full},
     {"submodule_bump_tests_only", Scope::submodule}}};
} // namespace

std::string_view restriction_field(Scope scope) {
  for (const auto& [field, restricts] : k_restrictions)
    if (restricts == scope) return field;
  return {};
}

Unexpected import_error(const std::string& file, int line, const std::string& why) {
  return fail(ErrorKind::invalid_argument, "F010",
              line ? fmt::format("{}:{}: {}", file, line, why) : fmt::format("{}: {}", file, why),
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

namespace {
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
} // namespace

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

std::string purpose_of(std::string_view field) {
  constexpr std::string_view k_labels = "-labels";
  if (field.ends_with(k_labels)) field.remove_suffix(k_labels.size());
  if (field == "test-runs-on") return "test";
  if (field == "test-runs-on-sandbox") return "sandbox";
  if (field == "test-runs-on-multi-gpu") return "multi-gpu";
  return field == "benchmark-runs-on" ? "benchmark" : "";
}

namespace {
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
  bool is_failure = field == "expect_failure" || field == "expect_pytorch_failure";
  auto scope =
      std::find_if(k_restrictions.begin(), k_restrictions.end(), [&](const auto& s) { return s.first == field; });
  if (!is_failure && scope == k_restrictions.end() && field != "bypass_tests_for_releases")
    return import_error(item, fmt::format("{} is an unknown field", item.what));
  TRY_DO(expect(item, Kind::boolean));
  if (!item.value.boolean) return {};
  if (is_failure) {
    place.expected_failure.emplace_back(field == "expect_failure" ? "build" : "pytorch");
  } else if (scope == k_restrictions.end()) {
    place.release_untested = true;
  } else if (place.tests != Scope::all) {
    return import_error(item, fmt::format("{}: only one of these fields can restrict the tests", item.what));
  } else {
    place.tests = scope->second;
  }
  return {};
}
} // namespace

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

} // namespace quarry::matrix
