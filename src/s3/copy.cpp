#include "s3/copy.hpp"

#include "s3/replies.hpp"
#include "s3/upload.hpp"
#include "s3/writes.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::s3 {

namespace {

constexpr std::uint64_t k_copy_stall_ms = 300'000; // the server moves gigabytes before it answers

class Copy {
public:
  Copy(const PutTools& tools, const CopyRequest& request, const Capabilities& capabilities)
      : tools_(tools), request_(request), to_(request.to), capabilities_(capabilities),
        marked_(marked_headers(request.to)) {}

  PutOutcome whole() {
    Call call{.action = action(), .method = "PUT", .key = to_.key, .headers = marked_.headers};
    call.headers.emplace_back("x-amz-metadata-directive", "REPLACE");
    add_source(call);
    call.body = content::Rope();
    call.answer_may_be_error = true;
    call.stall_ms = k_copy_stall_ms;
    return finish(pinned(ended(tools_.bucket.call(call))));
  }

  PutOutcome in_parts() {
    auto id = start_upload({tools_.bucket, to_.key, action()}, marked_.headers);
    if (!id) return tl::unexpected(std::move(id.error()));
    id_ = std::move(*id);
    auto part_bytes = part_size({request_.size, k_copy_part_bytes});
    etags_.resize((request_.size + part_bytes - 1) / part_bytes);
    std::optional<Refusal> failed;
    std::mutex mutex;
    auto copied = parallel_for(etags_.size(), tools_.limits.uploaders, [&](std::size_t i) -> Result<void> {
      auto part = copy_part(i, part_bytes);
      if (part) return {};
      std::lock_guard lock(mutex);
      if (!failed) failed = std::move(part.error());
      return fail(failed->error);
    });
    if (failed) {
      failed->ambiguous = false; // without Complete there is no object
      return abort(std::move(*failed));
    }
    if (!copied) return abort(refused(std::move(copied).error()));
    auto outcome = finish(complete());
    bool open = outcome || outcome.error().ambiguous; // the copy is there, or may be made yet
    return open ? outcome : abort(std::move(outcome.error()));
  }

private:
  std::string action() const { return fmt::format("copy `{}` to `{}`", request_.from, to_.key); }

  std::string bucket_of_source() const {
    return request_.from_bucket.empty() ? tools_.bucket.location().bucket : request_.from_bucket;
  }

  void add_source(Call& call) const {
    call.headers.emplace_back("x-amz-copy-source",
                              fmt::format("/{}/{}", bucket_of_source(), uri_encode(request_.from.text(), Slash::kept)));
    call.headers.emplace_back("x-amz-copy-source-if-match", "\"" + request_.from_etag + "\"");
  }

  /// The only condition of these calls is about the source.
  Outcome pinned(Outcome outcome) const {
    if (outcome || outcome.error().status != 412) return outcome;
    auto& refusal = outcome.error();
    refusal.status = 0; // not the 412 of a condition on the target
    refusal.error.kind = ErrorKind::corrupt;
    refusal.error.code = "K022";
    refusal.error.message = fmt::format("`{}` was replaced while it was copied", request_.from);
    refusal.error.hint = "run the command again: it copies the new object";
    return outcome;
  }

  tl::expected<void, Refusal> copy_part(std::size_t i, std::uint64_t part_bytes) {
    auto first = i * part_bytes, last = std::min(first + part_bytes, request_.size) - 1;
    Call call{.action = action(), .method = "PUT", .key = to_.key};
    call.query = {{"partNumber", std::to_string(i + 1)}, {"uploadId", id_}};
    add_source(call);
    call.headers.emplace_back("x-amz-copy-source-range", fmt::format("bytes={}-{}", first, last));
    call.body = content::Rope();
    call.answer_may_be_error = true;
    call.stall_ms = k_copy_stall_ms;
    auto done = pinned(tools_.bucket.call(call));
    if (!done) return tl::unexpected(std::move(done.error()));
    auto etag = etag_of({done->response.body, "a copied part"}, "CopyPartResult");
    if (!etag) return tl::unexpected(refused(std::move(etag).error()));
    etags_[i] = unquoted(*etag);
    return {};
  }

