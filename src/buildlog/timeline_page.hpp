#pragma once
// The timeline of builds as one HTML page, which needs no other file and no network. Pure.
#include "buildlog/compare.hpp"
#include "buildlog/times.hpp"
#include <string>
#include <vector>

namespace quarry::buildlog {

/// One bar chart for each log, with the phases as a table below, and the savings asked for. Names are escaped.
std::string timeline_page(const std::vector<TimeReport>& reports, const std::vector<Saving>& savings);

} // namespace quarry::buildlog
