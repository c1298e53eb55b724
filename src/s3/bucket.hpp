#pragma once
// Sends signed requests to one bucket, with retries. Corrects the offset between our clock and the server's, follows
// the bucket to its region, and renews credentials. Thread-safe.
#include "s3/bucket_key.hpp"
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
  BucketKey key = {};             ///< empty: the bucket itself
  Pairs query = {}, headers = {}; ///< header names in lower case
  std::optional<content::Rope> body = {};
  /// Hex; empty: the signature does not cover the body (unsigned_body_is_safe()). Not needed if there is no body.
  std::string body_sha256 = {};
  /// A success with a longer body fails (H006); what a sink takes is not limited. The body of another answer is cut.
  std::uint64_t answer_bytes_max = 1u << 20;
  /// An attempt fails if no byte moves for this long, or for QUARRY_STALL_SECONDS if that is shorter. Connecting may
  /// take 10 s at most.
  std::uint64_t stall_ms = 60'000;
  /// Ask the server before the body is sent (100-continue): a refusal then comes first. After 1 s without an answer the
  /// body is sent all the same.
  bool wait_before_body = false;
  bool answer_may_be_error = false; ///< the body of a 200 may be an <Error>
  /// False: one attempt. What it taught (clock, region, expired credentials) serves the next call, which the caller
  /// makes if it wants to.
  bool repeat = true;
  /// Takes the body of a 2xx, piece by piece, before it is known whether the call succeeds. If the call fails (cut off,
  /// K020), the caller discards what the sink took. An error of the sink ends the call without a retry.
  std::function<Result<void>(const net::Response&, std::span<const std::byte>)> sink = {};
  std::function<void()> on_start = {}; ///< called before each attempt: a sink must discard what it received so far
  std::function<void(std::uint64_t)> on_sent = {}; ///< bytes of the body that this attempt has sent so far
};

struct Done {
  net::Response response;
};
using Outcome = tl::expected<Done, Refusal>;

/// Limits the retries of all calls to a bucket, so that an overloaded server is not flooded. A retry after a wait costs
/// k_price. Retries without a wait are free: those after a corrected clock, credentials or region, and the first one
/// after a kept connection was closed. Each success gives 1 back. Thread-safe.
class RetryBudget {
public:
  bool take() { ///< pays for a retry; false: none is left
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
  /// `clock` must outlive the bucket.
  Bucket(Location location, std::shared_ptr<net::Transport> transport, std::shared_ptr<CredentialCache> credentials,
         const sys::Clock& clock, net::RetryLimits limits = {});

  /// Sends the request and returns the answer if it is a success (2xx). Everything else is a Refusal, also 304, 404 and
  /// 412. Refusal::ambiguous says that a write may have happened all the same; of a read it means nothing. Its status
  /// is 0 for:
  ///   - failures of the network;
  ///   - failures to get credentials (credentials.hpp); that attempt sent nothing;
  ///   - errors of our own: of the sink, of reading the body, a success that is too long (H006), an interruption
  ///     (D006);
  ///   - answers that are not from S3 (K020). refusal_of() recognises errors and redirects of other servers
  ///     (errors.hpp). A 2xx is not from S3 if it is an HTML page and answers DELETE, or if it lacks its ETag.
  ///
  /// A 2xx must have an ETag header if it answers HEAD or GET of an object without a query, or PUT of an object or a
  /// part. A call with answer_may_be_error, such as a copy, needs none: its ETag is in the body. A 2xx that lacks the
  /// ETag that it must have is K020; but if its body is an <Error> that no sink took, the call fails with that error of
  /// S3 instead. A call with answer_may_be_error fails with it whenever its body is an <Error>. Every other HTML page
  /// with 200, also in answer to a call with answer_may_be_error, passes as a success: the caller's parser fails.
  ///
  /// Retries: at most 6 attempts for all causes together. An attempt has no time limit while bytes move.
  ///   - Transient failures are retried with exponential backoff while the retry budget lasts (net/retry.hpp).
  ///   - A PUT whose success lacks its ETag is retried like a transient failure. If the body is an HTML page, we assume
  ///     that a proxy wrote it and sent nothing on. With any other body the call is ambiguous.
  ///   - A wrong clock, expired credentials or another region is corrected, and the request is sent again at once.
  ///     Damaged bytes (K007) are sent again after a wait. If two attempts in a row fail for the same one of these four
  ///     causes, the call fails.
  ///   - The call fails at once if the wait would end more than 3 minutes after the call began, or if the server asks
  ///     for more than 60 s. So a call whose first attempt took 3 minutes is not retried after a wait. The thread
  ///     sleeps while it waits; an interruption ends the call (cancelled D006).
  /// The answer to HEAD has no S3 code. So if S3 answers HEAD of an object with 400, 403, 301 or 307, the same attempt
  /// also sends a GET of one byte:
  ///   - If the GET succeeds, or finds the object absent (404) or empty (416), the HEAD counts as a transient failure,
  ///     and is repeated after a wait. The last attempt fails with the HEAD's own status and error. For 403 that is
  ///     K003, even if the object is absent.
  ///   - If the GET fails in another way, the attempt fails with the status and error of the GET.
  Outcome call(const Call& call);
  Location location() const;
  std::string name() const; ///< "s3://bucket", for messages
  /// Whether nobody can change a body on its way: over TLS, or to this machine. If not, the caller sets body_sha256;
  /// call() does not check that.
  bool unsigned_body_is_safe() const;

private:
  Result<net::Request> request_of(const Call& call, Credentials& used);
  tl::expected<net::Response, Refusal> once(const Call& call, Credentials& used);
  Refusal told(const Call& call, Refusal refusal);
  void learn(const Refusal& refusal, const net::Response* response, const Credentials& used);

  /// How calls are repeated: the limits of each call, and the budget of all of them.
  struct Retries {
    net::RetryLimits limits;
    RetryBudget budget = {};
  };

  mutable std::mutex mutex_;
  Location location_; ///< guarded by mutex_
  std::shared_ptr<net::Transport> transport_;
  std::shared_ptr<CredentialCache> credentials_;
  const sys::Clock& clock_;
  Retries retries_;
  std::atomic<std::int64_t> clock_offset_us_ = 0;
};

} // namespace quarry::s3
