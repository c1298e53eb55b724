#pragma once
// Private to the room.
// Treemaps: a rectangle that is divided among values by their size, in pieces that are as square as possible (the
// "squarified" layout of Bruls, Huizing and van Wijk). Pure, thread-safe.
#include <vector>

namespace quarry::inspect {

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
};

/// One box for each value, in the order of `values`, which must fall and be positive. The boxes fill `area` without
/// overlap. Time: quadratic in the number of values at worst; callers pass some tens.
std::vector<Box> treemap(const std::vector<double>& values, Box area);

} // namespace quarry::inspect
