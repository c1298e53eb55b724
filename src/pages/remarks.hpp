#pragma once
// Private to the room.
// What people should know of packages before they install them. Pure.
#include "registry/records.hpp"
#include <string>
#include <vector>

namespace quarry::pages {

/// Sentences about a project of a channel's view, or about all of them if `project` is empty: extras that cannot be
/// installed (registry/empty_extras.hpp) and waivers (registry/waived.hpp). Each is there once.
std::vector<std::string> remarks_about(const registry::ViewRecord& view, const std::string& project);

} // namespace quarry::pages
