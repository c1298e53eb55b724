#pragma once
// Copies an object on the server, inside a bucket or from another bucket of the same service: no bytes pass through
// this machine. Thread-safe.
#include "s3/put.hpp"

namespace quarry::s3 {

struct CopyRequest {
  BucketKey from;
  std::string from_etag;        ///< without quotes; the copy fails if the source has another ETag by then
  std::uint64_t size = 0;       ///< of the source
  PutRequest to;                ///< the target; its content, `check` and `on_progress` are not used
  std::string from_bucket = {}; ///< empty: the bucket of the target
};

/// Whether the server can copy this with the condition of `to`. Without a condition it always can. With one it can if
/// the server checks conditions when an upload is completed (complete_conditions, and if_match or if_absent, whichever
/// `to` has), and the source is not empty, because an upload has at least one part. Pure.
bool can_copy(const CopyRequest& request, const Capabilities& capabilities);

/// Copies in one request, or in parts if the source has more than 5 GiB or `to` has a condition: many servers ignore a
/// condition on the target of CopyObject. Never copies without the condition that was asked for: K008 if can_copy() is
/// false, and nothing was written. Returns and fails as put_object() does. PutDone::sha256 is all zeros, and K013
/// cannot occur. Also fails with:
///   - K022 and status 0 if the source has another ETag. Status 412 is always about the condition on the target;
///   - status 404 if the source does not exist;
///   - status 404 and Refusal::code NoSuchUpload if somebody ended the upload. At a part this is not ambiguous. At the
///     completion it is, unless a HEAD finds the copy: an earlier attempt may have completed the upload.
/// A copy in parts that failed tries to end its upload. One that was killed or interrupted, or has an unknown outcome,
/// leaves it until ObjectWriter::remove_leftovers(); so does a lost reply to the request that begins it. Costs one
/// request, or in parts one per 512 MiB and two more; with a condition also what tools.capabilities costs. Copies
/// `limits.uploaders` parts at a time, each in a thread; the caller's thread is one of them.
PutOutcome copy_object(const PutTools& tools, const CopyRequest& request);

/// What a copy keeps of the source's headers: content-type, cache-control, content-encoding, content-disposition,
/// content-language and expires. Fills the fields of `to` that are empty; copy_object() itself keeps nothing of the
/// source. User metadata is not kept, so the digest that Quarry recorded is lost unless the caller sets `to.sha256`.
/// Pure.
void keep_metadata(const net::Headers& source, PutRequest& to);

inline constexpr std::uint64_t k_copy_whole_max = 5ull << 30; ///< S3's limit of CopyObject
inline constexpr std::uint64_t k_copy_part_bytes =
    512u << 20; ///< large, so that there are few requests: the bytes do not pass through this machine

} // namespace quarry::s3
