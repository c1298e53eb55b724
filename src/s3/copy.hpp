#pragma once
// Copying inside a bucket or from another one: no bytes through us. In one request up to 5 GiB, in parts above and
// wherever a condition must hold. Thread-safe.
#include "s3/put.hpp"

namespace quarry::s3 {

struct CopyRequest {
  std::string from, from_etag;  ///< pinned: a source that changes is refused
  std::uint64_t size = 0;       ///< of the source
  PutRequest to;                ///< everything but the content
  std::string from_bucket = {}; ///< empty: the same one
};

/// In parts: from 5 GiB on, or when `to` has a condition (which CompleteMultipartUpload must honour).
PutOutcome copy_object(const PutTools& tools, const CopyRequest& request);

inline constexpr std::uint64_t k_copy_whole_max = 5ull << 30; ///< S3's limit of CopyObject
inline constexpr std::uint64_t k_copy_part_bytes =
    512u << 20; ///< large, since nothing is sent; few, since each is a request

} // namespace quarry::s3
