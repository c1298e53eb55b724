#include "cli/table.hpp"

#include <algorithm>

namespace quarry::cli {

namespace {

constexpr std::string_view k_ellipsis = "...", k_gap = "  ";

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

/// The byte at which the code point `number` of `text` begins, or the end.
std::size_t byte_of(std::string_view text, std::size_t number) {
  std::size_t at = 0;
  for (std::size_t seen = 0; at < text.size(); ++at)
    if (begins_character(text[at]) && seen++ == number) break;
  return at;
}

std::vector<std::size_t> widths_of(const std::vector<Column>& columns, const TableRows& rows) {
  std::vector<std::size_t> widths;
  for (const auto& column : columns) widths.push_back(column.least);
  for (const auto& row : rows)
    for (std::size_t i = 0; i < std::min(row.size(), columns.size()); ++i)
      widths[i] = std::max(widths[i], width_of(row[i].text));
  return widths;
}

/// The column to shorten next: the widest of those that shrink and still can; the end if there is none.
std::size_t widest(const std::vector<Column>& columns, const std::vector<std::size_t>& widths) {
  std::size_t found = columns.size();
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].shrinks && widths[i] > k_shrunk_min && (found == columns.size() || widths[i] > widths[found]))
      found = i;
  return found;
}

void fit(const std::vector<Column>& columns, std::vector<std::size_t>& widths, std::size_t available) {
  std::size_t total = 0, used = 0;
  for (auto width : widths) total += width, used += width > 0;
  total += used > 0 ? (used - 1) * k_gap.size() : 0;
  while (total > available) {
    auto at = widest(columns, widths);
    if (at == columns.size()) return;
    --widths[at];
    --total;
  }
}

} // namespace

std::string painted(std::string_view text, Tone tone, bool color) {
  if (!color || tone == Tone::plain || text.empty()) return std::string(text);
  std::string_view begin = tone == Tone::good ? "\x1b[32m" : tone == Tone::doubtful ? "\x1b[33m" : "\x1b[1;31m";
  return std::string(begin) + std::string(text) + "\x1b[0m";
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string shortened(std::string_view text, std::size_t width) {
  auto length = width_of(text);
  if (length <= width) return std::string(text);
  if (width <= k_ellipsis.size()) return std::string(text.substr(0, byte_of(text, width)));
  auto kept = width - k_ellipsis.size(), tail = kept / 2;
  return std::string(text.substr(0, byte_of(text, kept - tail))) + std::string(k_ellipsis) +
         std::string(text.substr(byte_of(text, length - tail)));
}

std::string table(const std::vector<Column>& columns, const TableRows& rows, Look look, std::size_t indent) {
  auto widths = widths_of(columns, rows);
  if (look.columns > 0) fit(columns, widths, look.columns > indent ? look.columns - indent : 0);
  std::string text;
  for (const auto& row : rows) {
    std::string line(indent, ' '), pending; // blanks that only a later cell of the row needs
    for (std::size_t i = 0; i < std::min(row.size(), columns.size()); ++i) {
      if (widths[i] == 0) continue;
      auto shown = columns[i].shrinks ? shortened(row[i].text, widths[i]) : row[i].text;
      std::string blanks(widths[i] - std::min(widths[i], width_of(shown)), ' ');
      if (columns[i].right && !shown.empty()) pending += blanks;
      if (!shown.empty()) {
        line += pending + painted(shown, row[i].tone, look.color);
        pending.clear();
      }
      if (!columns[i].right || shown.empty()) pending += blanks;
      pending += k_gap;
    }
    text += (line.find_first_not_of(' ') == line.npos ? std::string() : line) + "\n";
  }
  return text;
}

} // namespace quarry::cli
