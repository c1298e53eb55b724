#pragma once
// Tables for people: aligned columns that fit the terminal, and words that get a colour. Pure.
#include "cli/command.hpp"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::cli {

/// What a word says about the thing it stands beside. Colour only repeats it: the words alone say the same.
enum class Tone : std::uint8_t { plain, good, doubtful, bad };

/// `text` in green, yellow or red if `color`, else as it is.
std::string painted(std::string_view text, Tone tone, bool color);

/// How many bytes at the start of `text` painted() put there; 0 for none.
std::size_t length_of_paint(std::string_view text);

/// Columns that a terminal needs for UTF-8 `text`: its code points.
std::size_t width_of(std::string_view text);
/// At most `width` columns of `text`: the middle is replaced by "...", since names differ at both ends.
std::string shortened(std::string_view text, std::size_t width);

struct Cell {
  Cell(std::string text_of_cell, Tone tone_of_cell = Tone::plain) : text(std::move(text_of_cell)), tone(tone_of_cell) {}
  Cell(const char* text_of_cell) : text(text_of_cell) {}
  std::string text;
  Tone tone = Tone::plain;
};
using TableRows = std::vector<std::vector<Cell>>;

struct Column {
  bool right = false;    ///< numbers
  bool shrinks = false;  ///< is shortened when the row would not fit: names
  std::size_t least = 0; ///< columns that it has at least: for rows that are printed one by one
};
const Column k_text{}, k_name{.shrinks = true}, k_number{.right = true};

/// One line for each row, columns two blanks apart, no blank at the end of a line. With `look.columns`, the columns
/// that shrink are shortened, the widest first, until every row fits or they have k_shrunk_min columns. If that is not
/// enough, the last column is wrapped at its blanks, or columns go to a further, indented line of each row. What is in
/// a cell stays in it: text::one_line().
std::string table(const std::vector<Column>& columns, const TableRows& rows, Look look, std::size_t indent = 0);

constexpr std::size_t k_shrunk_min = 16; // shorter names cannot be told apart

/// Returns the text as one cell of a table in Markdown: no bar and no line break ends the cell. Pure.
std::string table_cell(std::string_view text);

} // namespace quarry::cli
