#pragma once
// Private to the room.
// Listings of a bucket, page by page. Private to the s3 backend.
#include "s3/bucket.hpp"
#include "s3/replies.hpp"
#include "store/object_store.hpp"
#include <string>
#include <string_view>
#include <vector>

namespace quarry::store {

struct S3ListRequest {
  std::string root;       ///< the store's prefix in the bucket, with '/' at its end; or empty
  std::string prefix;     ///< what is listed, below the root
  bool one_level = false; ///< directories instead of what lies below them
  std::string place = {}; ///< the store, for messages
};

/// Returns the key of the store for a key of the bucket; empty if the key does not begin with the request's `root` and
/// `prefix`, or is below `.quarry/`. Pure.
std::string own_key(const s3::BucketKey& full, const S3ListRequest& request);

/// Objects and directories, in the server's order. Omits directory markers and what check_key(…, allowed) refuses.
/// corrupt K020 if the list repeats itself or has more than 100,000 pages; the errors of `bucket`. One request per 1000
/// entries.
Result<Children> list_bucket(s3::Bucket& bucket, const S3ListRequest& request);

/// Multipart uploads below `root` that were not completed. Errors and cost as above.
Result<std::vector<s3::Upload>> list_unfinished(s3::Bucket& bucket, const std::string& root, const std::string& place);

} // namespace quarry::store
