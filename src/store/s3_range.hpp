#pragma once
// Reads of ranges of one version of an S3 object. Private to the s3 backend.
#include "s3/bucket.hpp"
#include "store/counting.hpp"
#include "store/object_store.hpp"
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace quarry::store {

struct PinnedObject {
  std::string key; ///< in the bucket: with the store's prefix
  ObjectInfo info; ///< its etag and size say which version is meant
};

/// Fills `into` with the bytes from `offset` on, with one request. corrupt K022 when the object was replaced, K021 when
/// the server answers with another range; the errors of `bucket`.
Result<void> fetch_range(s3::Bucket& bucket, AtomicCounters& counters, const PinnedObject& pinned, std::uint64_t offset,
                         std::span<std::byte> into);

} // namespace quarry::store
