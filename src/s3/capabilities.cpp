#include "s3/capabilities.hpp"

#include "base/codes.hpp"
#include "base/json.hpp"
#include "digest/crc64.hpp"
#include "s3/replies.hpp"
#include "s3/upload.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::s3 {

namespace {

constexpr std::int64_t k_valid_us = 7ll * 24 * 3600 * 1'000'000; // servers are upgraded now and then
constexpr std::int64_t k_skew_us = 24ll * 3600 * 1'000'000;      // between the clocks of two machines
constexpr std::string_view k_capabilities_schema = "quarry.store-capabilities/1";
constexpr std::uint64_t k_record_max = 16 << 10;

/// The server refused who asked, before it looked at the headers of the question.
bool was_not_looked_at(const Refusal& refusal) {
  return refusal.trouble == net::Trouble::expired || refusal.trouble == net::Trouble::skewed ||
         refusal.trouble == net::Trouble::moved;
}

/// An answer that says nothing about the question: another one may come next time.
bool says_nothing(const Refusal& refusal) {
  return refusal.status == 0 || (refusal.status >= 500 && refusal.status != 501) ||
         refusal.trouble == net::Trouble::busy || refusal.trouble == net::Trouble::throttled ||
         refusal.code == "OperationAborted" || refusal.code == "InvalidPart" || was_not_looked_at(refusal);
}

bool refuses_the_header(const Refusal& refusal) {
  auto status = refusal.status;
  bool refused = status == 400 || status == 404 || status == 409 || status == 412 || status == 501;
  return refused && !says_nothing(refusal) && refusal.code != "NoSuchBucket";
}

/// Whether the server gave no usable answer, so the question stays open. An answer that is not from S3, such as a page
/// without an ETag, does answer it: pages cannot be served from there.
bool gave_no_answer(const Refusal& refusal) {
  bool passes = refusal.status == 0 || refusal.status == 408 || refusal.status == 429 || refusal.status >= 500;
  return refusal.error.kind != ErrorKind::corrupt && passes;
}

/// Whether nothing that could be an answer arrived: the network failed, or nothing was sent. Not so if a proxy answered
/// (corrupt) or if the answer is too long (resource_exhausted).
bool got_no_reply(const Refusal& refusal) {
  return refusal.status == 0 && refusal.error.kind != ErrorKind::corrupt &&
         refusal.error.kind != ErrorKind::resource_exhausted;
}

Pairs checksum_headers(const std::string& sum) {
  return {{"x-amz-sdk-checksum-algorithm", "CRC64NVME"}, {"x-amz-checksum-crc64nvme", sum}};
}

/// Probes the server with objects that clean() removes again.
class Probe {
public:
  Probe(Bucket& bucket, const std::string& place)
      : bucket_(bucket), key_(place), page_(place + "-page/"), below_(place + "-page/index.html") {}

