#pragma once
// Private to the room.
// The tokens of a Python module, as far as literals need them.
#include "base/result.hpp"
#include <string>
#include <string_view>
#include <vector>

namespace quarry::matrix {

struct Token {
  enum class Kind : std::uint8_t { name, number, text, sign, end };
  Kind kind = Kind::end;
  std::string text; ///< of a string its value; of a sign one character
  int line = 0;
  bool at_margin = false; ///< the first of its line, without indentation
  bool formatted = false; ///< an f-string or bytes: no literal
};

/// F009 naming `file:line`.
Unexpected python_error(const std::string& file, int line, std::string_view why);

/// Comments, line ends and joined lines are dropped; the last token is `end`.
Result<std::vector<Token>> python_tokens(std::string_view text, const std::string& file);

} // namespace quarry::matrix
