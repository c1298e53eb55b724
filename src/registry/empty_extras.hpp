#pragma once
// Extras that nobody can install from a channel: a package of the channel has the extra, and the channel lacks the
// package that the extra requires. The policy lists these extras, so it let the first package in without the second.
// Kept among the JSON fields of the view (docs/formats/records.md, "empty_extras"), so that a rollback brings the list
// of its time back. Pure.
#include "registry/records.hpp"
#include <compare>
#include <string>
#include <vector>

namespace quarry::registry {

struct EmptyExtra {
  std::string project, version, extra; ///< "rocm", "7.2.0", "libraries-gfx1153"
  std::string lacks;                   ///< the project that is not there: "rocm-sdk-libraries-gfx1153"
  auto operator<=>(const EmptyExtra&) const = default;
};

/// "rocm[libraries-gfx1153] 7.2.0"
std::string name_of(const EmptyExtra& empty);

/// Sorted. Entries that are not such objects, or lack a project or an extra, are left out.
std::vector<EmptyExtra> empty_extras_of(const ViewRecord& view);
/// Replaces the list: sorted, each once; an empty one leaves no field. Text that is not UTF-8 changes nothing.
void set_empty_extras(ViewRecord& view, std::vector<EmptyExtra> extras);

} // namespace quarry::registry
