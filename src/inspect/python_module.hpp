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
  /// Names that the module assigns at its top level, with the last value of each: what read_python_literal() reads, in
  /// its spelling. Anything else is the source of the value, and of each statement that may change it later. Items of
  /// `…FAMILIES` and `…TARGETS` are sorted. `NAME.append(…)`, `NAME.extend(…)` and `NAME += […]` add to a list.
  std::map<std::string, std::string> values;
  std::set<std::string> exported; ///< the items of `__all__`, if it is a list of texts; otherwise it is in `values`
  std::string problem;            ///< why the scan ended early: what follows is not known; empty: all was scanned
};

/// Reads what the statements of a module assign: those of the top level, and those in its `if`, `try`, `for`, `while`
/// and `with`, whose source alone counts. Functions and classes are passed over. Pure; one pass.
PythonModule read_module(std::string_view text);

/// The parts of two modules whose bytes differ: "PLACE!value:NAME" for a constant with two values, with `only_left` or
/// `only_right` for one that one side alone has, and "!processors" behind a list of targets where `right` names the
/// same ones and adds features (`gfx900:xnack-`) that `left` leaves out; "PLACE!exports:NAME" for a name that one
/// `__all__` alone lists; "PLACE!unread" if one of them cannot be scanned to its end; "PLACE!source" for the rest,
/// which always differs. Empty for files above 1 MiB. Fails if a file cannot be read. Cost: reads both files.
Result<std::vector<Part>> module_parts(const std::string& place, const content::Rope& left, const content::Rope& right);

} // namespace quarry::inspect
