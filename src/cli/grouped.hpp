#pragma once
// Findings for people to read: what repeats is said once. For commands that look at many places. Pure.
#include "base/finding.hpp"
#include <string_view>

namespace quarry::cli {

/// Findings that differ in their place alone become one, which names the first places and counts the others; a fix is
/// kept at its first finding. Order: of the first of each group, errors before warnings before notes.
/// A group of the code `whole` names every place.
Findings grouped(const Findings& findings, std::string_view whole = {});

} // namespace quarry::cli
