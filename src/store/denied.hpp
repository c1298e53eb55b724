#pragma once
// What a server says that hides what it lacks. Pure.
#include "base/codes.hpp"
#include "base/error.hpp"

namespace quarry::store {

/// The server refuses to show an object, with 401 or 403: a bucket that may not be listed answers so for what is
/// absent.
inline bool is_denied(const Error& error) {
  return error.kind == ErrorKind::unauthenticated && (error.is(codes::access_denied) || error.is(codes::not_served));
}

} // namespace quarry::store
