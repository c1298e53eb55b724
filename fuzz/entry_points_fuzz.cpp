// entry_points.txt: what was read and written again is the same set.
#include "dist/metadata.hpp"
#include "fuzzing.hpp"
#include <algorithm>

using namespace quarry;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto points = dist::parse_entry_points(fuzzing::as_text(data, size));
  if (!points) return 0;
  auto again = dist::parse_entry_points(dist::render_entry_points(*points));
  fuzzing::require(again.has_value());
  std::sort(points->begin(), points->end());
  std::sort(again->begin(), again->end());
  fuzzing::require(*points == *again);
  return 0;
}