  Result<Capabilities> run() {
    Capabilities found;
    TRY(bool created, accepted({{"if-none-match", "*"}}));
    if (!created) TRY_DO(plain_put());
    TRY(bool overwritten, accepted({{"if-none-match", "*"}}));
    found.if_absent = created && !overwritten;
    TRY(bool wrong, accepted({{"if-match", "\"00000000000000000000000000000000\""}}));
    TRY_DO(plain_put());
    TRY(bool quoted, accepted({{"if-match", "\"" + etag_ + "\""}}));
    bool bare = false;
    if (!quoted) {
      TRY(bare, accepted({{"if-match", etag_}}));
    }
    found.if_match = !wrong && (quoted || bare);
    found.quoted_if_match = quoted;
    TRY(bool wrong_sum, accepted(checksum_headers("AAAAAAAAAAA=")));
    auto body = next_body(); // refused as well: it does not know the header
    TRY(bool right_sum, accepted(checksum_headers(crc64nvme_base64(crc64nvme(0, std::as_bytes(std::span(body)))))));
    found.crc64nvme = !wrong_sum && right_sum;
    TRY(bool completed, complete_is_unconditional());
    found.complete_conditions = found.if_absent && !completed;
    TRY(found.slash_keys, has_slash_keys());
    return found;
  }
  /// Removes what may have been written. Each request to a server that cannot be reached takes a minute, so the first
  /// one without a reply is the last.
  void clean() {
    for (const auto& key : written_) {
      auto done = bucket_.call({.action = "remove the probe", .method = "DELETE", .key = key, .repeat = true});
      if (!done && got_no_reply(done.error())) return;
    }
  }

private:
  std::string next_body() const { return fmt::format("probe {}", round_ + 1); } // an etag belongs to one round
  Outcome put(Pairs headers) {
    auto body = next_body();
    ++round_;
    Call call{.action = "ask what the store can do",
              .method = "PUT",
              .key = key_,
              .headers = std::move(headers),
              .body = content::Rope::literal(body),
              .body_sha256 = sha256(body).hex(),
              .repeat = false}; // the second answer to one question is another answer
    return ask(call);
  }
  Outcome ask(const Call& call) {
    auto done = bucket_.call(call);
    if (!done && was_not_looked_at(done.error())) done = bucket_.call(call); // with what was learned
    return noted(call.key, std::move(done));
  }
  /// Remembers the object of `key` if the request has written it or may have.
  Outcome noted(const BucketKey& key, Outcome done) {
    bool may_exist = done || done.error().ambiguous;
    auto same = [&](const BucketKey& other) { return other.text() == key.text(); };
    if (may_exist && std::ranges::none_of(written_, same)) written_.push_back(key);
    return done;
  }
  /// Returns false if the server refused the request because of the header. Any other failure is an error, also a 400
  /// or 409 that passes, such as RequestTimeout: taken for a refusal, it would be kept for all jobs.
  Result<bool> accepted(Pairs headers) {
    auto done = put(std::move(headers));
    if (done) {
      etag_ = unquoted(net::header(done->response.headers, "etag"));
      return true;
    }
    if (!refuses_the_header(done.error())) return fail(std::move(done.error().error));
    return false;
  }
  Result<void> plain_put() {
    auto done = put({});
    if (!done) return fail(std::move(done.error().error));
    etag_ = unquoted(net::header(done->response.headers, "etag"));
    return {};
  }
  Result<bool> complete_is_unconditional() {
    auto id = start_upload({bucket_, key_, "ask what the store can do"}, {});
    if (!id && says_nothing(id.error())) return fail(std::move(id.error().error));
    if (!id) return true; // no multipart at all: nothing is known to be conditional
    const std::string bytes = "part";
    auto part = ask({.action = "ask what the store can do",
                     .method = "PUT",
                     .key = key_,
                     .query = {{"partNumber", "1"}, {"uploadId", *id}},
                     .body = content::Rope::literal(bytes),
                     .body_sha256 = sha256(bytes).hex(),
                     .repeat = false});
    if (!part) {
      end_upload({bucket_, key_, "end the probe"}, *id);
      return fail(std::move(part.error().error));
    }
    auto body = completion_body({unquoted(net::header(part->response.headers, "etag"))});
    auto done = ask({.action = "ask what the store can do",
                     .method = "POST",
                     .key = key_,
                     .query = {{"uploadId", *id}},
                     .headers = {{"if-none-match", "*"}},
                     .body = content::Rope::literal(body),
                     .body_sha256 = sha256(body).hex(),
                     .answer_may_be_error = true,
                     .repeat = false});
    if (done) return true;
    end_upload({bucket_, key_, "end the probe"}, *id);
    if (says_nothing(done.error())) return fail(std::move(done.error().error));
    return done.error().status != 412;
  }

  Outcome put_page(const BucketKey& key, const std::string& body) {
    return noted(key, bucket_.call({.action = "ask what the store can do",
                                    .method = "PUT",
                                    .key = key,
                                    .body = content::Rope::literal(body),
                                    .body_sha256 = sha256(body).hex()}));
  }
  /// As a page is written and read: below its directory first, then under the directory's own name. MinIO refuses the
  /// second, and a server that keeps files would give it the name without the slash.
  Result<bool> has_slash_keys() {
    const std::string below = "the page below", page = "the page";
    if (auto done = put_page(below_, below); !done) return fail(std::move(done.error().error));
    auto put = put_page(page_, page);
    if (!put) {
      auto status = put.error().status;
      bool refused = (status >= 400 && status < 500 && status != 408 && status != 429) || status == 501;
      if (!refused) return fail(std::move(put.error().error));
      return false;
    }
    for (const auto& [key, body] : {std::pair(page_, page), std::pair(below_, below)}) {
      auto got = bucket_.call({.action = "ask what the store can do", .key = key, .answer_bytes_max = k_record_max});
      if (!got && gave_no_answer(got.error())) return fail(std::move(got.error().error));
      if (!got || got->response.body != body) return false;
    }
    const BucketKey without_slash(key_.text() + "-page");
    auto file = bucket_.call({.action = "ask what the store can do", .method = "HEAD", .key = without_slash});
    if (!file && gave_no_answer(file.error())) return fail(std::move(file.error().error));
    return !file;
  }

  Bucket& bucket_;
  BucketKey key_, page_, below_;
  std::vector<BucketKey> written_; ///< what clean() removes
  std::string etag_;
  int round_ = 0;
};

std::string endpoint_of(const Bucket& bucket) {
  auto place = bucket.location();
  return place.endpoint.text() + " " + place.bucket;
}

} // namespace

