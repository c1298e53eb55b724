#pragma once
// Recognises a refusal that may mean "not found": 403 of an S3 server (K003), 401 or 403 of a web server (H011). Pure.
#include "base/codes.hpp"
#include "base/error.hpp"

namespace quarry::store {

/// Whether the server denied access to an object. S3 answers 403 for a missing object if the caller may not list the
/// bucket, so the object may exist or not.
inline bool is_denied(const Error& error) {
  return error.kind == ErrorKind::unauthenticated && (error.is(codes::access_denied) || error.is(codes::not_served));
}

} // namespace quarry::store
