#pragma once
// Tables written in Python, read as data: the literal assignments of a module, never executed. Source of the grammar:
// docs.python.org "Lexical analysis" and ast.literal_eval's subset (dict, list, tuple, str, int, float, True, False,
// None). Everything else in the module (imports, functions, classes, comments) is skipped. Pure, bounded.
#include "base/data_text.hpp"
#include "base/result.hpp"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::matrix {

struct Member;

struct Literal {
  enum class Kind : std::uint8_t { none, boolean, integer, number, text, list, dict };
  Kind kind = Kind::none;
  bool boolean = false;
  std::int64_t integer = 0;
  double number = 0;
  std::string text;
  std::vector<Literal> items;  ///< list, tuple
  std::vector<Member> members; ///< dict with text keys, in the order of the text
  int line = 0;
  const Literal* find(std::string_view key) const;
};

struct Member {
  std::string key;
  Literal value;
};

struct Assignment {
  std::string name;
  Literal value;
  int line = 0;
};

/// The assignments `NAME = literal` (or `NAME: type = literal`) at the left margin whose value begins like a dict or a
/// list, in order. invalid_argument F009 with `file:line`: text that is not Python's (an open string or bracket), such
/// a value that is not a literal, a key twice, nesting or size beyond the bounds.
Result<std::vector<Assignment>> parse_python_tables(NamedText named);

} // namespace quarry::matrix