  Outcome complete() {
    auto body = completion_body(etags_);
    Call call{.action = action(), .method = "POST", .key = to_.key, .query = {{"uploadId", id_}}};
    call.headers = condition_headers(to_, capabilities_);
    call.body = content::Rope::literal(body);
    call.body_sha256 = sha256(body).hex();
    call.answer_may_be_error = true;
    call.stall_ms = k_copy_stall_ms;
    return ended(tools_.bucket.call(call));
  }

  /// The answer to a call that makes the object. An earlier attempt may have made it and ended the upload, and a page
  /// of a gateway does not say what the server did.
  static Outcome ended(Outcome outcome) {
    if (outcome) return outcome;
    auto& refusal = outcome.error();
    bool foreign = refusal.status == 0 && refusal.error.kind == ErrorKind::corrupt;
    if (foreign || refusal.code == "NoSuchUpload") refusal.ambiguous = true;
    return outcome;
  }

  /// settled() knows only the content of a put.
  PutOutcome with_size(PutOutcome outcome) const {
    if (outcome) outcome->size = request_.size;
    return outcome;
  }

  PutOutcome finish(Outcome outcome) {
    if (!outcome) return with_size(settled(tools_, to_, marked_, std::move(outcome.error()), {}));
    bool in_parts = !id_.empty();
    auto etag =
        etag_of({outcome->response.body, "a copy"}, in_parts ? "CompleteMultipartUploadResult" : "CopyObjectResult");
    if (!etag) { // it may have happened all the same
      auto refusal = refused(std::move(etag).error());
      refusal.ambiguous = true;
      return with_size(settled(tools_, to_, marked_, std::move(refusal), {}));
    }
    return PutDone{unquoted(*etag), request_.size, {}, marked_.lineage};
  }

  PutOutcome abort(Refusal refusal) {
    end_upload({tools_.bucket, to_.key, "end a copy"}, id_);
    return tl::unexpected(std::move(refusal));
  }

  const PutTools& tools_;
  const CopyRequest& request_;
  const PutRequest& to_;
  const Capabilities& capabilities_;
  Marked marked_;
  std::string id_;
  std::vector<std::string> etags_;
};

Refusal cannot_copy(const PutTools& tools, const CopyRequest& request) {
  return refused(Error::of(ErrorKind::unsupported, "K008",
                           fmt::format("{} cannot copy `{}` to `{}` under the condition that was asked for",
                                       tools.bucket.name(), request.from, request.to.key))
                     .with_hint("store the bytes instead: there the condition is checked"));
}

} // namespace

bool can_copy(const CopyRequest& request, const Capabilities& capabilities) {
  if (request.to.condition == Condition::none) return true;
  bool checked = request.to.condition == Condition::match ? capabilities.if_match : capabilities.if_absent;
  return checked && capabilities.complete_conditions && request.size > 0;
}

void keep_metadata(const net::Headers& source, PutRequest& to) {
  if (to.content_type.empty()) to.content_type = net::header(source, "content-type");
  if (to.cache_control.empty()) to.cache_control = net::header(source, "cache-control");
  for (const auto* name : {"content-encoding", "content-disposition", "content-language", "expires"})
    if (auto value = net::header(source, name); !value.empty() && net::header(to.metadata, name).empty())
      to.metadata.emplace_back(name, value);
}

PutOutcome copy_object(const PutTools& tools, const CopyRequest& request) {
  auto capabilities = Capabilities{};
  bool conditional = request.to.condition != Condition::none;
  if (conditional) {
    auto known = tools.capabilities.get();
    if (!known) return tl::unexpected(refused(std::move(known).error()));
    capabilities = *known;
  }
  if (!can_copy(request, capabilities)) return tl::unexpected(cannot_copy(tools, request));
  Copy copy(tools, request, capabilities);
  return conditional || request.size > k_copy_whole_max ? copy.in_parts() : copy.whole();
}

} // namespace quarry::s3
