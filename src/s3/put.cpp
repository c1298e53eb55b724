#include "s3/put.hpp"

#include "base/text.hpp"
#include "digest/crc64.hpp"
#include "s3/replies.hpp"
#include "s3/writes.hpp"
#include "sys/clock.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::s3 {

namespace {

constexpr std::uint64_t k_parts_wanted_max = 9500;     // below S3's 10,000
constexpr unsigned k_lineage_max = 24;                 // writes of others while one waits for its reply; 17 bytes each
constexpr std::uint64_t k_wait_before_body = 1u << 20; // from here on a refusal should come before the bytes go

/// Reads the content once, in order, and hashes it. Gives out the last bytes only if `check` accepts the digest.
class Checked final : public content::Source {
public:
  Checked(content::Rope content, std::function<Result<void>(const Sha256&)> check)
      : content_(std::move(content)), check_(std::move(check)) {}
  std::uint64_t size() const override { return content_.size(); }
  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const override {
    if (offset == 0) hasher_.finish(), next_ = 0; // from the start again: a repeated attempt
    if (offset != next_) return fail(ErrorKind::internal, "K099", "a body that is hashed was read out of order");
    TRY_DO(content_.read(offset, into));
    hasher_.update(into);
    next_ += into.size();
    if (next_ != content_.size()) return {};
    digest_ = hasher_.finish();
    return check_ ? check_(digest_) : Result<void>{};
  }
  const Sha256& digest() const { return digest_; }

private:
  content::Rope content_;
  std::function<Result<void>(const Sha256&)> check_;
  mutable Sha256Hasher hasher_;
  mutable std::uint64_t next_ = 0;
  mutable Sha256 digest_;
};

Call put_call(const PutRequest& request, Pairs headers) {
  Call call{.action = fmt::format("store `{}`", request.key), .method = "PUT", .key = request.key};
  call.headers = std::move(headers);
  bool large = request.content.size() >= k_wait_before_body;
  call.wait_before_body = large && request.condition != Condition::none;
  call.on_sent = request.on_progress;
  return call;
}

PutOutcome finish(const PutTools& tools, const PutRequest& request, const Marked& marked, Outcome outcome,
                  const Sha256& digest) {
  if (!outcome) return settled(tools, request, marked, std::move(outcome.error()), digest);
  return PutDone{unquoted(net::header(outcome->response.headers, "etag")), request.content.size(), digest,
                 marked.lineage};
}

PutOutcome put_whole(const PutTools& tools, const PutRequest& request, const Capabilities& capabilities) {
  auto taken = tools.slabs.take(std::max<std::size_t>(request.content.size(), 1));
  if (!taken) return tl::unexpected(refused(std::move(taken).error()));
  auto slab = std::move(*taken);
  auto bytes = slab->first(request.content.size());
  if (auto read = request.content.read(0, bytes); !read) return tl::unexpected(refused(std::move(read).error()));
  auto digest = sha256(bytes);
  if (request.check)
    if (auto good = request.check(digest); !good) return tl::unexpected(refused(std::move(good).error()));
  auto marked = marked_headers(request);
  for (auto& header : condition_headers(request, capabilities)) marked.headers.push_back(std::move(header));
  if (capabilities.crc64nvme) {
    marked.headers.emplace_back("x-amz-sdk-checksum-algorithm", "CRC64NVME");
    marked.headers.emplace_back("x-amz-checksum-crc64nvme", crc64nvme_base64(crc64nvme(0, bytes)));
  }
  auto call = put_call(request, marked.headers);
  call.body = content::Rope::of(std::make_shared<SlabSource>(slab, bytes.size()));
  call.body_sha256 = digest.hex();
  return finish(tools, request, marked, tools.bucket.call(call), digest);
}

PutOutcome put_streamed(const PutTools& tools, const PutRequest& request, const Capabilities& capabilities) {
  auto body = std::make_shared<Checked>(request.content, request.check);
  auto marked = marked_headers(request);
  for (auto& header : condition_headers(request, capabilities)) marked.headers.push_back(std::move(header));
  auto call = put_call(request, marked.headers);
  call.body = content::Rope::of(body);
  if (request.sha256)
    call.body_sha256 = request.sha256->hex(); // the server checks it too
  else if (!tools.bucket.unsigned_body_is_safe()) {
    auto digest = content::sha256_of(request.content);
    if (!digest) return tl::unexpected(refused(std::move(digest).error()));
    call.body_sha256 = digest->hex();
  }
  auto outcome = tools.bucket.call(call);
  return finish(tools, request, marked, std::move(outcome), body->digest());
}

} // namespace

Refusal refused(Error error) {
  Refusal refusal;
  refusal.error = std::move(error);
  return refusal;
}

Refusal precondition_refusal(const BucketKey& key) {
  Refusal refusal;
  refusal.status = 412;
  refusal.code = "PreconditionFailed";
  refusal.error = {
      ErrorKind::precondition_failed, "K005", fmt::format("`{}` is not as it was expected", key), {}, {}, {}};
  return refusal;
}

tl::expected<void, Refusal> check_by_looking(const PutTools& tools, const PutRequest& request) {
  auto head =
      tools.bucket.call({.action = fmt::format("look at `{}`", request.key), .method = "HEAD", .key = request.key});
  if (!head && head.error().status != 404) {
    head.error().ambiguous = false; // nothing was written yet
    return tl::unexpected(std::move(head.error()));
  }
  bool holds = request.condition == Condition::absent
                   ? !head
                   : head && unquoted(net::header(head->response.headers, "etag")) == request.etag;
  if (!holds) return tl::unexpected(precondition_refusal(request.key));
  return {};
}

