#pragma once
// Private to the room.
// Values that a Python module writes down: texts, numbers, None, truth values, lists and tuples of these.
#include "inspect/python_tokens.hpp"
#include <optional>
#include <string>
#include <vector>

namespace quarry::inspect {

struct PythonLiteral {
  /// One spelling for equal values: "\"a\"", "7", "1.5", "[1, 2]", "(\"a\",)". A bytes object begins with b.
  std::string text;
  std::optional<std::vector<std::string>> items = {}; ///< of a list or a tuple, each spelt like `text`
};

/// The value that `tokens` write down. nullopt for anything else: a name, a call, an operator, a dictionary, a text
/// with a replacement field or a named character, brackets that are nested deeper than 32. Pure; one pass.
std::optional<PythonLiteral> read_python_literal(PythonTokens tokens);

/// The tokens with a blank between each two: the same for the same code, however its lines are broken.
std::string python_source(PythonTokens tokens);

} // namespace quarry::inspect
