#pragma once
// One bucket: signed calls with retries, the server's clock, the bucket's region, and credentials that are renewed.
// Thread-safe.
#include "s3/credentials.hpp"
#include "s3/errors.hpp"
#include "s3/location.hpp"
#include "thread/pool.hpp"
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace quarry::s3 {

struct Call {
  std::string action = {}; ///< for messages: "store `k`"
  std::string method = "GET";
  std::string key = {};           ///< below the location's prefix is the caller's business; empty: the bucket
  Pairs query = {}, headers = {}; ///< header names in lower case
  std::optional<content::Rope> body = {};
  std::string body_sha256 = {}; ///< hex; empty: the body is not part of the signature
  std::uint64_t answer_bytes_max = 1u << 20;
  std::uint64_t stall_ms = 60'000;
  bool wait_before_body = false;
  bool answer_may_be_error = false; ///< a 200 may hold an <Error>
  bool repeat = true;               ///< false: the caller decides what to do after a failure
  std::function<Result<void>(const net::Response&, std::span<const std::byte>)> sink = {};
  std::function<void()> on_start = {}; ///< before each attempt: a sink starts anew
  std::function<void(std::uint64_t)> on_sent = {};
};

struct Done {
  net::Response response;
  bool doubtful = false; ///< an earlier attempt may have had its effect already
};
using Outcome = tl::expected<Done, Refusal>;

/// What the calls of one process may spend on retries: an ill server is not flooded.
class RetryBudget {
public:
  bool take() {
    auto now = tokens_.load();
    while (now >= k_price)
      if (tokens_.compare_exchange_weak(now, now - k_price)) return true;
    return false;
  }
  void give() {
    auto now = tokens_.load();
    while (now < k_full && !tokens_.compare_exchange_weak(now, now + 1)) {
    }
  }

private:
  static constexpr int k_full = 500, k_price = 5; // the SDKs' own numbers
  std::atomic<int> tokens_ = k_full;
};

class Bucket {
public:
  Bucket(Location location, std::shared_ptr<net::Transport> transport, std::shared_ptr<CredentialCache> credentials,
         const sys::Clock& clock, net::RetryLimits limits = {});

  /// A success (2xx) or why not. Retries inside; 304, 404, 412 and such come back as Refusal.
  Outcome call(const Call& call);
  Location location() const;
  std::string name() const;           ///< "s3://bucket", for messages
  bool unsigned_body_is_safe() const; ///< TLS, or this machine: what arrives is what was sent
  /// A URL for anyone, for so long; K011 when there are no credentials.
  Result<std::string> presign(const std::string& method, const std::string& key, std::uint64_t seconds);

private:
  Result<net::Request> request_of(const Call& call, Credentials& used);
  tl::expected<net::Response, Refusal> once(const Call& call, Credentials& used);
  Refusal told(const Call& call, Refusal refusal);
  void learn(const Refusal& refusal, const net::Response* response, const Credentials& used);

  mutable std::mutex mutex_;
  Location location_;
  std::shared_ptr<net::Transport> transport_;
  std::shared_ptr<CredentialCache> credentials_;
  const sys::Clock& clock_;
  net::RetryLimits limits_;
  RetryBudget budget_;
  std::atomic<std::int64_t> clock_offset_us_ = 0;
};

} // namespace quarry::s3
