#include "sdk/manylinux.hpp"

#include "base/text.hpp"
#include "base/toml.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <optional>

namespace quarry::sdk {

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

Result<ManylinuxPolicy> parse_policy(TomlTable& table, const std::vector<std::string>& libraries) {
  ManylinuxPolicy policy;
  std::vector<std::pair<std::string, std::string>> newest;
  std::vector<std::string> also, without;
  TRY_DO(table.text("glibc", policy.glibc, true));
  TRY_DO(table.text_map("newest", newest));
  TRY_DO(table.texts("also", also));
  TRY_DO(table.texts("without", without));
  policy.newest = {newest.begin(), newest.end()};
  for (const auto& [family, version] : policy.newest)
    if (!number_of(version, '.')) return table.error("newest", fmt::format("{} is not a version", version));
  if (!number_of(policy.glibc, '.')) return table.error("glibc", fmt::format("{} is not a version", policy.glibc));
  policy.also = {also.begin(), also.end()};
  policy.libraries = {libraries.begin(), libraries.end()};
  for (const auto& name : without) policy.libraries.erase(name);
  return policy;
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

Result<Manylinux> parse_manylinux(std::string_view text, const std::string& file) {
  TRY(auto root, TomlTable::parse(text, file, "S001", "S002", "docs/guides/own-recipe.md"));
  Manylinux out;
  std::string schema;
  std::vector<std::string> libraries;
  TRY_DO(root.choice("schema", schema, {"quarry.manylinux/1"}, true));
  TRY_DO(root.text("machine", out.machine, true));
  TRY_DO(root.texts("libraries", libraries));
  TRY_DO(root.tables("policy", [&](TomlTable& table) -> Result<void> {
    TRY(auto policy, parse_policy(table, libraries));
    policy.machine = out.machine;
    out.policies.push_back(std::move(policy));
    return {};
  }));
  TRY_DO(root.finish());
  std::sort(out.policies.begin(), out.policies.end(),
            [](const auto& a, const auto& b) { return *number_of(a.glibc, '.') < *number_of(b.glibc, '.'); });
  return out;
}

Result<ManylinuxPolicy> policy_of(const Manylinux& manylinux, std::string_view platform_tag) {
  auto tag = modern(platform_tag);
  auto unknown = [&]() {
    return fail(ErrorKind::invalid_argument, "S038",
                fmt::format("no verdict can be given for the platform tag {}", platform_tag),
                fmt::format("use linux_{0}, which promises nothing, or manylinux_X_Y_{0}", manylinux.machine));
  };
  std::string_view rest = tag;
  if (!rest.starts_with("manylinux_") || !rest.ends_with("_" + manylinux.machine)) return unknown();
  rest.remove_prefix(std::string_view("manylinux_").size());
  rest.remove_suffix(manylinux.machine.size() + 1);
  auto glibc = number_of(rest, '_');
  if (!glibc || glibc->size() != 2) return unknown();
  const ManylinuxPolicy* below = nullptr;
  for (const auto& policy : manylinux.policies)
    if (*number_of(policy.glibc, '.') <= *glibc) below = &policy;
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
  auto bound = family == "GLIBC" ? policy.glibc : newest == policy.newest.end() ? std::string() : newest->second;
  if (bound.empty()) return true;
  auto asked = number_of(symbol_version.substr(underscore + 1), '.');
  if (!asked) return policy.also.contains(std::string(symbol_version));
  return *asked <= *number_of(bound, '.');
}

const ManylinuxPolicy* oldest_that_allows(const Manylinux& manylinux, const std::set<std::string>& symbol_versions) {
  auto it = std::find_if(manylinux.policies.begin(), manylinux.policies.end(), [&](const ManylinuxPolicy& policy) {
    return std::all_of(symbol_versions.begin(), symbol_versions.end(),
                       [&](const std::string& version) { return allows(policy, version); });
  });
  return it == manylinux.policies.end() ? nullptr : &*it;
}

} // namespace quarry::sdk
