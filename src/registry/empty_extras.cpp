#include "registry/empty_extras.hpp"

#include "registry/view_fields.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::registry {

namespace {
constexpr const char* k_empty_extras = "empty_extras";
} // namespace

std::string name_of(const EmptyExtra& empty) {
  return fmt::format("{}[{}] {}", empty.project, empty.extra, empty.version);
}

std::vector<EmptyExtra> empty_extras_of(const ViewRecord& view) {
  if (view.unknown.empty()) return {};
  auto kept = view_fields(view);
  auto list = kept.find(k_empty_extras);
  if (list == kept.end() || !list->is_array()) return {};
  std::vector<EmptyExtra> extras;
  for (const auto& item : *list) {
    if (!item.is_object()) continue;
    EmptyExtra extra{json::string_or(item, "project", ""), json::string_or(item, "version", ""),
                     json::string_or(item, "extra", ""), json::string_or(item, "lacks", "")};
    if (!extra.project.empty() && !extra.extra.empty()) extras.push_back(std::move(extra));
  }
  std::sort(extras.begin(), extras.end());
  return extras;
}

void set_empty_extras(ViewRecord& view, std::vector<EmptyExtra> extras) {
  std::sort(extras.begin(), extras.end());
  extras.erase(std::unique(extras.begin(), extras.end()), extras.end());
  auto kept = view_fields(view);
  kept.erase(k_empty_extras);
  for (const auto& one : extras)
    kept[k_empty_extras].push_back(
        {{"project", one.project}, {"version", one.version}, {"extra", one.extra}, {"lacks", one.lacks}});
  set_view_fields(view, kept);
}

} // namespace quarry::registry
