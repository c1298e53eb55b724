#include "matrix/overlay.hpp"

#include "matrix/import_fields.hpp"
#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::matrix {

namespace {

/// Shares such as 0.25 and 0.75 become whole weights.
Json whole_weights(Json labels) {
  constexpr double k_scale = 1000;
  bool fractions = std::any_of(labels.begin(), labels.end(), [](const Json& one) {
    return one.is_object() && !one.contains("count") && one.contains("weight") && one["weight"].is_number_float() &&
           one["weight"].get<double>() != std::floor(one["weight"].get<double>());
  });
  if (!fractions) return labels;
  for (auto& one : labels)
    if (one.is_object() && one.contains("weight") && one["weight"].is_number())
      one["weight"] = std::round(one["weight"].get<double>() * k_scale);
  return labels;
}

Literal literal_of(const Json& value) {
  Literal literal;
  if (value.is_string()) {
    literal.kind = Literal::Kind::text;
    literal.text = value.get<std::string>();
  } else if (value.is_boolean()) {
    literal.kind = Literal::Kind::boolean;
    literal.boolean = value.get<bool>();
  } else if (value.is_number_integer()) {
    literal.kind = Literal::Kind::integer;
    literal.integer = value.get<std::int64_t>();
  } else if (value.is_number()) {
    literal.kind = Literal::Kind::number;
    literal.number = value.get<double>();
  } else if (value.is_array()) {
    literal.kind = Literal::Kind::list;
    for (const auto& one : whole_weights(value)) literal.items.push_back(literal_of(one));
  } else if (value.is_object()) {
    literal.kind = Literal::Kind::dict;
    for (const auto& [key, inside] : value.items()) literal.members.push_back({key, literal_of(inside)});
  }
  return literal;
}

/// Keys such as "_comment" say something to people.
bool is_remark(std::string_view key) { return key.starts_with('_'); }

bool names_machines(std::string_view field) { return field == "test-runs-on-kernel" || !purpose_of(field).empty(); }

/// What the table says in this field, so that reading it again replaces it.
void clear_field(const std::string& field, bool value, Place& place) {
  auto forget = [&](std::string_view what) { std::erase(place.expected_failure, what); };
  if (field == "fetch-gfx-targets") {
    place.fetch.clear();
  } else if (field == "build_variants") {
    place.variants.clear();
  } else if (field == "test-runs-on-kernel") {
    place.kernels.clear();
  } else if (!purpose_of(field).empty()) {
    place.runners.erase(purpose_of(field));
  } else if (field == "expect_failure") {
    forget("build");
  } else if (field == "expect_pytorch_failure") {
    forget("pytorch");
  } else if (field == "bypass_tests_for_releases") {
    place.release_untested = false;
  } else if (value || field == restriction_field(place.tests)) {
    place.tests = Scope::all; // one field alone restricts the tests
  }
}

enum class Fields : std::uint8_t { all, machines };

Result<void> overlay_place(const Item& item, Fields fields, Place& place) {
  TRY_DO(expect(item, Literal::Kind::dict));
  for (const auto& [field, value] : item.value.members) {
    if (is_remark(field) || (fields == Fields::machines && !names_machines(field))) continue;
    auto inside = item.part(item.what + "." + field, value);
    if (field == "family") return import_error(inside, inside.what + " cannot be changed: packages have this name");
    clear_field(field, value.boolean, place);
    TRY_DO(read_field(field, inside, place));
  }
  return {};
}

Result<void> overlay_family(const Item& item, Fields fields, Overlaid& out) {
  auto& known = out.families.families;
  auto family = std::find_if(known.begin(), known.end(), [&](const Family& one) { return one.key == item.what; });
  if (family == known.end()) {
    out.notes.push_back(
        fmt::format("{} names {}, which the table of families lacks: it has no effect", item.file, item.what));
    return {};
  }
  TRY_DO(expect(item, Literal::Kind::dict));
  for (const auto& [name, settings] : item.value.members) {
    if (is_remark(name)) continue;
    auto& places = family->places;
    auto place = std::find_if(places.begin(), places.end(),
                              [&](const Place& one) { return one.platform == Platform::read(name); });
    if (place == places.end())
      out.notes.push_back(
          fmt::format("{} names {} on {:?}, where it is not built: it has no effect", item.file, item.what, name));
    else
      TRY_DO(overlay_place(item.part(item.what + "." + name, settings), fields, *place));
  }
  return {};
}

Result<void> overlay_all(const Item& item, Fields fields, Overlaid& out) {
  TRY_DO(expect(item, Literal::Kind::dict));
  for (const auto& [key, platforms] : item.value.members)
    if (!is_remark(key)) TRY_DO(overlay_family(item.part(key, platforms), fields, out));
  return {};
}

/// The strict reader decides whether the result is a table.
Result<Overlaid> checked(Overlaid out, const std::string& name) {
  TRY(auto families, parse_families({write_families(out.families), "the families with " + name}));
  out.families = std::move(families);
  return out;
}

} // namespace

Result<Overlaid> overlay_families(const Families& base, json::NamedJson overrides) {
  const std::string name(overrides.name);
  Overlaid out{base, {}};
  auto table = literal_of(overrides.value);
  TRY_DO(overlay_all({name, name, table}, Fields::all, out));
  return checked(std::move(out), name);
}

Result<Overlaid> overlay_machines(const Families& base, json::NamedJson config) {
  const std::string name(config.name);
  Overlaid out{base, {}};
  auto table = literal_of(config.value);
  TRY_DO(expect({name, name, table}, Literal::Kind::dict));
  if (const auto* build = table.find("build_runners")) {
    TRY(auto runners, read_build_runners({name, "build_runners", *build}));
    for (auto& [platform, kinds] : runners) out.families.build_runners[platform] = std::move(kinds);
  }
  if (const auto* labels = table.find("gpu_runner_labels")) {
    TRY_DO(overlay_all({name, "gpu_runner_labels", *labels}, Fields::machines, out));
  } else if (const auto* tiers = table.find("gpu_families")) {
    TRY_DO(expect({name, "gpu_families", *tiers}, Literal::Kind::dict));
    for (const auto& [tier, families] : tiers->members)
      TRY_DO(overlay_all({name, "gpu_families." + tier, families}, Fields::machines, out));
  } else if (!table.find("build_runners")) {
    return import_error(name, 0, "names no machines: it has neither build_runners nor gpu_runner_labels");
  }
  return checked(std::move(out), name);
}

} // namespace quarry::matrix
