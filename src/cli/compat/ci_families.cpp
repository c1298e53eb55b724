#include "cli/compat/ci_families.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/families.hpp"
#include "matrix/overlay.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli::compat {

namespace {

constexpr std::uint64_t k_config_max = 4u << 20; // runner-config.json of August 2026 has 20 KB
constexpr std::string_view k_overrides = "EXTERNAL_FAMILY_OVERRIDES";
constexpr std::string_view k_test_labels = "test_labels_for_family";

matrix::Families tell_notes(Context& context, matrix::Overlaid overlaid) {
  for (const auto& note : overlaid.notes) context.out.warn("warning: " + note);
  return std::move(overlaid.families);
}

/// The newest form first; empty: the directory has neither.
std::string file_of_machines(const std::string& directory) {
  for (const auto* name : {"runner-config-v2.json", "runner-config.json"})
    if (auto file = path::join(directory, name); sys::exists(file)) return file;
  return {};
}

} // namespace

Result<matrix::Families> load_families_of_ci(Context& context, const std::string& named) {
  TRY(auto families, load_families(context, named));
  std::string directory(text::trim(context.variable("CI_CONFIG_PATH")));
  if (directory.empty() || !sys::is_directory(directory)) return families;
  auto file = file_of_machines(directory);
  if (file.empty()) {
    context.out.warn(fmt::format("warning: CI_CONFIG_PATH ({}) holds neither runner-config-v2.json nor "
                                 "runner-config.json: the machines are those of the families file",
                                 directory));
    return families;
  }
  TRY(auto written, sys::read_file(file, k_config_max), "while reading the machines of CI_CONFIG_PATH");
  TRY(auto config, json::parse({written, file}));
  TRY(auto overlaid, matrix::overlay_machines(families, {config, file}));
  return tell_notes(context, std::move(overlaid));
}

const std::string* FamilyOverrides::labels_of(const std::string& family, const Platform& platform) const {
  auto found = test_labels.find(fmt::format("{}.{}", family, platform));
  return found == test_labels.end() ? nullptr : &found->second;
}

Result<FamilyOverrides> family_overrides(const Context& context) {
  FamilyOverrides out;
  std::string said(text::trim(context.variable(std::string(k_overrides))));
  if (said.empty()) return out;
  TRY(auto table, json::parse({said, k_overrides}));
  if (table.empty()) return out; // null, too
  if (table.is_object())
    for (auto& [family, platforms] : table.items()) {
      if (!platforms.is_object()) continue; // overlay_families() names it
      for (auto& [platform, fields] : platforms.items()) {
        if (!fields.is_object() || !fields.contains(k_test_labels)) continue;
        out.test_labels[family + "." + platform] = json::text(fields[std::string(k_test_labels)]);
        fields.erase(std::string(k_test_labels));
      }
    }
  out.table = json::text(table);
  return out;
}

Result<matrix::Families> with_overrides(Context& context, matrix::Families families, const FamilyOverrides& overrides) {
  if (overrides.table.empty()) return families;
  TRY(auto table, json::parse({overrides.table, k_overrides}));
  TRY(auto overlaid, matrix::overlay_families(families, {table, k_overrides}));
  return tell_notes(context, std::move(overlaid));
}

} // namespace quarry::cli::compat
