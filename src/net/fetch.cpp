#include "net/fetch.hpp"

#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <random>

namespace quarry::net {

namespace {

constexpr std::array k_redirects = {301, 302, 303, 307, 308};

double random_part() {
  thread_local std::mt19937 generator{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(generator);
}

void follow(Request& request, const Url& to) {
  if (to.host != request.url.host || to.port != request.url.port || to.scheme != request.url.scheme)
    std::erase_if(request.headers, [](const auto& h) { return h.first == "authorization" || h.first == "cookie"; });
  request.url = to;
}

/// One place, with retries. `taken` becomes true when the sink saw bytes: then nothing is repeated.
Result<Response> patiently(Transport& transport, const Request& request, const FetchOptions& options,
                           const sys::Clock& clock, const bool& taken) {
  auto begin = clock.steady_ns();
  for (Attempt attempt;; ++attempt.number) {
    auto answer = transport.send(request);
    auto trouble = answer ? trouble_of_status(answer->status) : trouble_of(answer.error());
    attempt.of_this = trouble == attempt.trouble ? attempt.of_this + 1 : 1;
    attempt.trouble = trouble;
    attempt.elapsed_ms = (clock.steady_ns() - begin) / 1'000'000;
    attempt.random = random_part();
    attempt.retry_after_ms = answer ? retry_after_ms(answer->headers) : std::nullopt;
    auto delay = taken ? std::nullopt : next_delay(attempt, options.limits);
    if (!delay && answer) return std::move(*answer);
    if (!delay) return fail(std::move(answer.error().error));
    TRY_DO(sys::pause_ms(*delay));
  }
}

} // namespace

Result<Response> fetch(Transport& transport, Request request, const FetchOptions& options, const sys::Clock& clock,
                       Places* places) {
  bool taken = false;
  if (request.sink)
    request.sink = [&taken, inner = request.sink](const Response& head, std::span<const std::byte> piece) {
      taken = true;
      return inner(head, piece);
    };
  bool lasts = true; // every redirect so far was for good
  if (places) *places = {request.url, request.url};
  for (unsigned redirects = 0;; ++redirects) {
    TRY(auto response, patiently(transport, request, options, clock, taken));
    auto location = header(response.headers, "location");
    bool moved = std::find(k_redirects.begin(), k_redirects.end(), response.status) != k_redirects.end();
    if (!moved || location.empty()) return response;
    if (redirects >= options.redirects_max)
      return fail(ErrorKind::unsupported, "H009",
                  fmt::format("{} redirects more than {} times", request.url.shown(), options.redirects_max),
                  "ask who runs the server: it sends its visitors in circles");
    TRY(auto to, redirected(request.url, location));
    follow(request, to);
    lasts = lasts && (response.status == 301 || response.status == 308) && to.query.empty();
    if (places) places->final = to;
    if (places && lasts) places->lasting = to;
  }
}

} // namespace quarry::net
