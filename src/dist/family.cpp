#include "dist/family.hpp"

#include "base/text.hpp"

namespace quarry::dist {

std::string family_key(std::string_view family) {
  std::string key;
  for (char c : text::lower(family)) {
    bool separator = c == '-' || c == '_' || c == '.';
    if (separator && !key.empty() && key.back() == '-') continue;
    key += separator ? '-' : c;
  }
  return key;
}

std::string family_name(std::string_view family) {
  constexpr std::string_view k_prefix = "gfx", k_hex = "0123456789abcdef";
  auto key = family_key(family);
  if (!key.starts_with(k_prefix)) return std::string(family);
  auto end = key.find_first_not_of(k_hex, k_prefix.size());
  if (end == k_prefix.size()) return std::string(family);
  if (end == key.npos || key[end] != 'x') return key;
  key[end] = 'X';
  return key;
}

std::string family_of(std::string_view project, const std::vector<std::string>& patterns) {
  for (const auto& pattern : patterns) {
    auto at = pattern.find("{family}");
    auto before = family_key(pattern.substr(0, at)), after = family_key(pattern.substr(at + 8));
    bool fits =
        project.size() > before.size() + after.size() && project.starts_with(before) && project.ends_with(after);
    if (fits) return family_key(project.substr(before.size(), project.size() - before.size() - after.size()));
  }
  return {};
}

bool belongs(const TargetOfFamily& pair) {
  auto key = family_key(pair.family);
  auto wanted = key.substr(0, key.find('-'));
  auto target = text::lower(pair.target.substr(0, pair.target.find(':')));
  if (!wanted.starts_with("gfx") || !target.starts_with("gfx") || wanted.size() != target.size()) return false;
  bool open = wanted.back() == 'x'; // the last digit is the stepping
  auto compared = open ? wanted.size() - 1 : wanted.size();
  return wanted.compare(0, compared, target, 0, compared) == 0;
}

std::string family_of_libraries(std::string_view project) {
  return family_of(project, {std::string(k_libraries_project)});
}

bool holds_libraries(std::string_view project) {
  constexpr std::string_view k_of_all_families = "rocm-sdk-libraries";
  return project == k_of_all_families || !family_of_libraries(project).empty();
}

std::string target_of_device_code(std::string_view project) {
  return family_of(project, {std::string(k_device_project)});
}

} // namespace quarry::dist
