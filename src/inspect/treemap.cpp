#include "inspect/treemap.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace quarry::inspect {

namespace {
/// The worst ratio of sides in a row of areas from `largest` to `smallest`, laid along a side of length `side`.
double worst_ratio(double sum, double largest, double smallest, double side) {
  auto thickness = sum / side;
  return std::max(largest / (thickness * thickness), thickness * thickness / smallest);
}

/// Lays the areas [first, last) along the shorter side of `area`; returns what remains of it.
Box lay_row(const std::vector<double>& areas, std::size_t first, std::size_t last, Box area, std::vector<Box>& out) {
  auto sum = std::accumulate(areas.begin() + static_cast<std::ptrdiff_t>(first),
                             areas.begin() + static_cast<std::ptrdiff_t>(last), 0.0);
  bool upright = area.width >= area.height; // the row stands at the left
  auto side = upright ? area.height : area.width, thickness = sum / side, at = upright ? area.y : area.x;
  for (auto i = first; i < last; ++i) {
    auto length = areas[i] / thickness;
    out.push_back(upright ? Box{area.x, at, thickness, length} : Box{at, area.y, length, thickness});
    at += length;
  }
  if (upright) return {area.x + thickness, area.y, std::max(0.0, area.width - thickness), area.height};
  return {area.x, area.y + thickness, area.width, std::max(0.0, area.height - thickness)};
}
} // namespace

std::vector<Box> treemap(const std::vector<double>& values, Box area) {
  auto all = std::accumulate(values.begin(), values.end(), 0.0);
  std::vector<double> areas;
  for (auto value : values) areas.push_back(value / all * area.width * area.height);
  std::vector<Box> out;
  for (std::size_t first = 0; first < areas.size();) {
    auto side = std::min(area.width, area.height);
    if (side <= 0) { // nothing is left but rounding
      out.resize(areas.size(), {area.x, area.y, 0, 0});
      break;
    }
    auto last = first + 1;
    auto sum = areas[first], ratio = worst_ratio(sum, areas[first], areas[first], side);
    for (; last < areas.size(); ++last) {
      auto next = worst_ratio(sum + areas[last], areas[first], areas[last], side);
      if (next > ratio) break;
      sum += areas[last];
      ratio = next;
    }
    area = lay_row(areas, first, last, area, out);
    first = last;
  }
  return out;
}

} // namespace quarry::inspect