std::uint64_t part_size(const Parting& parting) {
  const auto [size, part_bytes] = parting;
  constexpr std::uint64_t k_step = 1u << 20;
  auto needed = (size + k_parts_wanted_max - 1) / k_parts_wanted_max;
  return needed <= part_bytes ? part_bytes : (needed + k_step - 1) / k_step * k_step;
}

Marked marked_headers(const PutRequest& request, std::string nonce) {
  Marked marked{nonce.empty() ? sys::random_hex(8) : std::move(nonce), {}, {}};
  marked.lineage = marked.nonce;
  unsigned known = 1;
  for (const auto& mark : text::split_any(request.lineage, ","))
    if (known++ < k_lineage_max) marked.lineage += "," + mark;
  marked.headers.emplace_back(std::string(k_lineage), marked.lineage);
  if (request.sha256) marked.headers.emplace_back("x-amz-meta-quarry-sha256", request.sha256->hex());
  if (!request.content_type.empty()) marked.headers.emplace_back("content-type", request.content_type);
  if (!request.cache_control.empty()) marked.headers.emplace_back("cache-control", request.cache_control);
  marked.headers.insert(marked.headers.end(), request.metadata.begin(), request.metadata.end());
  return marked;
}

Pairs condition_headers(const PutRequest& request, const Capabilities& capabilities) {
  if (request.condition == Condition::absent && capabilities.if_absent) return {{"if-none-match", "*"}};
  if (request.condition == Condition::match && capabilities.if_match)
    return {{"if-match", capabilities.quoted_if_match ? "\"" + request.etag + "\"" : request.etag}};
  return {};
}

Fate fate_of(const WriteTraces& traces) {
  auto marks = text::split_any(traces.now, ",");
  auto holds = [&](const std::string& mark) { return std::find(marks.begin(), marks.end(), mark) != marks.end(); };
  if (holds(traces.nonce)) return Fate::written;
  auto before = text::split_any(traces.replaced, ",");
  // The lineage reaches back to the object that we wanted to replace, and does not contain our mark.
  return !before.empty() && holds(before.front()) ? Fate::not_written : Fate::unknown;
}

namespace {
/// Whether the object is still what the condition expects. If the server answered every attempt with an error and the
/// object is unchanged, the write did not happen.
bool is_as_expected(const PutRequest& request, const Outcome& head) {
  if (request.condition == Condition::absent) return !head && head.error().status == 404;
  return request.condition == Condition::match && head && !request.etag.empty() &&
         unquoted(net::header(head->response.headers, "etag")) == request.etag;
}
} // namespace

// 412 after an ambiguous attempt may be the answer to our own first one; a lost reply may hide a success.
PutOutcome settled(const PutTools& tools, const PutRequest& request, const Marked& marked, Refusal refusal,
                   const Sha256& digest) {
  bool absent = refusal.status == 404 && refusal.code != "NoSuchBucket";
  if (request.condition == Condition::match && absent && refusal.code != "NoSuchUpload") refusal.status = 412;
  // Writes of others conflicted with every attempt. Whoever changes an object looks at it again, then; whoever makes
  // one takes 412 for "it is there", which these others may have failed to do.
  bool conflict = request.condition != Condition::none && refusal.status == 409;
  bool makes = request.condition == Condition::absent;
  if (conflict && !makes) refusal.status = 412;
  if (!refusal.ambiguous && !(conflict && makes)) return tl::unexpected(std::move(refusal));
  auto head =
      tools.bucket.call({.action = fmt::format("look at `{}`", request.key), .method = "HEAD", .key = request.key});
  if (conflict && head) refusal.status = 412;
  auto now = head ? net::header(head->response.headers, k_lineage) : std::string();
  auto fate = fate_of({now, marked.nonce, request.lineage});
  // Before the ETag is compared: equal bytes with other headers have an equal ETag.
  if (refusal.ambiguous && fate == Fate::written) {
    auto etag = now.starts_with(marked.nonce) ? unquoted(net::header(head->response.headers, "etag")) : std::string();
    return PutDone{etag, request.content.size(), digest, marked.lineage};
  }
  if (!refusal.unanswered && refusal.status >= 500 && is_as_expected(request, head)) refusal.ambiguous = false;
  if (!head || !refusal.ambiguous) return tl::unexpected(std::move(refusal));
  bool taken = request.condition == Condition::absent && refusal.status == 412;
  if (taken || (fate == Fate::not_written && refusal.status == 412)) refusal.ambiguous = false;
  return tl::unexpected(std::move(refusal));
}

PutOutcome put_object(const PutTools& tools, const PutRequest& request) {
  auto capabilities = Capabilities{};
  bool large = request.content.size() > tools.limits.part_bytes;
  if (request.condition != Condition::none || large) {
    auto known = tools.capabilities.get();
    if (!known) return tl::unexpected(refused(std::move(known).error()));
    capabilities = *known;
  } else {
    capabilities.crc64nvme = false; // a small object without conditions is not worth the questions
  }
  bool ignored = (request.condition == Condition::absent && !capabilities.if_absent) ||
                 (request.condition == Condition::match && !capabilities.if_match);
  if (ignored)
    if (auto holds = check_by_looking(tools, request); !holds) return tl::unexpected(std::move(holds.error()));
  if (!large) return put_whole(tools, request, capabilities);
  bool atomic_in_parts = request.condition == Condition::none || capabilities.complete_conditions || ignored;
  if (!atomic_in_parts && request.content.size() <= tools.limits.single_put_bytes)
    return put_streamed(tools, request, capabilities);
  return put_parts(tools, request, capabilities);
}

} // namespace quarry::s3
