#pragma once
// Private to the room.
// Reads ranges of one version of an S3 object. Private to the s3 backend.
#include "s3/bucket.hpp"
#include "store/counting.hpp"
#include "store/object_store.hpp"
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace quarry::store {

struct PinnedObject {
  s3::BucketKey key;
  ObjectInfo info; ///< its ETag and size identify the version
};

/// Fills `into` with the bytes from `offset` on. Fails with corrupt (K022) if the object was replaced or removed (K003
/// if it was removed and the server hides that), with K021 if the server answers with another range, and with the
/// errors of `bucket`. One request, if-match. Thread-safe.
Result<void> fetch_range(s3::Bucket& bucket, AtomicCounters& counters, const PinnedObject& pinned, std::uint64_t offset,
                         std::span<std::byte> into);

} // namespace quarry::store
