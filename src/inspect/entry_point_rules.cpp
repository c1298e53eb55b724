#include "inspect/entry_point_rules.hpp"

#include "base/text.hpp"
#include "inspect/installed_modules.hpp"
#include "inspect/module_names.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <string>
#include <string_view>

namespace quarry::inspect {

namespace {
constexpr std::size_t k_entry_point_findings_max = 100;

std::string dist_info_place(const WheelContents& wheel, std::string_view file) {
  return fmt::format("{}!{}/{}", wheel.file, wheel.report.name->dist_info(), file);
}

void check_modules(const WheelContents& wheel, const Modules& modules, Findings& findings) {
  for (const auto& point : wheel.report.entry_points) {
    if (!point.is_reference() || point.module.empty()) continue;
    auto module = text::replace_all(point.module, ".", "/");
    if (modules.contains(module)) continue;
    bool ours = modules.contains(std::string_view(module).substr(0, module.find('/')));
    findings.push_back({"Q221", ours ? Severity::warning : Severity::note, dist_info_place(wheel, "entry_points.txt"),
                        fmt::format("{} in [{}] names the module {}, which no wheel that was given has", point.name,
                                    point.group, point.module),
                        "correct the module, or give the wheel that holds it as well"});
  }
}

/// The source of a module that this wheel has, if no other wheel may have a module of the name, too.
const std::string* source_of_module(std::span<const WheelContents* const> wheels, const WheelContents& wheel,
                                    const std::string& module) {
  for (const auto* end : {".py", "/__init__.py"}) {
    auto found = wheel.sources.find(module + end);
    if (found == wheel.sources.end()) continue;
    auto holds = [&](const WheelContents* one) {
      return std::ranges::any_of(std::initializer_list{module + ".", module + "/"}, [&](const std::string& stem) {
        auto at = one->installed.lower_bound(stem);
        return at != one->installed.end() && at->starts_with(stem);
      });
    };
    auto holders = std::ranges::count_if(wheels, holds);
    return holders == 1 ? &found->second : nullptr;
  }
  return nullptr;
}

void check_attributes(std::span<const WheelContents* const> wheels, const WheelContents& wheel, const Modules& modules,
                      Findings& findings) {
  for (const auto& point : wheel.report.entry_points) {
    if (!point.is_reference() || point.attribute.empty()) continue;
    auto module = text::replace_all(point.module, ".", "/");
    auto name = point.attribute.substr(0, point.attribute.find('.'));
    if (modules.contains(module + "/" + name)) continue; // a module of a package becomes its attribute once imported
    const auto* source = source_of_module(wheels, wheel, module);
    if (!source || !surely_lacks(*source, name)) continue;
    findings.push_back({"Q223", Severity::warning, dist_info_place(wheel, "entry_points.txt"),
                        fmt::format("{} in [{}] names {}:{}, and the source of {} does not mention {}", point.name,
                                    point.group, point.module, point.attribute, point.module, name),
                        "correct the name behind the colon"});
  }
}

void check_tag_lines(const WheelContents& wheel, Findings& findings) {
  for (const auto& tag : wheel.report.wheel_info->tags)
    if (tag.find('.') != tag.npos)
      findings.push_back({"Q222", Severity::note, dist_info_place(wheel, "WHEEL"),
                          fmt::format("Tag: {} is a compressed set", tag), "write one Tag line for each combination"});
}
} // namespace

Findings check_entry_points(std::span<const WheelContents* const> wheels) {
  bool any = std::ranges::any_of(wheels, [](const auto* wheel) { return !wheel->report.entry_points.empty(); });
  auto modules = any ? modules_of(wheels) : Modules();
  Findings findings;
  for (const auto* wheel : wheels) {
    if (!wheel->report.name) continue;
    check_modules(*wheel, modules, findings);
    check_attributes(wheels, *wheel, modules, findings);
    if (wheel->report.wheel_info) check_tag_lines(*wheel, findings);
  }
  if (findings.size() > k_entry_point_findings_max) findings.resize(k_entry_point_findings_max);
  return findings;
}

} // namespace quarry::inspect
