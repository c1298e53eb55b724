#pragma once
// Paths as text: POSIX separators, no I/O.
#include <string>
#include <string_view>
#include <vector>

namespace quarry::path {

std::string join(std::string_view directory, std::string_view name); ///< an absolute `name` wins
std::string_view basename(std::string_view path);
std::string dirname(std::string_view path); ///< "." when there is none
std::string normal(std::string_view path);  ///< lexically: no "//", ".", and ".." where it can be resolved
std::vector<std::string> components(std::string_view path); ///< without empty ones and "."
/// The relative path that leads from directory `from` to `to`; both relative to the same root, lexically normal.
std::string relative(std::string_view to, std::string_view from);
bool is_absolute(std::string_view path);

} // namespace quarry::path
