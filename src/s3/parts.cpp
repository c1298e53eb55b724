// A multipart upload: one thread reads the content in order, hashes it and fills slabs; a few threads send them. Parts
// that an earlier run sent are reused if the server lists them and the bytes of the content have not changed.
#include "s3/put.hpp"

#include "digest/crc64.hpp"
#include "s3/replies.hpp"
#include "sys/clock.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::s3 {

namespace {

constexpr std::uint64_t k_complete_stall_ms = 300'000; // S3 may take minutes to join thousands of parts

constexpr std::uint64_t k_part_pages_max = 10'000; // S3 allows as many parts, and lists one at least on a page

struct Part {
  unsigned number = 0; // from 1
  std::uint64_t size = 0, crc = 0;
  Slabs::Slab slab;
};

class Parts {
public:
  Parts(const PutTools& tools, const PutRequest& request, const Capabilities& capabilities)
      : tools_(tools), request_(request), capabilities_(capabilities),
        part_bytes_(part_size(request.content.size(), tools.limits.part_bytes)),
        count_((request.content.size() + part_bytes_ - 1) / part_bytes_), etags_(count_), queue_(1) {}

  PutOutcome run() {
    if (part_bytes_ > tools_.slabs.bytes_max()) return tl::unexpected(refused(too_large()));
    auto key = fmt::format("{} {}", url_of(tools_.bucket.location(), request_.key).text(), "upload");
    if (request_.sha256) journal_ = Journal::open(tools_.journals, key); // only known content is recognised again
    if (auto begun = begin(); !begun) return tl::unexpected(std::move(begun.error()));
    auto sent = parallel_for(tools_.limits.uploaders + 1, tools_.limits.uploaders + 1, [&](std::size_t i) {
      auto done = i == 0 ? read_all() : send_all();
      if (!done) stop();
      return done;
    });
    if (failed_) return abandon(std::move(*failed_));
    if (!sent) return abandon(refused(std::move(sent).error()));
    return complete();
  }

private:
  Error too_large() const {
    return {ErrorKind::resource_exhausted,
            "K013",
            fmt::format("`{}` has {} bytes, more than can be stored in parts of the memory that is used", request_.key,
                        request_.content.size()),
            {},
            {},
            {}};
  }
  void stop() {
    stopped_ = true;
    queue_.close();
  }

  tl::expected<void, Refusal> begin() {
    if (resume()) return {};
    auto marked = marked_ = marked_headers(request_);
    if (capabilities_.crc64nvme) {
      marked.headers.emplace_back("x-amz-checksum-algorithm", "CRC64NVME");
      marked.headers.emplace_back("x-amz-checksum-type", "FULL_OBJECT");
    }
    auto created = tools_.bucket.call({.action = fmt::format("begin to store `{}`", request_.key),
                                       .method = "POST",
                                       .key = request_.key,
                                       .query = {{"uploads", ""}},
                                       .headers = marked.headers,
                                       .body = content::Rope()});
    if (!created) return tl::unexpected(std::move(created.error()));
    auto id = parse_upload_id(created->response.body, "the start of an upload");
    if (!id) return tl::unexpected(refused(std::move(id).error()));
    id_ = std::move(*id);
    if (journal_)
      journal_->begin({id_, marked_.nonce, request_.sha256->hex(), request_.content.size(), part_bytes_, {}});
    return {};
  }

