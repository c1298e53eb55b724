#pragma once
// Copies an object on the server, inside a bucket or from another bucket of the same service: no bytes pass through
// this machine. Thread-safe.
#include "s3/put.hpp"

namespace quarry::s3 {

struct CopyRequest {
  BucketKey from;
  std::string from_etag;        ///< the copy fails if the source has another ETag by then
  std::uint64_t size = 0;       ///< of the source
  PutRequest to;                ///< the target; its content is not used
  std::string from_bucket = {}; ///< empty: the same one
};

/// Copies in one request, or in parts if the source has more than 5 GiB or `to` has a condition: CopyObject has no
/// condition on the target, CompleteMultipartUpload has. The caller checks that the server has complete_conditions, and
/// if_match for Condition::match; otherwise the copy is unconditional. Returns and fails as put_object() does, but
/// PutDone::sha256 is not set; also K022 if the source has another ETag. Costs one request, or one per 512 MiB and two
/// more.
PutOutcome copy_object(const PutTools& tools, const CopyRequest& request);

inline constexpr std::uint64_t k_copy_whole_max = 5ull << 30; ///< S3's limit of CopyObject
inline constexpr std::uint64_t k_copy_part_bytes =
    512u << 20; ///< large, since nothing is sent; few, since each is a request

} // namespace quarry::s3
