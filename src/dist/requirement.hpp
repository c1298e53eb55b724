#pragma once
// Dependencies (the "dependency specifiers" specification, PEP 508, as packaging 26 reads it): `name[extra]>=1,<2;
// marker`. Pure, thread-safe.
#include "base/result.hpp"
#include "dist/name.hpp"
#include "dist/version.hpp"
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::dist {

/// A real one stays below 1 KiB; METADATA as a whole is bounded, too.
constexpr std::size_t k_requirement_bytes_max = 64u << 10;
/// Parentheses inside parentheses; real markers have two.
constexpr int k_marker_depth_max = 64;

/// Variables of a marker and their values: "python_version" -> "3.12". A variable that is not in it is "" (what a
/// marker says about the kernel, which nobody knows beforehand).
using MarkerEnvironment = std::map<std::string, std::string, std::less<>>;

class Marker {
public:
  Marker() = default;                                 ///< always true
  static Result<Marker> parse(std::string_view text); ///< invalid_argument M010
  /// `extra`: the extra that is being asked for, in normal form, or empty.
  bool holds(const MarkerEnvironment& environment, std::string_view extra = {}) const;
  const std::string& str() const { return text_; }

private:
  std::string text_;
};

struct Requirement {
  ProjectName project;
  std::vector<std::string> extras; ///< in normal form, sorted, each once
  Specifiers specifiers;
  std::string specifier_text; ///< as written, without blanks around it
  std::string url;            ///< `name @ url`
  Marker marker;
  static Result<Requirement> parse(std::string_view text); ///< invalid_argument M010
};

} // namespace quarry::dist
