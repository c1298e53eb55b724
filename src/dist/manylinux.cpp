#include "dist/manylinux.hpp"

#include "base/text.hpp"
#include "base/toml.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <optional>

namespace quarry::dist {

namespace {

using Number = std::vector<std::uint64_t>;

std::optional<Number> number_of(std::string_view text, char separator) {
  Number number;
  for (const auto& part : text::split(text, separator)) {
    auto value = text::parse_u64(part);
    if (!value) return std::nullopt;
    number.push_back(*value);
  }
  return number;
}

bool is_version(std::string_view text) { return number_of(text, '.').has_value(); }

Result<std::map<std::string, std::string>> versions_of(TomlTable& table, const std::string& key) {
  std::vector<std::pair<std::string, std::string>> rows;
  TRY_DO(table.text_map(key, rows));
  for (const auto& [family, version] : rows)
    if (!is_version(version)) return table.error(key, fmt::format("{} is not a version", version));
  return std::map<std::string, std::string>(rows.begin(), rows.end());
}

/// One row of the table: a policy for each machine that has it.
Result<void> parse_policy(TomlTable& table, const std::vector<std::string>& libraries, Manylinux& into) {
  ManylinuxPolicy policy;
  std::vector<std::string> also, without;
  TRY_DO(table.text("glibc", policy.glibc, true));
  TRY_DO(table.texts("also", also));
  TRY_DO(table.texts("without", without));
  if (!is_version(policy.glibc)) return table.error("glibc", fmt::format("{} is not a version", policy.glibc));
  policy.also = {also.begin(), also.end()};
  policy.libraries = {libraries.begin(), libraries.end()};
  for (const auto& name : without) policy.libraries.erase(name);
  TRY(policy.newest, versions_of(table, "newest"));
  for (const auto& machine : into.machines) {
    auto own = policy;
    own.machine = machine;
    bool first = machine == into.machines.front();
    if (!first && !table.has(machine)) continue;
    if (!first) {
      TRY(auto different, versions_of(table, machine));
      for (auto& [family, version] : different) own.newest[family] = version;
    }
    into.policies.push_back(std::move(own));
  }
  return {};
}

struct PrivateSymbols {
  std::string library, until; ///< empty: all policies
  std::vector<std::string> symbols;
};

Result<PrivateSymbols> parse_private(TomlTable& table) {
  PrivateSymbols row;
  TRY_DO(table.text("library", row.library, true));
  TRY_DO(table.text("until", row.until));
  TRY_DO(table.texts("symbols", row.symbols));
  if (!row.until.empty() && !is_version(row.until))
    return table.error("until", fmt::format("{} is not a version", row.until));
  return row;
}

void add_private(const PrivateSymbols& row, std::vector<ManylinuxPolicy>& policies) {
  for (auto& policy : policies)
    if (row.until.empty() || *number_of(policy.glibc, '.') <= *number_of(row.until, '.'))
      policy.private_symbols[row.library].insert(row.symbols.begin(), row.symbols.end());
}

// PEP 513, 571, 599 gave years; PEP 600 the glibc.
std::string modern(std::string_view tag) {
  constexpr std::pair<std::string_view, std::string_view> k_legacy[] = {
      {"manylinux1_", "manylinux_2_5_"}, {"manylinux2010_", "manylinux_2_12_"}, {"manylinux2014_", "manylinux_2_17_"}};
  for (auto [old, now] : k_legacy)
    if (tag.starts_with(old)) return std::string(now) + std::string(tag.substr(old.size()));
  return std::string(tag);
}

std::string dotted(const Number& number) {
  std::string text;
  for (auto part : number) text += (text.empty() ? "" : ".") + std::to_string(part);
  return text;
}

} // namespace

std::string ManylinuxPolicy::tag() const { return "manylinux_" + text::replace_all(glibc, ".", "_") + "_" + machine; }

Result<Manylinux> parse_manylinux(NamedText named) {
  const auto text = named.text;
  const std::string file(named.name);
  TRY(auto root, TomlTable::parse({text, file}, {"M012", "M012", "data/manylinux.toml"}));
  Manylinux out;
  std::string schema;
  std::vector<std::string> libraries;
  std::vector<PrivateSymbols> hidden;
  TRY_DO(root.choice("schema", schema, {"quarry.manylinux/1"}, true));
  TRY_DO(root.texts("machines", out.machines));
  TRY_DO(root.texts("libraries", libraries));
  if (out.machines.empty()) return root.error("machines", "there is none");
  TRY_DO(root.tables("policy", [&](TomlTable& table) { return parse_policy(table, libraries, out); }));
  TRY_DO(root.tables("private", [&](TomlTable& table) -> Result<void> {
    TRY(auto row, parse_private(table));
    hidden.push_back(std::move(row));
    return {};
  }));
  TRY_DO(root.finish());
  for (const auto& row : hidden) add_private(row, out.policies);
  std::ranges::stable_sort(out.policies, [](const auto& a, const auto& b) {
    return std::pair(a.machine, *number_of(a.glibc, '.')) < std::pair(b.machine, *number_of(b.glibc, '.'));
  });
  return out;
}

Result<ManylinuxPolicy> policy_of(const Manylinux& manylinux, std::string_view platform_tag) {
  auto tag = modern(platform_tag);
  auto unknown = [&]() {
    return fail(ErrorKind::invalid_argument, "M013",
                fmt::format("nothing is known of the platform tag {}", platform_tag),
                fmt::format("known are manylinux_X_Y tags of {}", text::join(manylinux.machines, " and ")));
  };
  std::string_view rest = tag;
  auto machine = std::ranges::find_if(manylinux.machines, [&](const auto& name) { return rest.ends_with("_" + name); });
  if (!rest.starts_with("manylinux_") || machine == manylinux.machines.end()) return unknown();
  rest.remove_prefix(std::string_view("manylinux_").size());
  if (rest.size() <= machine->size()) return unknown();
  rest.remove_suffix(machine->size() + 1);
  auto glibc = number_of(rest, '_');
  if (!glibc || glibc->size() != 2) return unknown();
  const ManylinuxPolicy* below = nullptr;
  for (const auto& policy : manylinux.policies)
    if (policy.machine == *machine && *number_of(policy.glibc, '.') <= *glibc) below = &policy;
  if (!below) return unknown();
  auto policy = *below;
  policy.glibc = dotted(*glibc);
  return policy;
}

bool allows(const ManylinuxPolicy& policy, std::string_view symbol_version) {
  auto underscore = symbol_version.find('_');
  if (underscore == symbol_version.npos) return true;
  std::string family(symbol_version.substr(0, underscore));
  auto newest = policy.newest.find(family);
  std::string bound;
  if (newest != policy.newest.end()) bound = newest->second;
  if (family == "GLIBC" && (bound.empty() || *number_of(bound, '.') < *number_of(policy.glibc, '.')))
    bound = policy.glibc;
  if (bound.empty()) return true;
  auto asked = number_of(symbol_version.substr(underscore + 1), '.');
  if (!asked) return policy.also.contains(std::string(symbol_version));
  return *asked <= *number_of(bound, '.');
}

std::set<std::string> newest_of_families(const std::set<std::string>& symbol_versions) {
  std::set<std::string> out;
  std::map<std::string, std::pair<Number, std::string>> newest;
  for (const auto& version : symbol_versions) {
    auto underscore = std::min(version.find('_'), version.size() - 1);
    auto number = number_of(std::string_view(version).substr(underscore + 1), '.');
    auto family = version.substr(0, underscore);
    if (!number)
      out.insert(version);
    else if (auto& best = newest[family]; best.first < *number)
      best = {std::move(*number), version};
  }
  for (const auto& [family, best] : newest) out.insert(best.second);
  return out;
}

namespace {
bool allows_all(const ManylinuxPolicy& policy, const MachineNeeds& needs) {
  auto forbidden = [&](const auto& asked) {
    auto known = policy.private_symbols.find(asked.first);
    return known != policy.private_symbols.end() &&
           std::ranges::any_of(asked.second, [&](const auto& name) { return known->second.contains(name); });
  };
  return std::ranges::all_of(needs.versions, [&](const auto& version) { return allows(policy, version); }) &&
         std::ranges::includes(policy.libraries, needs.libraries) &&
         std::ranges::none_of(needs.private_symbols, forbidden);
}
} // namespace

const ManylinuxPolicy* oldest_that_allows(const Manylinux& manylinux, std::string_view machine,
                                          const MachineNeeds& needs) {
  auto it = std::ranges::find_if(manylinux.policies, [&](const ManylinuxPolicy& policy) {
    return policy.machine == machine && allows_all(policy, needs);
  });
  return it == manylinux.policies.end() ? nullptr : &*it;
}

} // namespace quarry::dist
