#pragma once
// Storing one object: in one request, streamed in one request, or in parts; whichever keeps the condition atomic on
// this server. A lost reply is settled by a mark of ours in the object's metadata. Thread-safe.
#include "digest/sha256.hpp"
#include "s3/bucket.hpp"
#include "s3/capabilities.hpp"
#include "s3/journal.hpp"
#include "s3/slabs.hpp"
#include <functional>

namespace quarry::s3 {

enum class Condition : std::uint8_t { none, absent, match };

struct PutRequest {
  std::string key; ///< the whole key in the bucket
  content::Rope content;
  Condition condition = Condition::none;
  std::string etag;    ///< for match
  std::string lineage; ///< for match: k_lineage of the object with that etag, if it was seen
  std::string content_type, cache_control;
  std::optional<Sha256> sha256; ///< of the content, when it is known before
  /// Called with the digest of what was read, before the name appears; its error is returned.
  std::function<Result<void>(const Sha256&)> check;
  std::function<void(std::uint64_t)> on_progress;
};

struct PutDone {
  std::string etag; ///< empty when a rival has replaced it already
  std::uint64_t size = 0;
  Sha256 sha256;
  std::string lineage;
};

/// The header that tells whose writes led to an object: a mark of its own, then those of the objects that it replaced,
/// as far as they were known. So a write whose reply was lost is found again, also when a rival has built on it.
inline constexpr std::string_view k_lineage = "x-amz-meta-quarry-writes";
/// A refusal with status 412 says that the condition does not hold; `doubtful` that the object may be there or not: a
/// reply was lost, or the server failed and what it holds now does not tell.
using PutOutcome = tl::expected<PutDone, Refusal>;

struct PartLimits {
  std::uint64_t part_bytes = 8u << 20;         ///< also the largest object that is held in memory whole
  std::uint64_t single_put_bytes = 5ull << 30; ///< S3's own limit of one PUT
  unsigned uploaders = 4;                      ///< parts of one object on their way at once
};

/// What all puts into a bucket share.
struct PutTools {
  Bucket& bucket;
  CapabilityCache& capabilities;
  Slabs& slabs;
  const JournalPlace& journals;
  PartLimits limits;
};

PutOutcome put_object(const PutTools& tools, const PutRequest& request);

/// Bytes of a part: `part_bytes`, or more so that there are at most 9500 (S3 allows 10,000).
std::uint64_t part_size(std::uint64_t size, std::uint64_t part_bytes);

// Shared by the ways of storing; private to the room.
struct Marked { ///< headers of an object that is ours to recognise
  std::string nonce, lineage;
  Pairs headers;
};
Marked marked_headers(const PutRequest& request, std::string nonce = {});
Pairs condition_headers(const PutRequest& request, const Capabilities& capabilities);

enum class Fate : std::uint8_t { written, not_written, unknown };
/// What became of a write with `nonce` over an object with `replaced` lineage, from the lineage that is there now.
Fate fate_of(const std::string& now, const std::string& nonce, const std::string& replaced);

PutOutcome settled(const PutTools& tools, const PutRequest& request, const Marked& marked, Refusal refusal,
                   const Sha256& digest);
PutOutcome put_parts(const PutTools& tools, const PutRequest& request, const Capabilities& capabilities);
Refusal refused(Error error);
Refusal precondition_refusal(const std::string& key);

} // namespace quarry::s3
