#include "registry/waived.hpp"

#include "base/text.hpp"
#include "registry/view_fields.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::registry {

namespace {

constexpr const char* k_waived = "waived";

std::vector<std::string> sorted_texts_in(const Json& object, const char* key) {
  std::vector<std::string> texts;
  auto list = object.find(key);
  if (list == object.end() || !list->is_array()) return texts;
  for (const auto& text : *list)
    if (text.is_string()) texts.push_back(text.get<std::string>());
  std::sort(texts.begin(), texts.end()); // remarks_about() searches them, and other programs may not sort
  return texts;
}

} // namespace

std::string words_of(const Cell& cell) {
  std::vector<std::string> parts;
  for (const auto& part : {std::string(cell.platform.text()), cell.family,
                           cell.python.empty() ? cell.python : "py" + cell.python, cell.framework, cell.backend})
    if (!part.empty()) parts.push_back(part);
  return text::join(parts, " ");
}

std::string sentence_of(const Waived& waived) {
  constexpr std::size_t k_cells_said = 3;
  auto cells = waived.cells.empty() ? std::string("every cell") : text::first(waived.cells, k_cells_said);
  return fmt::format("{} waived {} on {} until {}: {}", waived.approver,
                     waived.suite.empty() ? "every suite" : waived.suite, cells, waived.expires, waived.reason);
}

std::vector<Waived> waived_of(const ViewRecord& view) {
  if (view.unknown.empty()) return {};
  auto fields = view_fields(view);
  auto list = fields.find(k_waived);
  if (list == fields.end() || !list->is_array()) return {};
  std::vector<Waived> found;
  for (const auto& item : *list) {
    if (!item.is_object()) continue;
    auto text = [&](const char* key) { return json::string_or(item, key, ""); };
    auto set = SetDigest::parse(text("set"));
    auto waiver = WaiverDigest::parse(text("waiver"));
    if (!set || !waiver) continue;
    found.push_back({*set, *waiver, text("suite"), text("approver"), text("reason"), text("expires"),
                     sorted_texts_in(item, "cells"), sorted_texts_in(item, "projects")});
  }
  std::sort(found.begin(), found.end());
  return found;
}

void set_waived(ViewRecord& view, std::vector<Waived> waived) {
  std::sort(waived.begin(), waived.end());
  waived.erase(std::unique(waived.begin(), waived.end()), waived.end());
  auto fields = view_fields(view);
  fields.erase(k_waived);
  for (const auto& one : waived)
    fields[k_waived].push_back({{"set", one.set},
                                {"waiver", one.waiver},
                                {"suite", one.suite},
                                {"approver", one.approver},
                                {"reason", one.reason},
                                {"expires", one.expires},
                                {"cells", one.cells},
                                {"projects", one.projects}});
  set_view_fields(view, fields);
}

} // namespace quarry::registry
