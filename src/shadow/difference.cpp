#include "shadow/difference.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::shadow {

std::string_view to_string(Topic topic) {
  switch (topic) {
  case Topic::keys: return "keys";
  case Topic::packages: return "packages";
  case Topic::pages: return "pages";
  case Topic::outputs: return "outputs";
  case Topic::verdicts: return "verdicts";
  }
  return "";
}

std::uint64_t Section::explained() const {
  return static_cast<std::uint64_t>(
      std::count_if(differences.begin(), differences.end(), [](const auto& each) { return each.explained(); }));
}

std::uint64_t Section::unexplained() const { return differences.size() - explained(); }

namespace {
bool is_compared(std::string_view topic) {
  for (auto each : {Topic::keys, Topic::packages, Topic::pages, Topic::outputs, Topic::verdicts})
    if (topic == to_string(each)) return true;
  return false;
}
} // namespace

Result<Table> Table::parse(NamedText source) {
  const auto& [text, file] = source;
  Table table;
  TRY(table.packages_, inspect::parse_allowed(source));
  int number = 0;
  for (const auto& line : text::lines(text)) {
    ++number;
    auto parts = text::split(line, '\t');
    if (!parts[0].starts_with('#') || !is_compared(parts[0].substr(1))) continue;
    if (parts.size() != 3 || parts[1].empty() || text::trim(parts[2]).empty())
      return fail(ErrorKind::invalid_argument, "Q500",
                  fmt::format("{}:{}: the line is not {}, PLACE and REASON with tabs between", file, number, parts[0]),
                  "docs/formats/differences.md has an example for each topic");
    table.rows_.push_back({parts[0].substr(1), parts[1], std::string(text::trim(parts[2]))});
  }
  return table;
}

std::string Table::reason(Topic topic, std::string_view place) const {
  for (const auto& row : rows_)
    if (row.topic == to_string(topic) && text::glob_match(row.place, place)) return row.reason;
  return "";
}

} // namespace quarry::shadow