  /// Returns true if an earlier upload of the same content can be resumed; known_ then has the parts that the server
  /// has.
  bool resume() {
    if (!journal_ || !journal_->entry()) return false;
    const auto& entry = *journal_->entry();
    bool same = entry.sha256 == request_.sha256->hex() && entry.size == request_.content.size() &&
                entry.part_size == part_bytes_;
    if (!same) { // other content under this key: the old upload will never be completed
      abort(entry.upload_id);
      return false;
    }
    std::map<unsigned, JournalPart> listed;
    std::string marker, last;
    std::uint64_t pages = 0;
    do {
      Pairs query = {{"uploadId", entry.upload_id}};
      if (!marker.empty()) query.emplace_back("part-number-marker", marker);
      auto answer = tools_.bucket.call({.action = fmt::format("list the parts of `{}`", request_.key),
                                        .key = request_.key,
                                        .query = query,
                                        .answer_bytes_max = 4u << 20});
      if (!answer) return false; // ended or removed meanwhile
      auto page = parse_parts(answer->response.body);
      if (!page) return false;
      for (const auto& part : page->parts) {
        auto known = entry.parts.find(part.number);
        if (known != entry.parts.end() && known->second.etag == part.etag && known->second.size == part.size)
          listed[part.number] = known->second;
      }
      last = std::exchange(marker, page->next_marker);
      // If the list repeats itself, the upload starts anew; `gc` ends the old one.
      if (++pages > k_part_pages_max || (!marker.empty() && marker == last)) return false;
    } while (!marker.empty());
    known_ = std::move(listed);
    id_ = entry.upload_id;
    marked_ = marked_headers(request_, entry.nonce);
    return true;
  }

  Result<void> read_all() {
    Sha256Hasher hasher;
    for (std::uint64_t i = 0; i < count_ && !stopped_; ++i) {
      Part part{static_cast<unsigned>(i + 1), std::min(part_bytes_, request_.content.size() - i * part_bytes_), 0, {}};
      part.slab = tools_.slabs.take(part_bytes_);
      TRY_DO(fill(part, i * part_bytes_, hasher), "while storing " + request_.key);
      crc_ = crc64nvme_combine(crc_, part.crc, part.size);
      auto known = known_.find(part.number);
      if (known != known_.end() && known->second.crc64nvme == part.crc && known->second.size == part.size) {
        etags_[i] = known->second.etag;
        progress(part.size);
      } else if (!queue_.push(std::move(part))) {
        return {};
      }
    }
    digest_ = hasher.finish();
    if (!stopped_ && request_.check) TRY_DO(request_.check(digest_));
    queue_.close();
    return {};
  }

  // In pieces that stay in the cache between reading, SHA-256 and CRC.
  Result<void> fill(Part& part, std::uint64_t offset, Sha256Hasher& hasher) {
    constexpr std::uint64_t k_piece = 256u << 10;
    for (std::uint64_t at = 0; at < part.size; at += k_piece) {
      auto piece = part.slab->subspan(at, std::min(k_piece, part.size - at));
      TRY_DO(request_.content.read(offset + at, piece));
      hasher.update(piece);
      part.crc = crc64nvme(part.crc, piece);
    }
    return sys::check_interrupted();
  }

  Result<void> send_all() {
    while (auto part = queue_.pop()) {
      if (stopped_) return {};
      auto sent = send(*part);
      if (sent) continue;
      std::lock_guard lock(mutex_);
      if (!failed_) failed_ = std::move(sent.error());
      return fail(failed_->error);
    }
    return {};
  }

  tl::expected<void, Refusal> send(Part& part) {
    Call call{.action = fmt::format("store part {} of `{}`", part.number, request_.key),
              .method = "PUT",
              .key = request_.key};
    call.query = {{"partNumber", std::to_string(part.number)}, {"uploadId", id_}};
    if (capabilities_.crc64nvme) call.headers = {{"x-amz-checksum-crc64nvme", crc64nvme_base64(part.crc)}};
    if (!tools_.bucket.unsigned_body_is_safe()) call.body_sha256 = sha256(part.slab->first(part.size)).hex();
    call.body = content::Rope::of(std::make_shared<SlabSource>(part.slab, part.size));
    auto done = tools_.bucket.call(call);
    if (!done) return tl::unexpected(std::move(done.error()));
    auto etag = unquoted(net::header(done->response.headers, "etag"));
    etags_[part.number - 1] = etag;
    if (journal_) journal_->add(part.number, {etag, part.crc, part.size});
    progress(part.size);
    return {};
  }

  void progress(std::uint64_t bytes) {
    std::lock_guard lock(mutex_);
    done_bytes_ += bytes;
    if (request_.on_progress) request_.on_progress(done_bytes_);
  }

