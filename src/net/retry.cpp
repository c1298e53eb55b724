#include "net/retry.hpp"

#include "base/text.hpp"
#include <algorithm>

namespace quarry::net {

namespace {
unsigned tries_of(Trouble trouble, const RetryLimits& limits) {
  switch (trouble) {
  case Trouble::final: return 1;
  case Trouble::skewed:
  case Trouble::expired:
  case Trouble::moved:
  case Trouble::damaged: return 2;
  default: return limits.attempts_max;
  }
}
bool is_at_once(const Attempt& attempt) { // the cause is corrected before the next attempt
  return attempt.trouble == Trouble::skewed || attempt.trouble == Trouble::expired ||
         attempt.trouble == Trouble::moved || (attempt.trouble == Trouble::stale && attempt.of_this == 1);
}
} // namespace

std::optional<std::uint64_t> next_delay(const Attempt& attempt, const RetryLimits& limits) {
  if (attempt.number >= limits.attempts_max || attempt.of_this >= tries_of(attempt.trouble, limits))
    return std::nullopt;
  if (is_at_once(attempt)) return std::uint64_t{0};
  auto base = attempt.trouble == Trouble::throttled ? limits.throttled_base_ms : limits.base_ms;
  auto bound = std::min(limits.cap_ms, base << std::min(attempt.number - 1, 20u));
  auto delay = static_cast<std::uint64_t>(static_cast<double>(bound) * std::clamp(attempt.random, 0.0, 1.0));
  if (attempt.retry_after_ms) {
    if (*attempt.retry_after_ms > limits.retry_after_max_ms) return std::nullopt;
    delay = std::max(delay, *attempt.retry_after_ms);
  }
  if (attempt.elapsed_ms + delay > limits.elapsed_max_ms) return std::nullopt;
  return delay;
}

Trouble trouble_of(const Failure& failure) {
  switch (failure.fault) {
  case Fault::unreachable: return Trouble::unreachable;
  case Fault::stalled: return Trouble::cut;
  case Fault::cut: return failure.reused ? Trouble::stale : failure.sent ? Trouble::cut : Trouble::unreachable;
  default: return Trouble::final;
  }
}

Trouble trouble_of_status(int status) {
  switch (status) {
  case 408:
  case 500:
  case 502:
  case 504: return Trouble::busy;
  case 429:
  case 503: return Trouble::throttled;
  case 409: return Trouble::conflict;
  default: return Trouble::final;
  }
}

std::optional<std::uint64_t> retry_after_ms(const Headers& headers) {
  constexpr std::uint64_t k_seconds_max = 1'000'000; // beyond any wait; keeps the product small
  auto seconds = text::parse_u64(header(headers, "retry-after"));
  if (!seconds) return std::nullopt;
  return std::min(*seconds, k_seconds_max) * 1000;
}

} // namespace quarry::net
