#include "cli/wheel_rules.hpp"

#include "inspect/entry_point_rules.hpp"
#include "inspect/import_name_rules.hpp"
#include "inspect/layout_rules.hpp"
#include "inspect/machine_rules.hpp"
#include "inspect/metadata_rules.hpp"
#include "inspect/set_rules.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <iterator>

namespace quarry::cli {

namespace {
constexpr const char* k_windows_paths = "data/windows-paths.toml";
constexpr const char* k_metadata_values = "data/metadata-values.toml";
} // namespace

Result<inspect::WindowsPaths> load_windows_paths(const Context& context) {
  return inspect::parse_windows_paths({context.resources.read(k_windows_paths).value_or(""), k_windows_paths});
}

Result<inspect::MetadataValues> load_metadata_values(const Context& context) {
  return inspect::parse_metadata_values({context.resources.read(k_metadata_values).value_or(""), k_metadata_values});
}

Findings findings_of_wheels(const std::vector<InspectedWheel>& wheels, const Tables& tables, const WheelRules& rules) {
  Findings findings;
  auto add = [&](Findings more) { std::ranges::move(more, std::back_inserter(findings)); };
  std::vector<inspect::JudgedWheel> judged;
  std::vector<const inspect::WheelContents*> all;
  std::vector<inspect::Competitor> competitors;
  for (const auto& wheel : wheels) {
    add(wheel.contents.report.findings);
    add(inspect::check_metadata(wheel.contents, rules.values));
    add(inspect::check_import_names(wheel.contents));
    add(inspect::check_paths(wheel.contents, rules.windows));
    add(inspect::check_layout(wheel.contents));
    add(inspect::check_stable_abi(wheel.contents, tables.stable_abi));
    judged.push_back({&wheel.contents, wheel.verdict});
    all.push_back(&wheel.contents);
    if (const auto& report = wheel.contents.report; report.name)
      competitors.push_back(
          {std::string(path::basename(wheel.contents.path)), wheel.contents.path, *report.name, report.sha256});
  }
  add(inspect::check_entry_points(all));
  add(inspect::check_set(competitors));
  add(inspect::check_machine_code(judged, {tables.platforms(), tables.windows, rules.allowed}));
  add(inspect::judge(device_code_of(wheels), rules.asked).findings);
  return findings;
}

} // namespace quarry::cli
