#include "matrix/families.hpp"

#include "base/text.hpp"
#include "base/toml.hpp"
#include <algorithm>
#include <cctype>
#include <fmt/core.h>
#include <set>

namespace quarry::matrix {

namespace {
constexpr std::size_t k_file_max = 4u << 20; // the incumbent's table has 20 kB
constexpr std::size_t k_label_max = 256;     // GitHub's bound for a runner's label
constexpr std::int64_t k_weight_max = 1'000'000;
constexpr std::string_view k_hint =
    "docs/formats/families.md lists the keys; `quarry matrix check` reads the file alone";

/// Names become parts of file names, labels, job names and outputs.
bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= k_label_max && text.front() != '.' && text.front() != '-' &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '_' || c == '-'; });
}

Result<void> read_names(TomlTable& table, const std::string& key, std::vector<std::string>& into) {
  TRY_DO(table.texts(key, into));
  std::set<std::string> seen;
  for (const auto& name : into) {
    if (!is_name(name)) return table.error(key, fmt::format("{:?} is not a name", name));
    if (!seen.insert(name).second) return table.error(key, fmt::format("{} appears twice", name));
  }
  return {};
}

Result<void> read_runners(TomlTable& table, const std::string& key, Runners& into) {
  return table.table(key, [&](TomlTable& labels) -> Result<void> {
    std::int64_t total = 0;
    for (const auto& label : labels.keys()) {
      Runner runner{label, 0};
      TRY_DO(labels.integer(label, runner.weight, true));
      if (!is_name(label)) return labels.error(label, "is not a runner's label");
      if (runner.weight < 0 || runner.weight > k_weight_max)
        return labels.error(label, fmt::format("weight {} is not between 0 and {}", runner.weight, k_weight_max));
      total += runner.weight;
      into.push_back(std::move(runner));
    }
    if (into.empty()) return table.error(key, "names no runner; omit the key");
    if (into.size() > 1 && total == 0) return table.error(key, "all weights are 0: nobody can be chosen");
    return {};
  });
}

Result<void> read_test_purposes(TomlTable& table, std::vector<std::string>& test) {
  std::vector<std::string> said;
  TRY_DO(read_names(table, "test", said));
  for (const auto& purpose : said)
    if (!contains(purposes(), purpose))
      return table.error("test", fmt::format("{:?} is not one of {}", purpose, text::join(purposes(), ", ")));
  if (!said.empty()) test = std::move(said);
  return {};
}

Result<void> read_variant(std::vector<Variant>& known, const std::string& name, TomlTable& t) {
  Variant variant;
  variant.name = name;
  if (!is_name(name)) return t.error("", fmt::format("{:?} is not a name", name));
  TRY_DO(t.text("suffix", variant.suffix));
  if (!variant.suffix.empty() && !is_name(variant.suffix)) return t.error("suffix", "is not a name");
  TRY_DO(t.text("preset", variant.preset));
  if (!variant.preset.empty() && !is_name(variant.preset)) return t.error("preset", "is not a name");
  TRY_DO(t.text("build", variant.build));
  TRY_DO(read_test_purposes(t, variant.test));
  TRY_DO(t.flag("expected_failure", variant.expected_failure));
  for (const auto& other : known)
    if (other.suffix == variant.suffix) return t.error("suffix", fmt::format("is that of {} too", other.name));
  known.push_back(std::move(variant));
  return {};
}

class Reader {
public:
  Result<Families> read(std::string_view text, const std::string& file) {
    TRY(auto root, TomlTable::parse({text, file}, {"F001", "F002", std::string(k_hint)}));
    out_.file = file;
    std::string schema;
    TRY_DO(root.text("schema", schema, true));
    if (schema != "quarry.families/1")
      return root.error("schema", fmt::format("{:?} is not quarry.families/1", schema));
    TRY_DO(root.text("name", out_.name, true));
    TRY_DO(read_names(root, "tiers", out_.tiers));
    if (out_.tiers.empty()) return root.error("tiers", "is missing or empty");
    TRY_DO(read_triggers(root));
    TRY_DO(root.named_tables("target", [&](const auto& name, TomlTable& t) { return read_target(name, t); }));
    TRY_DO(root.table("variant", [&](TomlTable& t) { return read_variants(t); }));
    TRY_DO(root.table("build_runners", [&](TomlTable& t) { return read_build_runners(t); }));
    TRY_DO(check_build_kinds(root));
    TRY_DO(root.named_tables("family", [&](const auto& key, TomlTable& t) { return read_family(key, t); }));
    if (out_.families.empty()) return root.error("family", "there is none");
    TRY_DO(root.finish());
    return std::move(out_);
  }

private:
  Result<void> read_triggers(TomlTable& root) {
    return root.table("trigger", [&](TomlTable& table) -> Result<void> {
      for (const auto& event : table.keys()) {
        auto& tiers = out_.triggers[event];
        TRY_DO(read_names(table, event, tiers));
        for (const auto& tier : tiers)
          if (!contains(out_.tiers, tier)) return table.error(event, fmt::format("{} is not one of `tiers`", tier));
        if (!is_name(event)) return table.error(event, "is not the name of an event");
        if (contains(out_.tiers, event)) return table.error(event, "is the name of a tier");
      }
      return {};
    });
  }

