#pragma once
// What `wheel retag` and `wheel edit` share: one wheel is copied into another, and the user is told.
#include "cli/command.hpp"
#include "wheel/rewrite.hpp"
#include <functional>
#include <string>

namespace quarry::cli {

using CopiedBytes = std::function<void(std::uint64_t)>;

struct Rewriting {
  std::string path;    ///< the wheel that is read
  std::string outcome; ///< for people: "its files are the same bytes, WHEEL and RECORD are new"
  std::string schema;  ///< of the JSON document
  std::function<Result<wheel::Rewritten>(const CopiedBytes&)> write;
};

/// Calls `write` while a progress line is shown, then prints the path of the new wheel. Returns the exit
/// code 0, or the error of `write`.
Result<int> run_rewriting(Context& context, const Rewriting& rewriting);

} // namespace quarry::cli
