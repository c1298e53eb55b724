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

/// Where redirects led.
struct Places {
  Url lasting; ///< to ask the next time: after permanent redirects (301, 308), never with a query that one added, which
               ///< may be signed for this request alone
  Url final;   ///< whose answer it is, for its relative links; not to be printed or kept
};

/// The answer, whatever its status, from where redirects lead.
/// A header named `authorization` or `cookie` is not sent to another host. A sink sees only the last answer: a retry
/// after it took something is the caller's (the error says so: cut H005).
Result<Response> fetch(Transport& transport, Request request, const FetchOptions& options, const sys::Clock& clock,
                       Places* places = nullptr);

} // namespace quarry::net
