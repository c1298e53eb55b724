#include "cli/facts.hpp"

#include "base/text.hpp"

namespace quarry::cli {

std::string first_rows(std::vector<std::string> lines, std::size_t shown, std::string_view indent) {
  bool more = lines.size() > shown;
  auto first = text::first_lines(std::move(lines), shown);
  if (more) first.back().insert(0, indent);
  std::string rows;
  for (const auto& line : first) rows += line + "\n";
  return rows;
}

} // namespace quarry::cli
