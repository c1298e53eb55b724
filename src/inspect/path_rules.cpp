#include "inspect/path_rules.hpp"

#include "base/text.hpp"
#include "base/toml.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <vector>

namespace quarry::inspect {

namespace {
constexpr const char* k_paths_code = "Q009";
constexpr std::size_t k_paths_named = 3;
constexpr std::string_view k_beside_site_packages = "../"; // scripts, headers and data have shorter prefixes

/// A character outside the basic plane has four bytes in UTF-8 and two units in UTF-16.
std::int64_t utf16_units(std::string_view utf8) {
  std::int64_t units = 0;
  for (char c : utf8) {
    auto byte = static_cast<unsigned char>(c);
    units += (byte & 0xc0) == 0x80 ? 0 : byte >= 0xf0 ? 2 : 1;
  }
  return units;
}

bool is_for_windows(const dist::WheelName& name) {
  auto platforms = text::split(text::lower(name.tags.platform), '.');
  return std::ranges::any_of(platforms, [](const auto& tag) { return tag == "any" || tag.starts_with("win"); });
}

bool is_too_long(std::string_view path, const WindowsPaths& paths) {
  if (path.starts_with(k_beside_site_packages)) return false;
  auto slash = path.rfind('/');
  auto directory = slash == path.npos ? std::string_view() : path.substr(0, slash);
  return paths.prefix + utf16_units(path) > paths.file_max ||
         paths.prefix + utf16_units(directory) > paths.directory_max;
}
} // namespace

Result<WindowsPaths> parse_windows_paths(NamedText named) {
  TRY(auto root, TomlTable::parse({named.text, named.name}, {k_paths_code, k_paths_code, "data/windows-paths.toml"}));
  WindowsPaths paths;
  std::string schema;
  TRY_DO(root.choice("schema", schema, {"quarry.windows-paths/1"}, true));
  TRY_DO(root.integer("file_max", paths.file_max, true));
  TRY_DO(root.integer("directory_max", paths.directory_max, true));
  TRY_DO(root.integer("prefix", paths.prefix, true));
  TRY_DO(root.finish());
  if (paths.prefix < 0 || paths.directory_max < paths.prefix || paths.file_max < paths.directory_max)
    return root.error("prefix", "0, prefix, directory_max and file_max must be in rising order");
  return paths;
}

Findings check_paths(const WheelContents& wheel, const WindowsPaths& paths) {
  if (!wheel.report.name || !is_for_windows(*wheel.report.name)) return {};
  std::vector<std::string> found;
  for (const auto& path : wheel.installed)
    if (is_too_long(path, paths)) found.push_back(path);
  if (found.empty()) return {};
  std::ranges::stable_sort(found, std::ranges::greater(), [](const std::string& path) { return utf16_units(path); });
  return {{"Q231", Severity::warning, wheel.file,
           fmt::format("paths are too long for Windows below a site-packages of {} characters, the longest with {}: {}",
                       paths.prefix, utf16_units(found.front()), text::first(found, k_paths_named)),
           "shorten the paths; --windows-prefix judges them below another directory"}};
}

} // namespace quarry::inspect