std::string capabilities_json(const Capabilities& c, const Probed& probed) {
  return json::pretty(Json{{"schema", k_capabilities_schema},
                           {"endpoint", probed.endpoint},
                           {"checked", sys::rfc3339(probed.now_us)},
                           {"put_if_absent", c.if_absent},
                           {"put_if_match", c.if_match},
                           {"quoted_if_match", c.quoted_if_match},
                           {"complete_conditions", c.complete_conditions},
                           {"crc64nvme", c.crc64nvme},
                           {"slash_keys", c.slash_keys}});
}

std::optional<KeptCapabilities> parse_capabilities(std::string_view text, const Probed& wanted) {
  const auto& [endpoint, now_us] = wanted;
  auto document = json::parse({text, "the store's capabilities"});
  if (!document || !document->is_object() || !json::require_schema({*document, "capabilities"}, k_capabilities_schema))
    return {};
  auto checked = sys::parse_rfc3339(json::string_or(*document, "checked", ""));
  if (json::string_or(*document, "endpoint", "") != endpoint || !checked) return {};
  bool expired = *checked + k_valid_us < now_us || *checked > now_us + k_skew_us;
  Capabilities found;
  bool whole = true;
  auto flag = [&](const char* name, bool& into) {
    auto it = document->find(name);
    whole = whole && it != document->end() && it->is_boolean();
    if (whole) into = it->get<bool>();
  };
  flag("put_if_absent", found.if_absent);
  flag("put_if_match", found.if_match);
  flag("quoted_if_match", found.quoted_if_match);
  flag("complete_conditions", found.complete_conditions);
  flag("crc64nvme", found.crc64nvme);
  if (!whole) return {};
  flag("slash_keys", found.slash_keys);
  found.slash_keys = whole && found.slash_keys;
  expired = expired || !whole; // written before this capability existed: a role that may write probes again
  return KeptCapabilities{found, expired};
}

Result<Capabilities> probe(Bucket& bucket, const std::string& prefix) {
  constexpr int k_rounds_max = 8; // a lost reply makes a round useless; a server that loses eight in a row is unusable
  for (int round = 1;; ++round) {
    Probe asked(bucket, prefix + ".quarry/probe-" + sys::random_hex(8));
    auto found = asked.run();
    asked.clean();
    auto kind = found ? ErrorKind::internal : found.error().kind;
    bool passing = kind == ErrorKind::unavailable || kind == ErrorKind::timed_out;
    if (found || !passing || round == k_rounds_max) return found;
    TRY_DO(sys::pause_ms(static_cast<std::uint64_t>(round) * 50));
  }
}

Result<Capabilities> CapabilityCache::get() {
  std::lock_guard lock(mutex_);
  if (known_) return *known_;
  if (bucket_.location().is_aws) return *(known_ = Capabilities{});
  BucketKey key(prefix_ + ".quarry/capabilities.json");
  auto endpoint = endpoint_of(bucket_);
  auto kept = bucket_.call({.action = "read what the store can do", .key = key, .answer_bytes_max = k_record_max});
  // A probe would not reach the server either, and would try for minutes.
  if (!kept && got_no_reply(kept.error())) return fail(std::move(kept.error().error));
  std::optional<KeptCapabilities> record;
  if (kept) record = parse_capabilities(kept->response.body, {endpoint, clock_.now_us()});
  if (record && !record->expired) return *(known_ = record->capabilities);
  auto found = probe(bucket_, prefix_);
  // A job that only adds evidence may not write the probe's objects. The expired record is good enough: servers rarely
  // lose a capability, and the write that follows would fail.
  bool denied = !found && found.error().kind == ErrorKind::unauthenticated && found.error().is(codes::access_denied);
  if (denied && record) return *(known_ = record->capabilities);
  if (denied)
    found.error().hint =
        fmt::format("what the store can do is kept in `{}.quarry/`, which this role may not write: run "
                    "`quarry doctor --store s3://{}/{}` once with one that may",
                    prefix_, bucket_.location().bucket, bucket_.location().prefix);
  TRY(known_, std::move(found), "while asking what the store can do");
  // Who may not read has not seen how pages are served, and would replace what others have found out.
  if (!kept && kept.error().error.kind == ErrorKind::unauthenticated) return *known_;
  auto text = capabilities_json(*known_, {endpoint, clock_.now_us()});
  // A failure is ignored: the record only saves the next job the probe.
  static_cast<void>(bucket_.call({.action = "keep what the store can do",
                                  .method = "PUT",
                                  .key = key,
                                  .headers = {{"content-type", "application/json"}},
                                  .body = content::Rope::literal(text),
                                  .body_sha256 = sha256(text).hex()}));
  return *known_;
}

} // namespace quarry::s3
