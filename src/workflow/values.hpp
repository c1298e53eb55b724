#pragma once
// Private to the room.
// What a value can be, as far as the files say: a constant, possibly empty, or unknown. Pure.
#include "workflow/model.hpp"
#include <string>
#include <string_view>

namespace quarry::workflow {

enum class Emptiness : std::uint8_t {
  never,   ///< no way to start the workflow leaves it empty
  allowed, ///< its default is not empty, but a caller or a person may pass an empty text
  happens, ///< an input without default, or a caller that passes nothing
  unknown, ///< made by a step, a variable of the repository, or a matrix that an expression makes
};

/// How empty the text of a scalar can be in `file`. `job` is the index of the job around it, or -1.
Emptiness emptiness(const Repository& repository, const File& file, int job, std::string_view text);

/// A text that a value can be, and where it is written.
struct Constant {
  const File* file;
  Position at;
  std::string text;
};
struct Scalar {
  Position at;
  std::string_view text;
};
/// The texts without expressions that a scalar can be, as far as the files say: its own, the one behind `||`, the
/// default and the options of an input, the values of a matrix, and what callers in this repository pass. Texts that
/// are empty are omitted, and a place that is reached in several ways stands once.
std::vector<Constant> constants(const Repository& repository, const File& file, int job, const Scalar& scalar);

/// The text without its blanks inside `${{ }}`, in lower case outside of quotes: two spellings of one expression
/// compare equal.
std::string canonical(std::string_view text);

/// The text from the beginning of a line on; lines count from 1. Empty behind the last one.
std::string_view from_line(std::string_view text, std::uint32_t line);

/// Whether the text has an expression or a shell variable.
bool is_dynamic(std::string_view text);

/// Inputs that must not be empty for the `if` of a job or step to hold.
std::vector<std::string> inputs_needed_by(const Node& job_or_step);

/// Names of inputs that the expressions of a text read.
std::vector<std::string> inputs_in(std::string_view text);

} // namespace quarry::workflow
