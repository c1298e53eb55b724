#pragma once
// Whether to try again, and when: a pure function over what happened. A delay is uniformly random between 0 and a bound
// that doubles with each attempt: from 100 ms, or from 1 s if the server asks for less load (429, 503), up to 20 s. It
// is at least what Retry-After says. Sources: the retry rules of S3's SDKs, RFC 9110 §10.2.3.
#include "net/http.hpp"
#include <cstdint>
#include <optional>
#include <string_view>

namespace quarry::net {

/// What happened, as far as a retry is concerned.
enum class Trouble : std::uint8_t {
  unreachable, ///< the server saw nothing
  stale,       ///< a kept connection was closed by the server before it answered
  cut,         ///< ended or stalled after the request left
  busy,        ///< 408, 500, 502, 504: try again
  throttled,   ///< 429, 503: try again later
  conflict,    ///< 409: another writer was at work at the same time
  skewed,      ///< our clock; worth one try with the server's
  expired,     ///< the credentials; worth one try with new ones
  moved,       ///< the bucket is in another region; worth one try there
  damaged,     ///< the server got other bytes than we sent; twice in a row is this machine
  final,       ///< anything else
};

struct Attempt {
  Trouble trouble = Trouble::final;
  unsigned number = 1;  ///< of this attempt, from 1
  unsigned of_this = 1; ///< how often this trouble came, this time included
  std::uint64_t elapsed_ms = 0;
  std::optional<std::uint64_t> retry_after_ms = {};
  double random = 0; ///< 0 … 1
};

struct RetryLimits {
  unsigned attempts_max = 6;
  std::uint64_t base_ms = 100, cap_ms = 20'000, throttled_base_ms = 1000;
  std::uint64_t elapsed_max_ms = 180'000; ///< a server that is sick for so long is not waited for
  std::uint64_t retry_after_max_ms = 60'000;
};

/// Milliseconds to wait before the next attempt; nullopt: stop.
std::optional<std::uint64_t> next_delay(const Attempt& attempt, const RetryLimits& limits);

Trouble trouble_of(const Failure& failure);
Trouble trouble_of_status(int status);
/// Retry-After in seconds; a date, or anything else, is nullopt.
std::optional<std::uint64_t> retry_after_ms(const Headers& headers);

} // namespace quarry::net
