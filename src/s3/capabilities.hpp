#pragma once
// Finds out whether a server honours conditions, checksums and keys that end in a slash, by probing it: many servers
// accept the headers and ignore them. The result is stored beside the objects (`.quarry/capabilities.json`,
// docs/formats/store.md) and used by all jobs for a week. The record is believed: keep `.quarry/` from writers that you
// do not trust. Amazon's endpoint is not probed if it was found by its region. An endpoint that somebody named is
// probed, also one of Amazon.
#include "s3/bucket.hpp"
#include <mutex>
#include <optional>

namespace quarry::s3 {

struct Capabilities {
  bool if_absent = true; ///< PUT honours If-None-Match: *
  bool if_match = true;  ///< PUT honours If-Match
  /// How If-Match of a write has the ETag. True: in quotes, as RFC 9110 says; false: without. Reads and the sources of
  /// copies always use quotes.
  bool quoted_if_match = true;
  bool complete_conditions = true; ///< CompleteMultipartUpload honours If-None-Match; If-Match is assumed with it
  bool crc64nvme = true;           ///< a wrong x-amz-checksum-crc64nvme is refused
  /// The server keeps `a/` and `a/b` as two objects, and then does not show an object `a`. Also false if the probe may
  /// not read what it wrote.
  bool slash_keys = true;
  bool conditional_writes() const { return if_absent && if_match; }
  bool operator==(const Capabilities&) const = default;
};

/// Where a server is asked, and the present time.
struct Probed {
  std::string endpoint; ///< with the bucket
  std::int64_t now_us = 0;
};
/// Returns the stored form. Pure.
std::string capabilities_json(const Capabilities& capabilities, const Probed& probed);
struct KeptCapabilities {
  Capabilities capabilities;
  bool expired = false; ///< older than a week, more than a day in the future, or from before slash_keys existed
};
/// Parses the stored form. Returns nullopt if it is unreadable or belongs to another endpoint. Pure.
std::optional<KeptCapabilities> parse_capabilities(std::string_view text, const Probed& wanted);

/// Probes the server with about 20 requests; writes, reads and removes objects below `prefix`.quarry/ (`prefix` as for
/// CapabilityCache). Fails as Bucket::call() does. About half of the requests are sent once only: if one of them fails
/// for a passing cause, the probe starts over with new objects, up to eight rounds in all. Each round removes what it
/// wrote. It leaves an upload and up to three small objects if it is killed or interrupted, if a reply is lost, or if
/// these credentials may not delete.
Result<Capabilities> probe(Bucket& bucket, const std::string& prefix);

/// The capabilities of one bucket. get() is free at Amazon's endpoint of a region. Else it reads the stored record with
/// one request. If it cannot read a valid one, for whatever reason, it probes and stores what it found. But if the
/// server or the credentials refused the read (unauthenticated), as where a server hides absent objects, it stores
/// nothing, and each job probes again. Later calls are free and give the same answer. If storing fails, get() succeeds
/// and the next job probes again. After a failure the next call tries again. If these credentials may not write the
/// probe's objects (K003), an expired record is used. Without a record, get() fails with K003, whose hint names the
/// command that makes the record. `bucket` and `clock` must outlive the cache. `prefix` is empty or ends with '/'.
/// Thread-safe: one caller probes, the others wait.
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
