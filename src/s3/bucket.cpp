#include "s3/bucket.hpp"

#include "base/codes.hpp"
#include "s3/replies.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <random>

namespace quarry::s3 {

namespace {

double random_part() {
  thread_local std::mt19937 generator{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(generator);
}

Refusal own_refusal(Error error) {
  Refusal refusal;
  refusal.error = std::move(error);
  return refusal;
}

// Whether the server may have done what was asked, or may still do it, although the call failed.
bool is_ambiguous(const Refusal& refusal) { return refusal.ambiguous || may_have_been_done(refusal.status); }

// S3 always sends the ETag of an object, so an answer without one is not from S3. The answer to a copy has it in its
// body.
bool lacks_etag(const Call& call, const net::Response& response) {
  bool of_object = !call.key.empty() && !call.answer_may_be_error;
  bool told = call.method == "PUT" || (call.query.empty() && (call.method == "GET" || call.method == "HEAD"));
  return of_object && told && net::header(response.headers, "etag").empty();
}

// The answer to HEAD has no body, so the S3 error code is missing and only the status is known.
bool is_mute(const Call& call, const Refusal& refusal) {
  bool told_by_code = refusal.status == 400 || refusal.status == 403 || refusal.status == 301 || refusal.status == 307;
  return call.method == "HEAD" && !call.key.empty() && refusal.code.empty() && told_by_code;
}

/// The object, or the prefix of a listing, as a locator: "s3://builds/ci/sets/". A caller may use several buckets, so
/// "no credentials" alone does not say which one needs them.
std::string locator_of(const Call& call, const std::string& bucket) {
  auto prefix =
      std::find_if(call.query.begin(), call.query.end(), [](const auto& each) { return each.first == "prefix"; });
  const std::string path = prefix == call.query.end() ? call.key.text() : prefix->second;
  return fmt::format("s3://{}{}{}", bucket, path.empty() ? "" : "/", path);
}

Error in_place(Error error, const Call& call, const std::string& bucket) {
  if (error.is(codes::no_credentials)) error.message = "no credentials were found for " + locator_of(call, bucket);
  return error;
}

} // namespace

Bucket::Bucket(Location location, std::shared_ptr<net::Transport> transport,
               std::shared_ptr<CredentialCache> credentials, const sys::Clock& clock, net::RetryLimits limits)
    : location_(std::move(location)), transport_(std::move(transport)), credentials_(std::move(credentials)),
      clock_(clock), retries_{limits} {}

Location Bucket::location() const {
  std::lock_guard lock(mutex_);
  return location_;
}

std::string Bucket::name() const { return "s3://" + location().bucket; }

bool Bucket::unsigned_body_is_safe() const {
  auto endpoint = location().endpoint;
  return endpoint.secure() || net::is_loopback(endpoint);
}

Result<net::Request> Bucket::request_of(const Call& call, Credentials& used) {
  auto place = location();
  auto found = credentials_->get();
  if (!found) return fail(in_place(std::move(found).error(), call, place.bucket));
  used = std::move(*found);
  net::Request request;
  request.method = call.method;
  request.url = url_of(place, call.key);
  request.url.query = canonical_query(call.query);
  request.headers = call.headers;
  request.body = call.body;
  request.response_bytes_max = call.answer_bytes_max;
  request.stall_ms = call.stall_ms;
  request.wait_before_body = call.wait_before_body;
  request.sink = call.sink;
  request.on_sent = call.on_sent;
  if (used.keys.access_key.empty()) return request;
  auto hash = !call.body || call.body->empty() ? std::string(k_empty_hash)
              : call.body_sha256.empty()       ? std::string(k_unsigned_payload)
                                               : call.body_sha256;
  auto date = amz_date(clock_.now_us() + clock_offset_us_);
  SignedRequest sign{call.method, request.url.path, request.url.query, call.headers, hash};
  sign.headers.emplace_back("host", request.url.authority());
  sign.headers.emplace_back("x-amz-content-sha256", hash);
  sign.headers.emplace_back("x-amz-date", date);
  if (!used.keys.session_token.empty())
    sign.headers.emplace_back("x-amz-security-token", used.keys.session_token.reveal());
  request.headers = sign.headers;
  std::erase_if(request.headers, [](const auto& header) { return header.first == "host"; });
  request.headers.emplace_back("authorization", authorization(sign, {date, place.region}, used.keys));
  return request;
}

tl::expected<net::Response, Refusal> Bucket::once(const Call& call, Credentials& used) {
  auto what = fmt::format("{} in {}", call.action, name());
  auto request = request_of(call, used);
  if (!request) return tl::unexpected(own_refusal(std::move(request).error()));
  if (call.on_start) call.on_start();
  auto answer = transport_->send(*request);
  if (!answer) return tl::unexpected(refusal_of(std::move(answer.error()), what));
  bool foreign = answer->ok() && (lacks_etag(call, *answer) || (call.method == "DELETE" && is_page(answer->body)));
  bool error = (call.answer_may_be_error || foreign) && holds_error(*answer);
  if (answer->ok() && !foreign && !error) return std::move(*answer);
  auto refusal = foreign && !error ? foreign_refusal(*answer, what) : refusal_of(*answer, what);
  // Retried, so that the next answer has the ETag if the write did happen.
  if (foreign && !error && call.method == "PUT") {
    refusal.trouble = net::Trouble::busy;
    // A captive portal has sent nothing on. Whatever else stands there may send it on later.
    refusal.ambiguous = refusal.unanswered = !is_page(answer->body);
  }
  if (refusal.error.is(codes::access_denied))
    refusal.error.hint = hint_of_denial({call.method, !call.key.empty(), !used.keys.access_key.empty()});
  if (is_mute(call, refusal)) return tl::unexpected(told(call, std::move(refusal)));
  learn(refusal, &*answer, used);
  return tl::unexpected(std::move(refusal));
}

/// Repeats a refused HEAD as a GET of one byte: its refusal has a body with the S3 error code.
Refusal Bucket::told(const Call& call, Refusal refusal) {
  auto aloud = call;
  aloud.method = "GET";
  aloud.headers.emplace_back("range", "bytes=0-0");
  aloud.sink = [](const net::Response&, std::span<const std::byte>) { return Result<void>{}; };
  Credentials used;
  auto answer = once(aloud, used);
  bool passed = answer || answer.error().status == 416 || answer.error().status == 404; // 416: it has no first byte
  if (!passed) return std::move(answer.error());
  refusal.trouble = net::Trouble::busy; // it has passed: HEAD again
  return refusal;
}

// Corrects what made the attempt fail (credentials, clock offset, region), so that the next attempt differs.
void Bucket::learn(const Refusal& refusal, const net::Response* response, const Credentials& used) {
  if (refusal.trouble == net::Trouble::expired) credentials_->drop(used);
  if (refusal.trouble == net::Trouble::skewed && response)
    if (auto server = time_of(net::header(response->headers, "date")); server != 0)
      clock_offset_us_ = server - clock_.now_us();
  if (refusal.trouble == net::Trouble::moved) {
    std::lock_guard lock(mutex_);
    location_ = in_region(location_, refusal.region);
  }
}

Outcome Bucket::call(const Call& call) {
  auto begin = clock_.steady_ns();
  bool ambiguous = false, unanswered = false;
  for (net::Attempt attempt;; ++attempt.number) {
    Credentials used;
    auto response = once(call, used);
    if (response) {
      retries_.budget.give();
      return Done{std::move(*response)};
    }
    auto& refusal = response.error();
    attempt.of_this = refusal.trouble == attempt.trouble ? attempt.of_this + 1 : 1;
    attempt.trouble = refusal.trouble;
    attempt.elapsed_ms = (clock_.steady_ns() - begin) / 1'000'000;
    attempt.random = random_part();
    attempt.retry_after_ms = refusal.retry_after_ms;
    auto delay = next_delay(attempt, retries_.limits);
    refusal.ambiguous = ambiguous || is_ambiguous(refusal);
    refusal.unanswered = unanswered || refusal.unanswered;
    bool give_up = !delay || !call.repeat || (delay && *delay > 0 && !retries_.budget.take());
    if (give_up) return tl::unexpected(std::move(refusal));
    ambiguous = refusal.ambiguous;
    unanswered = refusal.unanswered;
    if (auto paused = sys::pause_ms(*delay); !paused) {
      auto stopped = own_refusal(std::move(paused).error());
      stopped.ambiguous = ambiguous;
      stopped.unanswered = unanswered;
      return tl::unexpected(std::move(stopped));
    }
  }
}

} // namespace quarry::s3
