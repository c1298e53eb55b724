#pragma once
// Errors as values: what went wrong, where, and what to do next. Pure data, copyable, no I/O.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quarry {

/// Few kinds, chosen by what the caller would do about them. One table (error.cpp) maps a kind to retry, exit code and
/// HTTP status.
enum class ErrorKind : std::uint8_t {
  invalid_argument,    ///< the request makes no sense: say it differently
  not_found,           ///< the named thing is not there (or not sealed yet)
  already_exists,      ///< the name holds other bytes: never overwrite
  precondition_failed, ///< somebody was faster: look again, then decide
  corrupt,             ///< bytes are not what they must be: do not use them
  permission_denied,   ///< this machine or store does not let us
  unauthenticated,     ///< no or wrong credentials
  unavailable,         ///< a retry may help
  timed_out,           ///< the deadline passed
  cancelled,           ///< somebody asked us to stop
  resource_exhausted,  ///< disk, memory or a bound of ours is used up
  missing_program,     ///< a program or interpreter that this machine lacks
  unsupported,         ///< understood and refused: we cannot prove that we would do it right
  outcome_unknown,     ///< the reply to a write was lost: look, never assume
  failed,              ///< a check, a test or a child process said no
  held,                ///< the policy of a channel forbids it: not a defect, somebody has to decide
  internal,            ///< a bug
};

struct ErrorTraits {
  std::string_view name;
  bool retry;
  int exit_code;
  int http_status;
};
const ErrorTraits& traits(ErrorKind kind);

struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string code;                 ///< stable, e.g. "A012"; `quarry explain A012` tells more
  std::string message;              ///< one lower-case sentence naming the thing
  std::vector<std::string> details; ///< aligned facts below the message: "expected  sha256 …"
  std::vector<std::string> context; ///< added on the way up, innermost first: "while reading x.whl"
  std::string hint;                 ///< the next thing to do, naming a command where there is one

  /// Error::of(ErrorKind::corrupt, "A012", message).with_detail("expected  …").with_hint("fetch it again …")
  static Error of(ErrorKind kind, std::string code, std::string message) {
    return {kind, std::move(code), std::move(message), {}, {}, {}};
  }
  Error&& with_hint(std::string text) && {
    hint = std::move(text);
    return std::move(*this);
  }
  Error&& with_context(std::string text) && {
    context.push_back(std::move(text));
    return std::move(*this);
  }
  Error&& with_detail(std::string text) && {
    details.push_back(std::move(text));
    return std::move(*this);
  }
  Error&& with_details(std::vector<std::string> lines) && {
    details = std::move(lines);
    return std::move(*this);
  }

  /// Whether it is this error: `error.is(codes::not_sealed)`, a constant of base/codes.hpp.
  bool is(std::string_view asked) const { return code == asked; }
};

/// The text for a terminal or log: `error[A012]: …`, details, `caused by`, blank line, `hint: …`. Ends with a newline.
std::string render(const Error& error);

} // namespace quarry
