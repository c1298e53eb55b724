#include "matrix/families.hpp"

#include "base/text.hpp"
#include "digest/sha256.hpp"
#include <algorithm>
#include <array>

namespace quarry::matrix {

namespace {
bool same(std::string_view a, std::string_view b) { return text::lower(a) == text::lower(b); }

constexpr std::array<std::pair<Scope, std::string_view>, 5> k_scopes = {{{Scope::all, "all"},
                                                                         {Scope::sanity, "sanity"},
                                                                         {Scope::nightly, "nightly"},
                                                                         {Scope::full, "full"},
                                                                         {Scope::submodule, "submodule"}}};
} // namespace

std::string_view to_string(Scope scope) { return k_scopes[static_cast<std::size_t>(scope)].second; }

std::optional<Scope> parse_scope(std::string_view text) {
  for (const auto& [scope, name] : k_scopes)
    if (name == text) return scope;
  return std::nullopt;
}

const std::vector<std::string>& scope_names() {
  static const std::vector<std::string> k_names = [] {
    std::vector<std::string> names;
    for (const auto& [scope, name] : k_scopes) names.emplace_back(name);
    return names;
  }();
  return k_names;
}

const std::vector<std::string>& platform_names() {
  static const std::vector<std::string> k_names(Platform::k_texts.begin(), Platform::k_texts.end());
  return k_names;
}

const std::vector<std::string>& purposes() {
  static const std::vector<std::string> k_names = {"test", "sandbox", "multi-gpu", "benchmark"};
  return k_names;
}

const Runners* Place::find(std::string_view purpose) const {
  auto found = runners.find(std::string(purpose));
  return found == runners.end() ? nullptr : &found->second;
}

const Place* Family::find(const Platform& platform) const {
  for (const auto& place : places)
    if (place.platform == platform) return &place;
  return nullptr;
}

std::vector<std::string> Families::targets_of(std::string_view wanted) const {
  std::vector<std::string> found;
  for (const auto& target : targets) {
    bool in_group =
        std::any_of(target.groups.begin(), target.groups.end(), [&](const auto& g) { return same(g, wanted); });
    if (in_group || same(target.name, wanted)) found.push_back(target.name);
  }
  return found;
}

const Family* Families::find(std::string_view wanted) const {
  for (const auto& family : families)
    if (same(family.key, wanted) || same(family.name, wanted)) return &family;
  return nullptr;
}

const Variant* Families::variant(const Platform& platform, std::string_view wanted) const {
  auto list = variants.find(platform);
  if (list == variants.end()) return nullptr;
  for (const auto& variant : list->second)
    if (variant.name == wanted) return &variant;
  return nullptr;
}

std::string heaviest(const Runners& runners) {
  auto best = std::max_element(runners.begin(), runners.end(),
                               [](const Runner& a, const Runner& b) { return a.weight < b.weight; });
  return best == runners.end() ? std::string() : best->label;
}

std::string choose(const Runners& runners, std::string_view seed) {
  if (runners.size() <= 1 || seed.empty()) return heaviest(runners);
  std::uint64_t total = 0, drawn = 0;
  for (const auto& runner : runners) total += static_cast<std::uint64_t>(runner.weight);
  if (total == 0) return heaviest(runners);
  auto bytes = sha256(seed).bytes;
  for (int i = 0; i < 8; ++i) drawn = drawn << 8 | bytes[static_cast<std::size_t>(i)];
  drawn %= total;
  for (const auto& runner : runners) {
    if (drawn < static_cast<std::uint64_t>(runner.weight)) return runner.label;
    drawn -= static_cast<std::uint64_t>(runner.weight);
  }
  return heaviest(runners);
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace quarry::matrix
