#pragma once
// A request with retries and redirects, for plain servers: GET and HEAD, which may be sent twice.
#include "net/http.hpp"
#include "net/retry.hpp"
#include "sys/clock.hpp"

namespace quarry::net {

struct FetchOptions {
  RetryLimits limits;
  unsigned redirects_max = 5;
};

/// The answer, whatever its status, from where redirects lead. `lasting` becomes the place to ask the next time: where
/// permanent redirects (301, 308) led, never one with a query, which may be signed for this request alone.
/// A header named `authorization` or `cookie` is not sent to another host. A sink sees only the last answer: a retry
/// after it took something is the caller's (the error says so: cut H005).
Result<Response> fetch(Transport& transport, Request request, const FetchOptions& options, const sys::Clock& clock,
                       Url* lasting = nullptr);

} // namespace quarry::net
