#pragma once
// Stores one object: in one request from memory, streamed in one request, or as a multipart upload. The way is chosen
// so that the server evaluates the condition atomically, if it can (put_object). If a reply is lost, marks in the
// object's metadata tell whether our write happened. Thread-safe.
#include "digest/sha256.hpp"
#include "s3/bucket.hpp"
#include "s3/capabilities.hpp"
#include "s3/journal.hpp"
#include "s3/slabs.hpp"
#include <functional>

namespace quarry::s3 {

enum class Condition : std::uint8_t { none, absent, match }; ///< precondition: none, If-None-Match: *, If-Match

struct PutRequest {
  BucketKey key;
  content::Rope content;
  Condition condition = Condition::none;
  std::string etag;    ///< for match: the expected ETag, without quotes (unquoted())
  std::string lineage; ///< for match: the k_lineage header of the object with that ETag, if it was seen
  std::string content_type, cache_control;
  Pairs metadata; ///< other system metadata that the object gets, such as content-encoding; names in lower case
  /// The content's digest, if it is known beforehand: recorded with the object (x-amz-meta-quarry-sha256), and needed
  /// to resume an upload. put_object() does not compare the content with it; `check` does that. A streamed request
  /// (rule 3 of put_object()) is signed with it: a server that checks this refuses other bytes (K007).
  std::optional<Sha256> sha256;
  /// Called with the digest of the content that was read, before the object becomes visible, perhaps by another thread
  /// than the caller's; for streamed content again when an attempt is repeated. Its error is returned.
  std::function<Result<void>(const Sha256&)> check;
  /// Called with the total of bytes sent, by one thread at a time, perhaps not the caller's. Parts that an earlier run
  /// sent count. The total falls when a request for the whole content is repeated.
  std::function<void(std::uint64_t)> on_progress;
};

struct PutDone {
  std::string etag; ///< empty: another writer has replaced the object already, or the server gave none
  std::uint64_t size = 0;
  Sha256 sha256;
  std::string lineage;
};

/// The header with an object's write lineage: a list of marks, newest first. A mark is a random nonce of one write. The
/// first one is that of the write that made the object; then follow those of the objects that it replaced, 24 marks at
/// most. Only Quarry's if-match writes pass the list on, if they know it; every other write begins a new one. So the
/// outcome of a write whose reply was lost can be found out, even if if-match writes of Quarry have replaced the object
/// since.
inline constexpr std::string_view k_lineage = "x-amz-meta-quarry-writes";
/// What was stored, or a Refusal:
///   - `ambiguous`: the outcome is unknown, whatever the status. A reply was lost, or the server failed, and a HEAD did
///     not show whether the write happened. At the completion of an upload put_object() also counts NoSuchUpload and
///     status 0 as a lost reply, because an earlier attempt or run may have completed the upload. Missing credentials,
///     and an interruption before the whole request was sent, do not count as a lost reply;
///   - not ambiguous, status 412: the condition does not hold now. A write of ours that others replaced before we
///     looked may be reported so, too;
///   - not ambiguous, status 409: another writer was at work. If the request makes the object (a PUT, or the
///     completion of an upload), settled() turns 409 into 412: for `match` always, for `absent` if a HEAD finds an
///     object.
using PutOutcome = tl::expected<PutDone, Refusal>;

struct PartLimits {
  std::uint64_t part_bytes = 8u << 20;         ///< also the largest object of rule 1; at most Slabs::bytes_max()
  std::uint64_t single_put_bytes = 5ull << 30; ///< S3's own limit of one PUT
  unsigned uploaders = 4;                      ///< threads that send parts of one object
};

/// What all puts into a bucket share; must outlive them.
struct PutTools {
  Bucket& bucket;
  CapabilityCache& capabilities;
  Slabs& slabs;
  const JournalPlace& journals;
  PartLimits limits;
};

/// Stores `request.content` under `request.key`, if the condition holds. Three rules:
///   1. Up to part_bytes: from memory, in one request.
///   2. Larger: in parts. One request begins the upload, each part takes one, and one completes it. A resumed upload is
///      not begun again: its parts are listed, with one request per 1000 parts, and the server's parts are not sent
///      again if their bytes are unchanged.
///   3. Larger, with a condition, if the server checks that condition in a plain PUT but not at the end of an upload in
///      parts: streamed in one request up to single_put_bytes (5 GiB). A larger object is sent in parts with a HEAD
///      before the end: not atomic.
/// If a plain PUT does not check the condition, rules 1 and 2 apply with a HEAD before the write, and for parts another
/// HEAD before the end; that is not atomic. A conditional or large put first asks tools.capabilities. Rules 1 and 2
/// take memory from `tools.slabs`; rule 3 takes none when it streams. An upload has at most 9500 parts, and each part
/// must fit into Slabs::bytes_max(); if it does not, K013, before the upload begins. With 48 MiB an object can have 445
/// GiB. A put waits until other puts have released enough memory. An unclear outcome costs a HEAD (settled()). Over
/// plain http to another machine (QUARRY_ALLOW_PLAIN_HTTP) a streamed content without sha256 is read twice.
///
/// When a put in parts fails, put_object() sends a request that ends the upload and removes its parts. It does not send
/// it in these cases, and the upload stays on the server:
///   - There is a journal (known sha256, journal.hpp), the status is not 412, and the error is of the kind cancelled,
///     unavailable, timed_out or unauthenticated: the next run may succeed. It does not matter whether the server, the
///     network or the content failed. Such errors are an interruption, the network (not H003 or H010), an overload, a
///     full store (K014), a part that the server lost (InvalidPart), missing or refused credentials, a wrong clock
///     (K009) and access denied (K003).
///   - There is a journal, and the server refused the completion with a status other than 412 and 400.
///   - The outcome of the completion is unknown (`ambiguous`), even if its last answer was 412.
///   - The process was killed.
///   - The id of the upload is unknown, because the reply to the request that begins it was lost or not understood.
///     After a lost reply that request is sent again, so even a put that succeeds may leave such an upload.
/// If the request that ends the upload fails, the upload and its journal stay. After an interruption it always fails.
///
/// The next put of the object that has the journal resumes the upload. If content, headers or part size differ, it
/// tries to end that upload and begins another. If the parts cannot be listed, for whatever cause, such as without
/// s3:ListMultipartUploadParts, it begins another upload and leaves the old one. What nobody resumes or ends stays
/// until ObjectWriter::remove_leftovers().
PutOutcome put_object(const PutTools& tools, const PutRequest& request);

struct Parting {
  std::uint64_t size = 0;       ///< of the object
  std::uint64_t part_bytes = 0; ///< wanted
};
/// Returns the bytes of a part: `part_bytes`, or more so that there are at most 9500 (S3 allows 10,000). Pure.
std::uint64_t part_size(const Parting& parting);

} // namespace quarry::s3
