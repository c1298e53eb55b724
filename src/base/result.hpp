#pragma once
// Result<T>: a value or an Error. Functions report errors by it and not by exceptions. If memory runs out,
// std::bad_alloc may still cross rooms; whoever runs a command or a thread catches it (thread/guard.hpp). A dropped
// Result is a compiler warning.
#include "base/error.hpp"
#include <tl/expected.hpp>
#include <utility>

namespace quarry {

template <class T = void> class [[nodiscard]] Result : public tl::expected<T, Error> {
public:
  using tl::expected<T, Error>::expected;
};

using Unexpected = tl::unexpected<Error>;

/// `return fail(ErrorKind::corrupt, "A012", fmt::format(…), "fetch it again …");`
[[nodiscard]] inline Unexpected fail(ErrorKind kind, std::string code, std::string message, std::string hint = {}) {
  return Unexpected(Error{kind, std::move(code), std::move(message), {}, {}, std::move(hint)});
}
[[nodiscard]] inline Unexpected fail(Error error) { return Unexpected(std::move(error)); }

/// The error of a failed Result on its way up, with context where the caller has some to add.
inline Error&& passed_on(Error&& error) { return std::move(error); }
inline Error&& passed_on(Error&& error, std::string context) {
  return std::move(error).with_context(std::move(context));
}

} // namespace quarry

#define QUARRY_JOIN2(a, b) a##b
#define QUARRY_JOIN(a, b) QUARRY_JOIN2(a, b)
/// TRY(auto x, f());  returns f()'s error, or defines x.  TRY(auto x, f(), "while " + name) adds context, evaluated
/// only on failure. It is several statements: never the body of an `if` without braces.
#define TRY(declaration, expression, ...)                                                                              \
  QUARRY_TRY(QUARRY_JOIN(try_result_, __COUNTER__), declaration, expression __VA_OPT__(, ) __VA_ARGS__)
#define QUARRY_TRY(name, declaration, expression, ...)                                                                 \
  auto name = (expression);                                                                                            \
  if (!name) return ::quarry::fail(::quarry::passed_on(std::move(name).error() __VA_OPT__(, ) __VA_ARGS__));           \
  declaration = std::move(*name)
/// TRY_DO(f());  the same for Result<void>; one statement.
#define TRY_DO(expression, ...)                                                                                        \
  QUARRY_TRY_DO(QUARRY_JOIN(try_result_, __COUNTER__), expression __VA_OPT__(, ) __VA_ARGS__)
#define QUARRY_TRY_DO(name, expression, ...)                                                                           \
  do {                                                                                                                 \
    auto name = (expression);                                                                                          \
    if (!name) return ::quarry::fail(::quarry::passed_on(std::move(name).error() __VA_OPT__(, ) __VA_ARGS__));         \
  } while (false)