  PutOutcome complete() {
    std::string body = "<CompleteMultipartUpload>";
    for (std::size_t i = 0; i < etags_.size(); ++i)
      body += fmt::format("<Part><PartNumber>{}</PartNumber><ETag>&quot;{}&quot;</ETag></Part>", i + 1,
                          xml_escape(etags_[i]));
    body += "</CompleteMultipartUpload>";
    Call call{.action = fmt::format("complete `{}`", request_.key), .method = "POST", .key = request_.key};
    call.query = {{"uploadId", id_}};
    if (capabilities_.complete_conditions) call.headers = condition_headers(request_, capabilities_);
    if (capabilities_.crc64nvme) {
      call.headers.emplace_back("x-amz-checksum-crc64nvme", crc64nvme_base64(crc_));
      call.headers.emplace_back("x-amz-checksum-type", "FULL_OBJECT");
    }
    call.body = content::Rope::literal(body);
    call.body_sha256 = sha256(body).hex();
    call.answer_may_be_error = true;
    call.stall_ms = k_complete_stall_ms;
    if (!holds_still()) return abandon(precondition_refusal(request_.key));
    auto done = tools_.bucket.call(call);
    if (!done) return completed_otherwise(std::move(done.error()));
    auto etag = etag_of(done->response.body, "CompleteMultipartUploadResult", "the end of an upload");
    if (!etag) { // the object may have been made all the same
      auto refusal = refused(std::move(etag).error());
      refusal.ambiguous = true;
      return tl::unexpected(std::move(refusal));
    }
    if (journal_) journal_->remove();
    return PutDone{unquoted(*etag), request_.content.size(), digest_, marked_.lineage};
  }

  /// On a server that ignores conditions on CompleteMultipartUpload, an object too large for one PUT: the condition is
  /// checked by a HEAD as late as possible.
  bool holds_still() {
    if (request_.condition == Condition::none || capabilities_.complete_conditions) return true;
    auto head = tools_.bucket.call(
        {.action = fmt::format("look at `{}`", request_.key), .method = "HEAD", .key = request_.key});
    if (request_.condition == Condition::absent) return !head && head.error().status == 404;
    return head && unquoted(net::header(head->response.headers, "etag")) == request_.etag;
  }

  // NoSuchUpload may mean that an earlier attempt completed the upload, or an earlier run that this one resumed.
  PutOutcome completed_otherwise(Refusal refusal) {
    bool unknown = refusal.code == "NoSuchUpload" || refusal.status >= 500 || refusal.status == 0;
    if (unknown) refusal.ambiguous = true;
    auto outcome = settled(tools_, request_, marked_, std::move(refusal), digest_);
    if (outcome || outcome.error().status == 412) {
      if (journal_) journal_->remove();
      if (!outcome) abort(id_);
    }
    return outcome;
  }

  /// Keeps the parts on the server if a later run may resume the upload; otherwise removes them.
  PutOutcome abandon(Refusal refusal) {
    auto kind = refusal.error.kind;
    bool again = kind == ErrorKind::cancelled || kind == ErrorKind::unavailable || kind == ErrorKind::timed_out ||
                 kind == ErrorKind::unauthenticated;
    refusal.ambiguous = false; // without Complete there is no object
    if (journal_ && again) return tl::unexpected(std::move(refusal));
    abort(id_);
    if (journal_) journal_->remove();
    return tl::unexpected(std::move(refusal));
  }
  void abort(const std::string& id) {
    static_cast<void>(tools_.bucket.call(
        {.action = "end an upload", .method = "DELETE", .key = request_.key, .query = {{"uploadId", id}}}));
  }

  const PutTools& tools_;
  const PutRequest& request_;
  const Capabilities& capabilities_;
  std::uint64_t part_bytes_, count_;
  std::string id_;
  Marked marked_;
  std::vector<std::string> etags_;
  BoundedQueue<Part> queue_;
  std::optional<Journal> journal_;
  std::map<unsigned, JournalPart> known_;
  std::uint64_t crc_ = 0, done_bytes_ = 0;
  Sha256 digest_;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::optional<Refusal> failed_;
};

} // namespace

PutOutcome put_parts(const PutTools& tools, const PutRequest& request, const Capabilities& capabilities) {
  return Parts(tools, request, capabilities).run();
}

} // namespace quarry::s3
