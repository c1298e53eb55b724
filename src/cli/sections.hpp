#pragma once
// Reports of several tables, for a terminal or as Markdown for a pull request. Pure.
#include "base/finding.hpp"
#include "cli/command.hpp"
#include "cli/table.hpp"
#include <string>
#include <vector>

namespace quarry::cli {

struct Section {
  std::string title;               ///< empty: a table of its own below the one before
  std::vector<std::string> header; ///< one for each column
  std::vector<Column> columns;
  TableRows rows;           ///< a section without rows is left out, unless it has text
  std::string text = {};    ///< a line above the table
  std::size_t rows_max = 0; ///< 0: all; else the others are counted below the table
};

/// `--format`: text or markdown.
Flag format_flag();

std::string sections_text(const std::vector<Section>& sections, Look look);
/// Titles are headings of the third level. Bars, backslashes and angle brackets in cells are escaped.
std::string sections_markdown(const std::vector<Section>& sections);
std::string findings_markdown(const Findings& findings);

} // namespace quarry::cli
