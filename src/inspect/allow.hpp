#pragma once
// A table of differences that are expected, with their reasons (docs/formats/differences.md): a line is
// `PACKAGE<TAB>PLACE GLOB<TAB>REASON`.
#include "base/data_text.hpp"
#include "base/result.hpp"
#include <string>
#include <string_view>
#include <vector>

namespace quarry::inspect {

struct AllowRow {
  std::string package, place, reason; ///< place: a glob
  int line = 0;
};

struct Allowed {
  std::string file;
  std::vector<AllowRow> rows;
  /// The first row that fits; nullptr: none does.
  const AllowRow* find(std::string_view package, std::string_view place) const;
};

/// invalid_argument Q001 with "file:line" for a line that has not three parts, or no reason.
Result<Allowed> parse_allowed(NamedText named);

} // namespace quarry::inspect
