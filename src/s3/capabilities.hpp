#pragma once
// What a server does with conditions, checksums and keys that end in a slash, found out by asking it: many accept the
// headers and ignore them.
// The answer is kept beside the objects (`.quarry/capabilities.json`, docs/formats/store.md), so that one look serves
// all jobs for a while. Amazon's own buckets are not asked.
#include "s3/bucket.hpp"
#include <mutex>
#include <optional>

namespace quarry::s3 {

struct Capabilities {
  bool if_absent = true;           ///< PUT honours If-None-Match: *
  bool if_match = true;            ///< PUT honours If-Match
  bool quoted_if_match = true;     ///< with the etag in quotes, as RFC 9110 wants; else without
  bool complete_conditions = true; ///< so does CompleteMultipartUpload
  bool crc64nvme = true;           ///< a wrong x-amz-checksum-crc64nvme is refused
  bool slash_keys = true;          ///< keeps an object under `a/` beside `a/b`, and none under `a`
  bool conditional_writes() const { return if_absent && if_match; }
  bool operator==(const Capabilities&) const = default;
};

std::string capabilities_json(const Capabilities& capabilities, const std::string& endpoint, std::int64_t now_us);
struct KeptCapabilities {
  Capabilities capabilities;
  bool expired = false; ///< older than a week, or from the future
};
/// nullopt when it is another endpoint's, or not readable.
std::optional<KeptCapabilities> parse_capabilities(std::string_view text, const std::string& endpoint,
                                                   std::int64_t now_us);

/// Writes, looks and removes below `prefix`.quarry/. K-errors of the server.
Result<Capabilities> probe(Bucket& bucket, const std::string& prefix);

/// Thread-safe; asks once. `prefix` is empty or ends with '/'. An expired record is still used by whoever may not renew
/// it (K003). Without any, K003 says which role is needed.
class CapabilityCache {
public:
  CapabilityCache(Bucket& bucket, std::string prefix, const sys::Clock& clock)
      : bucket_(bucket), prefix_(std::move(prefix)), clock_(clock) {}
  Result<Capabilities> get();

private:
  Bucket& bucket_;
  std::string prefix_;
  const sys::Clock& clock_;
  std::mutex mutex_;
  std::optional<Capabilities> known_;
};

} // namespace quarry::s3
