#pragma once
// Private to the room.
// What a Python module says about itself, for comparison: its constants and what `__all__` lists. Nothing is executed.
#include "base/result.hpp"
#include "content/rope.hpp"
#include "inspect/compare.hpp"
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::inspect {

struct PythonModule {
  /// Names that the module assigns a literal at its top level, the last assignment of each: a text, a number, None, a
  /// truth value, or a list of these. Items of a list are sorted; `NAME.append(…)` adds one.
  std::map<std::string, std::string> values;
  std::set<std::string> exported; ///< the items of `__all__`
};

/// Reads lines that begin without a blank and lists that they open; all else is passed over. Pure.
PythonModule read_module(std::string_view text);

/// The parts of two modules whose bytes differ: "PLACE!value:NAME" for a constant with two values, with `only_left` or
/// `only_right` for one that one side alone has; "PLACE!exports:NAME" for a name that one `__all__` alone lists;
/// "PLACE!source" for the rest, which always differs. Empty for files above 1 MiB. Fails if a file cannot be read.
Result<std::vector<Part>> module_parts(const std::string& place, const content::Rope& left, const content::Rope& right);

} // namespace quarry::inspect
