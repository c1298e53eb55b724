#pragma once
// GitHub's expression language: `${{ inputs.ref || github.sha }}` as a tree. Pure.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::workflow {

constexpr std::size_t k_expression_depth_max = 64; ///< people write 5; the parser recurses
constexpr std::size_t k_expression_bytes_max =
    21'000; ///< GitHub's bound; `a||b||c…` makes a tree as deep as it is long

struct Expression {
  enum class Kind : std::uint8_t {
    literal, ///< `text` is its value as text: 'x', 3, true, null (empty)
    name,    ///< a path of properties, in `path`: inputs.ref, matrix['a'], needs.build.outputs.x
    index,   ///< parts[0] indexed by an expression: inputs[env.KEY], or a property of a call's result
    call,    ///< `text` is the function in lower case, `parts` its arguments
    unary,   ///< !parts[0]
    binary,  ///< `text` is the operator
  };
  Kind kind = Kind::literal;
  std::string text;
  std::vector<std::string> path; ///< as written; GitHub compares names without case
  std::vector<Expression> parts;
  std::size_t offset = 0; ///< of its first character in the text that was parsed
};

struct ExpressionError {
  std::size_t offset = 0;
  std::string message;
};

struct ParsedExpression {
  std::optional<Expression> expression; ///< nullopt: `error` says why
  ExpressionError error;
};

/// Parses an expression without its `${{ }}`. Linear; refuses nesting beyond k_expression_depth_max.
ParsedExpression parse_expression(std::string_view text);

/// Adds the inputs that must not be empty for a condition to hold: a and b of `inputs.a && inputs.b != ''`.
void needed_inputs(const Expression& condition, std::vector<std::string>& names);

/// A part of a text with expressions in it.
struct Piece {
  bool is_expression = false;
  std::string text;       ///< the literal text, or what is between the braces
  std::size_t offset = 0; ///< of `text` in the whole
};
/// Splits at `${{` and `}}`; braces inside quotes of an expression do not end it. An expression without an end is
/// literal text.
std::vector<Piece> split_template(std::string_view text);

/// The expression when the whole text is one `${{ }}` and nothing else; nullopt otherwise or when it cannot be parsed.
std::optional<Expression> only_expression(std::string_view text);

} // namespace quarry::workflow
