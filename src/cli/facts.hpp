#pragma once
// The lines of facts that commands print below each other: a label, and its value in a column that all of them share.
// Pure.
#include "base/one_line.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quarry::cli {

/// The columns of a label, with the blanks behind it.
constexpr std::size_t k_label_columns = 12;

/// Returns "view        1f2e…" with a line break; `value` is formatted with `values`. A label that is longer than its
/// column has two blanks behind it, and the value is one line.
template <class... Values>
std::string fact(std::string_view label, fmt::format_string<Values...> value, Values&&... values) {
  return fmt::format("{:<{}}{}\n", label, std::max(k_label_columns, label.size() + 2),
                     text::one_line(fmt::format(value, std::forward<Values>(values)...)));
}

/// Returns the first `shown` of these lines, then "and 3 more" behind `indent`; each with a line break.
std::string first_rows(std::vector<std::string> lines, std::size_t shown, std::string_view indent = "  ");

} // namespace quarry::cli