  Result<void> read_target(const std::string& name, TomlTable& table) {
    Target target{name, "", {}};
    if (!is_name(name)) return table.error("", fmt::format("{:?} is not a name", name));
    TRY_DO(table.text("product", target.product, true));
    TRY_DO(read_names(table, "groups", target.groups));
    if (!out_.targets_of(name).empty()) return table.error("", "is a group of another target, or there twice");
    out_.targets.push_back(std::move(target));
    return {};
  }

  Result<void> read_variants(TomlTable& table) {
    for (const auto& platform : Platform::all()) {
      auto& known = out_.variants[platform];
      auto read = [&](const std::string& name, TomlTable& t) { return read_variant(known, name, t); };
      TRY_DO(table.named_tables(std::string(platform.text()), read));
    }
    return {};
  }

  Result<void> read_build_runners(TomlTable& table) {
    for (const auto& platform : Platform::all())
      TRY_DO(table.table(std::string(platform.text()), [&](TomlTable& kinds) -> Result<void> {
        for (const auto& kind : kinds.keys()) TRY_DO(read_runners(kinds, kind, out_.build_runners[platform][kind]));
        return {};
      }));
    return {};
  }

  Result<void> check_build_kinds(const TomlTable& root) {
    for (const auto& [platform, variants] : out_.variants)
      for (const auto& variant : variants)
        if (!out_.build_runners[platform].contains(variant.build))
          return root.error("variant", fmt::format("{}.{}: build_runners.{} has no {:?}", platform, variant.name,
                                                   platform, variant.build));
    return {};
  }

  Result<void> read_family(const std::string& key, TomlTable& table) {
    Family family;
    family.key = key;
    family.line = table.line();
    if (!is_name(key)) return table.error("", fmt::format("{:?} is not a name", key));
    TRY_DO(table.text("name", family.name, true));
    TRY_DO(table.choice("tier", family.tier, out_.tiers, true));
    if (out_.targets_of(family.name).empty())
      return table.error("name", fmt::format("no target belongs to {}", family.name));
    if (out_.find(key) || out_.find(family.name)) return table.error("name", "another family has this key or name");
    for (const auto& platform : Platform::all())
      TRY_DO(table.table(std::string(platform.text()), [&](TomlTable& t) { return read_place(family, platform, t); }));
    if (family.places.empty()) return table.error("", "is built on no platform: add a table linux or windows");
    out_.families.push_back(std::move(family));
    return {};
  }

  Result<void> read_place(Family& family, const Platform& platform, TomlTable& table) {
    Place place;
    place.platform = platform;
    place.line = table.line();
    TRY_DO(read_names(table, "fetch", place.fetch));
    auto inside = out_.targets_of(family.name);
    for (const auto& target : place.fetch)
      if (!contains(inside, target))
        return table.error("fetch", fmt::format("{} does not belong to {}", target, family.name));
    TRY_DO(read_names(table, "variants", place.variants));
    if (place.variants.empty()) return table.error("variants", "is missing or empty");
    for (const auto& variant : place.variants)
      if (!out_.variant(platform, variant))
        return table.error("variants", fmt::format("there is no [variant.{}.{}]", platform, variant));
    TRY_DO(table.table("runners", [&](TomlTable& runners) -> Result<void> {
      for (const auto& purpose : purposes())
        if (runners.has(purpose)) TRY_DO(read_runners(runners, purpose, place.runners[purpose]));
      return {};
    }));
    TRY_DO(read_states(place, table));
    family.places.push_back(std::move(place));
    return {};
  }

  static Result<void> read_states(Place& place, TomlTable& table) {
    std::vector<std::pair<std::string, std::string>> kernels;
    TRY_DO(table.text_map("kernels", kernels));
    for (const auto& [kernel, label] : kernels) {
      if (!is_name(kernel) || !is_name(label))
        return table.error("kernels", fmt::format("{} is not a name with a label", kernel));
      place.kernels.emplace(kernel, label);
    }
    std::string tests = "all";
    TRY_DO(table.choice("tests", tests, scope_names()));
    place.tests = *parse_scope(tests);
    TRY_DO(read_names(table, "expected_failure", place.expected_failure));
    for (const auto& what : place.expected_failure)
      if (what != "build" && what != "pytorch")
        return table.error("expected_failure", fmt::format("{:?} is not one of build, pytorch", what));
    TRY_DO(table.flag("release_untested", place.release_untested));
    return table.text("reason", place.reason);
  }

  Families out_;
};
} // namespace

Result<Families> parse_families(NamedText named) {
  const auto text = named.text;
  const std::string file(named.name);
  if (text.size() > k_file_max)
    return fail(ErrorKind::invalid_argument, "F001", fmt::format("{} has more than {} bytes", file, k_file_max),
                std::string(k_hint));
  return Reader().read(text, file);
}

} // namespace quarry::matrix
