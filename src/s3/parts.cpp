// A multipart upload: begin or resume it, transfer the parts, complete it. Parts that an earlier run sent are reused if
// the server lists them and the bytes of the content have not changed.
#include "s3/part_transfer.hpp"

#include "digest/crc64.hpp"
#include "s3/replies.hpp"
#include "s3/upload.hpp"
#include "s3/writes.hpp"
#include <fmt/core.h>

namespace quarry::s3 {

namespace {

constexpr std::uint64_t k_complete_stall_ms = 300'000; // S3 may take minutes to join thousands of parts
constexpr std::uint64_t k_part_pages_max = 10'000;     // S3 allows as many parts, and lists one at least on a page
constexpr std::uint64_t k_part_list_bytes_max = 4u << 20;

Error too_large_for_parts(const PutRequest& request) {
  return {ErrorKind::resource_exhausted,
          "K013",
          fmt::format("`{}` has {} bytes, more than can be stored in parts of the memory that is used", request.key,
                      request.content.size()),
          {},
          {},
          {}};
}

bool abort_upload(const PartUpload& upload, const std::string& id) {
  return end_upload({upload.tools.bucket, upload.request.key, "end an upload"}, id);
}

// ---- begin

// An upload that is about to begin, or an earlier one as it would begin now.
struct Beginning {
  Marked marked;
  Pairs headers; // of the request that starts it: the server gives them to the object
};

Beginning beginning_of(const PartUpload& upload, std::string nonce) {
  Beginning beginning{marked_headers(upload.request, std::move(nonce)), {}};
  beginning.headers = beginning.marked.headers;
  if (upload.capabilities.crc64nvme) {
    beginning.headers.emplace_back("x-amz-checksum-algorithm", "CRC64NVME");
    beginning.headers.emplace_back("x-amz-checksum-type", "FULL_OBJECT");
  }
  return beginning;
}

std::string digest_of(const Pairs& headers) {
  std::string text;
  for (const auto& [name, value] : headers) text += name + ": " + value + "\n";
  return sha256(text).hex();
}

// Whether completing the earlier upload gives the object that is asked for now: the same content and the same headers.
bool is_of_same_object(const JournalEntry& entry, const PartUpload& upload, const Beginning& beginning) {
  return entry.sha256 == upload.request.sha256->hex() && entry.size == upload.request.content.size() &&
         entry.part_size == upload.part_bytes && entry.headers == digest_of(beginning.headers);
}

// The parts of the journal that the server lists, too; nullopt if it does not answer or its list repeats itself: the
// upload then starts anew, and `gc` ends the old one.
std::optional<KnownParts> parts_on_server(const PartUpload& upload, const JournalEntry& entry) {
  KnownParts known;
  std::string marker, last;
  for (std::uint64_t pages = 0; pages < k_part_pages_max; ++pages) {
    Pairs query = {{"uploadId", entry.upload_id}};
    if (!marker.empty()) query.emplace_back("part-number-marker", marker);
    auto answer = upload.tools.bucket.call({.action = fmt::format("list the parts of `{}`", upload.request.key),
                                            .key = upload.request.key,
                                            .query = query,
                                            .answer_bytes_max = k_part_list_bytes_max});
    if (!answer) return std::nullopt; // ended or removed meanwhile
    auto page = parse_parts(answer->response.body);
    if (!page) return std::nullopt;
    known.merge(known_parts(*page, entry.parts));
    last = std::exchange(marker, page->next_marker);
    if (marker.empty()) return known;
    if (marker == last) return std::nullopt;
  }
  return std::nullopt;
}

// The upload of an earlier run, if the journal has one of the same object.
std::optional<BegunUpload> resume(const PartUpload& upload, const Journal* journal) {
  if (!journal || !journal->entry()) return std::nullopt;
  const auto& entry = *journal->entry();
  auto beginning = beginning_of(upload, entry.nonce);
  if (!is_of_same_object(entry, upload, beginning)) { // another object: the old upload will never be completed
    abort_upload(upload, entry.upload_id);            // if the server does not end it, `gc` does later
    return std::nullopt;
  }
  auto known = parts_on_server(upload, entry);
  if (!known) return std::nullopt;
  return BegunUpload{entry.upload_id, std::move(beginning.marked), std::move(*known)};
}

tl::expected<BegunUpload, Refusal> begin(const PartUpload& upload, Journal* journal) {
  if (auto resumed = resume(upload, journal)) return std::move(*resumed);
  const auto& request = upload.request;
  auto [marked, headers] = beginning_of(upload, {});
  auto of_headers = digest_of(headers);
  auto id = start_upload({upload.tools.bucket, request.key, fmt::format("begin to store `{}`", request.key)},
                         std::move(headers));
  if (!id) return tl::unexpected(std::move(id.error()));
  if (journal)
    journal->begin(
        {*id, marked.nonce, request.sha256->hex(), of_headers, request.content.size(), upload.part_bytes, {}});
  return BegunUpload{std::move(*id), std::move(marked), {}};
}

// ---- complete

Call completion(const PartUpload& upload, const std::string& id, const SentParts& sent) {
  const auto& request = upload.request;
  auto body = completion_body(sent.etags);
  Call call{.action = fmt::format("complete `{}`", request.key), .method = "POST", .key = request.key};
  call.query = {{"uploadId", id}};
  if (upload.capabilities.complete_conditions) call.headers = condition_headers(request, upload.capabilities);
  if (upload.capabilities.crc64nvme) {
    call.headers.emplace_back("x-amz-checksum-crc64nvme", crc64nvme_base64(sent.crc64nvme));
    call.headers.emplace_back("x-amz-checksum-type", "FULL_OBJECT");
  }
  call.body_sha256 = sha256(body).hex();
  call.body = content::Rope::literal(std::move(body));
  call.answer_may_be_error = true;
  call.stall_ms = k_complete_stall_ms;
  return call;
}

// On a server that ignores conditions on CompleteMultipartUpload, an object too large for one PUT: the condition is
// checked by a HEAD as late as possible.
tl::expected<void, Refusal> condition_still_holds(const PartUpload& upload) {
  const auto& request = upload.request;
  const auto& can = upload.capabilities;
  bool checked = can.complete_conditions && !condition_headers(request, can).empty();
  if (request.condition == Condition::none || checked) return {};
  return check_by_looking(upload.tools, request);
}

/// Whether a later run may succeed with the parts that are there.
bool may_pass_later(const Refusal& refusal) {
  auto kind = refusal.error.kind;
  return kind == ErrorKind::cancelled || kind == ErrorKind::unavailable || kind == ErrorKind::timed_out ||
         kind == ErrorKind::unauthenticated;
}

// Keeps the parts on the server if a later run may resume the upload; otherwise removes them.
PutOutcome abandon(const PartUpload& upload, const std::string& id, Journal* journal, Refusal refusal) {
  refusal.ambiguous = false; // without Complete there is no object
  if (journal && may_pass_later(refusal)) return tl::unexpected(std::move(refusal));
  // The next run resumes or ends an upload that is still there: the journal knows its id.
  if (abort_upload(upload, id) && journal) journal->remove();
  return tl::unexpected(std::move(refusal));
}

// NoSuchUpload may mean that an earlier attempt completed the upload, or an earlier run that this one resumed.
PutOutcome completed_otherwise(const PartUpload& upload, const BegunUpload& begun, Journal* journal, Refusal refusal,
                               const Sha256& digest) {
  auto kind = refusal.error.kind;
  bool unsent = refusal.status == 0 && (kind == ErrorKind::unauthenticated || kind == ErrorKind::cancelled);
  bool unknown =
      refusal.code == "NoSuchUpload" || may_have_been_done(refusal.status) || (refusal.status == 0 && !unsent);
  if (unknown) refusal.ambiguous = true;
  auto outcome = settled(upload.tools, upload.request, begun.marked, std::move(refusal), digest);
  // Where nobody knows the outcome, also after a 412, the upload may still be there: the next run resumes it.
  bool refused = !outcome && !outcome.error().ambiguous;
  bool overtaken = refused && outcome.error().status == 412;
  // Parts that the server does not want to join would be refused again by each later run.
  bool unfit = refused && outcome.error().status == 400 && !may_pass_later(outcome.error());
  bool lost = refused && !journal; // no later run can resume it
  if (outcome || overtaken || unfit || lost) {
    bool gone = outcome || abort_upload(upload, begun.id);
    if (journal && gone) journal->remove();
  }
  return outcome;
}

PutOutcome complete(const PartUpload& upload, const BegunUpload& begun, const SentParts& sent, Journal* journal) {
  auto call = completion(upload, begun.id, sent);
  if (auto holds = condition_still_holds(upload); !holds)
    return abandon(upload, begun.id, journal, std::move(holds.error()));
  auto done = upload.tools.bucket.call(call);
  if (!done) return completed_otherwise(upload, begun, journal, std::move(done.error()), sent.sha256);
  auto etag = etag_of({done->response.body, "the end of an upload"}, "CompleteMultipartUploadResult");
  if (!etag) // the object may have been made all the same
    return completed_otherwise(upload, begun, journal, refused(std::move(etag).error()), sent.sha256);
  if (journal) journal->remove();
  return PutDone{unquoted(*etag), upload.request.content.size(), sent.sha256, begun.marked.lineage};
}

} // namespace

KnownParts known_parts(const PartPage& page, const KnownParts& journal) {
  KnownParts known;
  for (const auto& part : page.parts) {
    auto it = journal.find(part.number);
    if (it != journal.end() && it->second.etag == part.etag && it->second.size == part.size)
      known[part.number] = it->second;
  }
  return known;
}

PutOutcome put_parts(const PutTools& tools, const PutRequest& request, const Capabilities& capabilities) {
  auto size = request.content.size(), part_bytes = part_size({size, tools.limits.part_bytes});
  if (part_bytes > tools.slabs.bytes_max()) return tl::unexpected(refused(too_large_for_parts(request)));
  PartUpload upload{tools, request, capabilities, part_bytes, (size + part_bytes - 1) / part_bytes};
  // Not by the region in which call() has found the bucket: the next run does not know it when it begins.
  auto object = configured_name(tools.bucket.location(), request.key) + " upload";
  std::optional<Journal> kept;
  if (request.sha256) kept = Journal::open(tools.journals, object); // only known content is recognised again
  auto* journal = kept ? &*kept : nullptr;
  auto begun = begin(upload, journal);
  if (!begun) return tl::unexpected(std::move(begun.error()));
  auto sent = transfer_parts(upload, *begun, journal);
  if (!sent) return abandon(upload, begun->id, journal, std::move(sent.error()));
  return complete(upload, *begun, *sent, journal);
}

} // namespace quarry::s3
