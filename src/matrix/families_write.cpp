#include "matrix/families.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <cctype>
#include <fmt/core.h>

namespace quarry::matrix {

namespace {
std::string toml_string(std::string_view value) {
  std::string out = "\"";
  for (char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    else
      out += c;
  }
  return out + "\"";
}

/// A key as people write it: bare where TOML allows it.
std::string key_of(std::string_view name) {
  bool bare = !name.empty() && std::all_of(name.begin(), name.end(),
                                           [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; });
  return bare ? std::string(name) : toml_string(name);
}

std::string list(const std::vector<std::string>& values) {
  std::vector<std::string> parts;
  for (const auto& value : values) parts.push_back(toml_string(value));
  return "[" + text::join(parts, ", ") + "]";
}

std::string runners_table(const Runners& runners) {
  std::vector<std::string> parts;
  for (const auto& runner : runners) parts.push_back(fmt::format("{} = {}", key_of(runner.label), runner.weight));
  return "{ " + text::join(parts, ", ") + " }";
}

std::string place_text(const Family& family, const Place& place) {
  auto out = fmt::format("\n[family.{}.{}]\n", key_of(family.key), place.platform);
  if (!place.fetch.empty()) out += fmt::format("fetch = {}\n", list(place.fetch));
  out += fmt::format("variants = {}\n", list(place.variants));
  for (const auto& purpose : purposes())
    if (const auto* runners = place.find(purpose))
      out += fmt::format("runners.{} = {}\n", purpose, runners_table(*runners));
  std::vector<std::string> kernels;
  for (const auto& [kernel, label] : place.kernels)
    kernels.push_back(fmt::format("{} = {}", key_of(kernel), toml_string(label)));
  if (!kernels.empty()) out += "kernels = { " + text::join(kernels, ", ") + " }\n";
  if (place.tests != Scope::all) out += fmt::format("tests = {}\n", toml_string(to_string(place.tests)));
  if (!place.expected_failure.empty()) out += fmt::format("expected_failure = {}\n", list(place.expected_failure));
  if (place.release_untested) out += "release_untested = true\n";
  if (!place.reason.empty()) out += fmt::format("reason = {}\n", toml_string(place.reason));
  return out;
}

std::string variants_text(const Families& families) {
  std::string out =
      "\n# How things are built: suffix of the artifact group, CMake preset, which runners build and test it.\n";
  for (const auto& [platform, variants] : families.variants)
    for (const auto& variant : variants) {
      std::vector<std::string> parts;
      if (!variant.suffix.empty()) parts.push_back("suffix = " + toml_string(variant.suffix));
      if (!variant.preset.empty()) parts.push_back("preset = " + toml_string(variant.preset));
      if (variant.build != "default") parts.push_back("build = " + toml_string(variant.build));
      if (variant.test != Variant().test) parts.push_back("test = " + list(variant.test));
      if (variant.expected_failure) parts.push_back("expected_failure = true");
      out += fmt::format("variant.{}.{} = {{{}{}}}\n", platform, key_of(variant.name), parts.empty() ? "" : " ",
                         parts.empty() ? "" : text::join(parts, ", ") + " ");
    }
  for (const auto& [platform, kinds] : families.build_runners)
    for (const auto& [kind, runners] : kinds)
      out += fmt::format("build_runners.{}.{} = {}\n", platform, key_of(kind), runners_table(runners));
  return out;
}

std::string targets_text(const Families& families) {
  std::string out =
      "\n# GPU targets and the families (groups) that they belong to, in the order of builds.\n[target]\n";
  for (const auto& target : families.targets)
    out += fmt::format("{} = {{ product = {}, groups = {} }}\n", key_of(target.name), toml_string(target.product),
                       list(target.groups));
  return out;
}
} // namespace

std::string write_families(const Families& families) {
  auto out =
      fmt::format("schema = \"quarry.families/1\"\nname = {}\n\n# From which trigger on a family runs: the first tier "
                  "is the strongest.\ntiers = {}\n",
                  toml_string(families.name), list(families.tiers));
  for (const auto& [event, tiers] : families.triggers)
    out += fmt::format("trigger.{} = {}\n", key_of(event), list(tiers));
  out += variants_text(families) + targets_text(families);
  for (const auto& family : families.families) {
    out += fmt::format("\n[family.{}]\nname = {}\ntier = {}\n", key_of(family.key), toml_string(family.name),
                       toml_string(family.tier));
    for (const auto& place : family.places) out += place_text(family, place);
  }
  return out;
}

} // namespace quarry::matrix
