#include "inspect/allow.hpp"

#include "base/text.hpp"
#include <fmt/core.h>

namespace quarry::inspect {

const AllowRow* Allowed::find(std::string_view package, std::string_view place) const {
  for (const auto& row : rows)
    if (row.package == package && text::glob_match(row.place, place)) return &row;
  return nullptr;
}

Result<Allowed> parse_allowed(NamedText named) {
  const auto text = named.text;
  const std::string file(named.name);
  Allowed allowed{file, {}};
  int number = 0;
  for (const auto& line : text::lines(text)) {
    ++number;
    if (text::trim(line).empty() || line.starts_with('#')) continue;
    auto parts = text::split(line, '\t');
    if (parts.size() != 3 || parts[0].empty() || text::trim(parts[2]).empty())
      return fail(ErrorKind::invalid_argument, "Q001",
                  fmt::format("{}:{}: the line is not PACKAGE, PLACE and REASON with tabs between", file, number),
                  "docs/formats/differences.md has an example; a difference without a reason is not an expected one");
    allowed.rows.push_back({parts[0], parts[1], std::string(text::trim(parts[2])), number});
  }
  return allowed;
}

} // namespace quarry::inspect
