#pragma once
// Private to the room.
// What all writes of an object have in common, whole or in parts or by a copy: its headers, its condition, and what
// became of a write whose reply was lost.
#include "s3/put.hpp"
#include <cstdint>
#include <string>

namespace quarry::s3 {

struct Marked { ///< the headers of an object, with the mark of this write
  std::string nonce, lineage;
  Pairs headers;
};
/// Returns the headers with which an object is stored: marks, content type, cache control, metadata. An empty nonce: a
/// new one.
Marked marked_headers(const PutRequest& request, std::string nonce = {});
/// Returns the If-… header of the condition; none if the server ignores that one. Pure.
Pairs condition_headers(const PutRequest& request, const Capabilities& capabilities);

/// What became of a write whose reply was lost.
enum class Fate : std::uint8_t { written, not_written, unknown };
struct WriteTraces {
  std::string now;      ///< the lineage of the stored object
  std::string nonce;    ///< the mark of our write
  std::string replaced; ///< the lineage of the object that it was to replace
};
/// Written, if our mark is in `now`; else not written, if the first mark of `replaced` is in `now`; else unknown. Pure.
Fate fate_of(const WriteTraces& traces);

/// Turns the failure of a write into its outcome. In this order:
///   1. For match, a conflict (409) and an object that does not exist (404, but not NoSuchUpload or NoSuchBucket)
///      become status 412.
///   2. A failure that is not ambiguous is returned as it is; only a conflict for absent is looked at first: 412 if a
///      HEAD finds an object.
///   3. After an ambiguous failure a HEAD decides:
///      - The write happened if the object has our mark: success.
///      - It did not happen if the last answer was 5xx, no attempt was `unanswered`, and the condition of the write
///        still holds (without one the outcome stays unknown).
///      - It did not happen if fate_of() says so and the status is 412, also one that rule 1 made.
///      - For absent, it did not happen if the last answer was 412 or a conflict (409), and an object exists.
///   4. Otherwise, also if the HEAD fails, the outcome stays unknown (ambiguous).
/// A write that another writer has replaced or removed before the HEAD may count as not written. If an attempt is
/// `unanswered`, the server may still carry it out after settled() has returned 412, if its condition then holds.
PutOutcome settled(const PutTools& tools, const PutRequest& request, const Marked& marked, Refusal refusal,
                   const Sha256& digest);
/// Stores the content as a multipart upload, as put_object() says.
PutOutcome put_parts(const PutTools& tools, const PutRequest& request, const Capabilities& capabilities);
/// Imitates a condition (not `none`) that the server does not check: a HEAD before the write. Status 412 if it does not
/// hold. Safe for a single writer only; that is why channels and distributions are refused on such a server (R031).
tl::expected<void, Refusal> check_by_looking(const PutTools& tools, const PutRequest& request);
Refusal refused(Error error);                       ///< wraps an error of our own
Refusal precondition_refusal(const BucketKey& key); ///< status 412, as a server answers

} // namespace quarry::s3
