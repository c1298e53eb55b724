#pragma once
// A finding is a defect as data: findings are collected, errors stop a step.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quarry {

enum class Severity : std::uint8_t { note, warning, error };
std::string_view to_string(Severity severity);

struct Finding {
  std::string code; ///< e.g. "Z003"; `quarry explain Z003`
  Severity severity = Severity::error;
  std::string place;                     ///< "x.whl!pkg/lib.so" or "recipe.toml:12: packages.core"
  std::string message;                   ///< one lower-case sentence
  std::string fix;                       ///< what to do about it, may be empty
  std::vector<std::string> details = {}; ///< lines for people below the message: "refused by: pip"

  bool is(std::string_view asked) const { return code == asked; } ///< a constant of base/codes.hpp
};
using Findings = std::vector<Finding>;

bool has_errors(const Findings& findings);
/// `error[Z003]: place: message`, the details and the fix, both indented, one finding after the other.
std::string render(const Findings& findings);

} // namespace quarry
