#pragma once
// Private to the room.
// Begins and ends multipart uploads. The server keeps an upload, and its parts, until it is completed or ended; the
// object appears only when the upload is completed.
#include "s3/bucket.hpp"
#include <string>
#include <vector>

namespace quarry::s3 {

/// Whose upload it is, and what for: `action` is said in messages ("store `k`").
struct UploadTarget {
  Bucket& bucket;
  const BucketKey& key;
  std::string action;
};

/// Starts an upload with the headers that the object shall have, and returns its id. A refusal is never ambiguous: no
/// object has appeared. For each lost reply, also one whose retry succeeds, an upload without parts may stay on the
/// server, which remove_leftovers() ends. Costs one request.
tl::expected<std::string, Refusal> start_upload(const UploadTarget& target, Pairs headers);

/// Ends an upload and removes its parts. Returns true if the server ended it or does not know it (NoSuchUpload). After
/// a failure remove_leftovers() ends it; after an interruption it always fails. Costs one request.
bool end_upload(const UploadTarget& target, const std::string& id);

/// The body of CompleteMultipartUpload: ETags in the order of the parts. Pure.
std::string completion_body(const std::vector<std::string>& etags);

} // namespace quarry::s3
