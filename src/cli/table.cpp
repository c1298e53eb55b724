#include "cli/table.hpp"

#include "base/one_line.hpp"
#include "base/text.hpp"

#include <algorithm>

namespace quarry::cli {

namespace {

constexpr std::string_view k_ellipsis = "...", k_gap = "  ";
constexpr std::string_view k_green = "\x1b[32m", k_yellow = "\x1b[33m", k_red = "\x1b[1;31m", k_off = "\x1b[0m";
constexpr std::size_t k_fold_indent = 4;  // of the lines that continue a row
constexpr std::size_t k_wrapped_min = 24; // a narrower column of words is hard to read

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

std::size_t total_of(const std::vector<std::size_t>& widths) {
  std::size_t total = 0, used = 0;
  for (auto width : widths) total += width, used += width > 0;
  return total + (used > 0 ? (used - 1) * k_gap.size() : 0);
}

/// Whether the columns fit after those that shrink were shortened.
bool fit(const std::vector<Column>& columns, std::vector<std::size_t>& widths, std::size_t available) {
  for (auto total = total_of(widths); total > available; --total) {
    auto at = widest(columns, widths);
    if (at == columns.size()) return false;
    --widths[at];
  }
  return true;
}

/// Some columns of a table that stand on one line.
struct Line {
  std::vector<std::size_t> columns;
  std::size_t indent = 0;
};

/// Columns that have no room go to a further line, which is indented.
std::vector<Line> folded(const std::vector<std::size_t>& widths, std::size_t available, std::size_t indent) {
  std::vector<Line> lines{{{}, indent}};
  std::size_t used = indent;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (widths[i] == 0) continue;
    bool first = lines.back().columns.empty();
    if (!first && used + k_gap.size() + widths[i] > available) {
      lines.push_back({{}, indent + k_fold_indent});
      used = lines.back().indent;
      first = true;
    }
    used += widths[i] + (first ? 0 : k_gap.size());
    lines.back().columns.push_back(i);
  }
  return lines;
}

/// `text` in pieces of at most `width` columns, broken at blanks; a longer word stays whole.
std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> pieces;
  std::string rest = text;
  while (width > 0 && width_of(rest) > width) {
    auto at = rest.rfind(' ', byte_of(rest, width));
    if (at == rest.npos || at == 0) at = rest.find(' ', byte_of(rest, width));
    if (at == rest.npos || at == 0) break;
    pieces.push_back(rest.substr(0, rest.find_last_not_of(' ', at) + 1));
    auto next = rest.find_first_not_of(' ', at);
    rest = next == rest.npos ? std::string() : rest.substr(next);
  }
  if (!rest.empty() || pieces.empty()) pieces.push_back(std::move(rest));
  return pieces;
}

class TablePrinter {
public:
  TablePrinter(const std::vector<Column>& columns, std::vector<std::size_t> widths, Look look)
      : columns_(columns), widths_(std::move(widths)), look_(look) {}

  std::string row(const std::vector<Cell>& cells, const Line& line) const {
    std::string text(line.indent, ' '), pending; // blanks that only a later cell of the row needs
    std::size_t at = line.indent;                // where the cell begins
    std::string further;                         // the lines behind the first of a wrapped cell
    for (auto i : line.columns) {
      if (i >= cells.size()) break;
      bool last = i == line.columns.back() && !columns_[i].right;
      auto shown = columns_[i].shrinks ? shortened(cells[i].text, widths_[i]) : cells[i].text;
      if (last && look_.columns > at) {
        auto pieces = wrapped(shown, look_.columns - at);
        shown = pieces.front();
        for (std::size_t n = 1; n < pieces.size(); ++n)
          further += std::string(at, ' ') + painted(pieces[n], cells[i].tone, look_.color) + "\n";
      }
      std::string blanks(widths_[i] - std::min(widths_[i], width_of(shown)), ' ');
      if (columns_[i].right && !shown.empty()) pending += blanks;
      if (!shown.empty()) {
        text += pending + painted(shown, cells[i].tone, look_.color);
        pending.clear();
      }
      if (!columns_[i].right || shown.empty()) pending += blanks;
      pending += k_gap;
      at += widths_[i] + k_gap.size();
    }
    return (text.find_first_not_of(' ') == text.npos ? std::string() : text) + "\n" + further;
  }

private:
  const std::vector<Column>& columns_;
  std::vector<std::size_t> widths_;
  Look look_;
};

/// The last column, if it can be wrapped where it stands.
bool wraps_in_place(const std::vector<Column>& columns, const std::vector<std::size_t>& widths, std::size_t available) {
  std::size_t last = widths.size();
  while (last > 0 && widths[last - 1] == 0) --last;
  if (last == 0 || columns[last - 1].right) return false;
  auto before = total_of(widths) - widths[last - 1];
  return before + k_wrapped_min <= available;
}

} // namespace

std::string painted(std::string_view text, Tone tone, bool color) {
  if (!color || tone == Tone::plain || text.empty()) return std::string(text);
  auto begin = tone == Tone::good ? k_green : tone == Tone::doubtful ? k_yellow : k_red;
  return std::string(begin) + std::string(text) + std::string(k_off);
}

std::size_t length_of_paint(std::string_view text) {
  for (auto paint : {k_green, k_yellow, k_red, k_off})
    if (text.starts_with(paint)) return paint.size();
  return 0;
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

std::string table(const std::vector<Column>& columns, const TableRows& given, Look look, std::size_t indent) {
  auto rows = given;
  for (auto& row : rows)
    for (auto& cell : row) cell.text = text::one_line(cell.text);
  auto widths = widths_of(columns, rows);
  auto available = look.columns > indent ? look.columns - indent : 0;
  bool fits = look.columns == 0 || fit(columns, widths, available) || wraps_in_place(columns, widths, available);
  auto lines = folded(widths, fits ? static_cast<std::size_t>(-1) : look.columns, indent);
  TablePrinter printer(columns, std::move(widths), look);
  std::string text;
  for (const auto& row : rows)
    for (std::size_t n = 0; n < lines.size(); ++n) {
      auto line = printer.row(row, lines[n]);
      if (n == 0 || line != "\n") text += line;
    }
  return text;
}

std::string table_cell(std::string_view text) {
  return text::replace_all(text::one_line(text::replace_all(text, "\n", " ")), "|", "\\|");
}

} // namespace quarry::cli
