#pragma once
// Regular expressions that people give on the command line, searched for anywhere in a name.
#include "base/result.hpp"
#include <memory>
#include <string>
#include <string_view>

namespace quarry::artifact {

/// POSIX extended expressions (regex.h) with `\d`, `\w` and `\s`. Copies share; thread-safe.
class Pattern {
public:
  /// invalid_argument A020 when it is malformed, longer than 500 characters, or uses what POSIX lacks: `(?…)`.
  static Result<Pattern> compile(const std::string& text);
  bool found_in(const std::string& name) const;

private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

} // namespace quarry::artifact
