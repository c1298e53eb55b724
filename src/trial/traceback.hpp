#pragma once
// Private to the room.
// Which exception a test failed with, in what unittest lists of a failure. Pure.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::trial {

/// A line that unittest draws: 70 times the character.
bool is_rule(std::string_view line, char c);

struct Lines { ///< those from `begin` to before `end`
  const std::vector<std::string>& all;
  std::size_t begin, end;
};

/// The text of the exception that ended `test` ("module.Class.name"): the last one of a chain that belongs to the test.
/// A traceback that a program printed, and that the message of an assertion quotes, stays a part of that message.
std::string exception_in(Lines lines, std::string_view test);

} // namespace quarry::trial
