#include "registry/view_fields.hpp"

#include <nlohmann/json.hpp>

namespace quarry::registry {

Json view_fields(const ViewRecord& view) {
  auto fields = json::parse({view.unknown.empty() ? "{}" : view.unknown, "kept fields"});
  return fields && fields->is_object() ? std::move(*fields) : Json::object();
}

void set_view_fields(ViewRecord& view, const Json& fields) {
  if (fields.empty()) return view.unknown.clear();
  if (auto bytes = json::canonical(fields)) view.unknown = std::move(*bytes);
}

} // namespace quarry::registry
