#pragma once
// Private to the room.
// The statements of a Python module as tokens, by the language reference ("Lexical analysis"). Nothing is executed.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::inspect {

struct PythonToken {
  enum class Kind : std::uint8_t { word, number, text, sign };
  Kind kind = Kind::word;
  std::string_view text; ///< its bytes in the module; of a text with prefix and quotes
};
using PythonTokens = std::span<const PythonToken>;

/// One logical line: comments are left out, and lines within brackets or behind a backslash are joined.
struct PythonStatement {
  std::size_t indent = 0;          ///< blanks and tabs before it; 0 at the top level of the module
  std::vector<PythonToken> tokens; ///< never empty
};

struct PythonScan {
  std::vector<PythonStatement> statements;
  std::string problem; ///< why the scan ended early: "a text that begins on line 3 has no end"; empty: all was scanned
};

/// Splits a module into statements. The tokens point into `text`. Knows both quotes, alone and three times, prefixes,
/// backslashes and brackets. Ends with `problem` inside a text or an open bracket. Pure; one pass.
PythonScan scan_python(std::string_view text);

} // namespace quarry::inspect
