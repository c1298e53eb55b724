#pragma once
// Finds out whether a server honours conditions, checksums and keys that end in a slash, by probing it: many servers
// accept the headers and ignore them. The result is stored in the bucket (`.quarry/capabilities.json`,
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
  /// Whether writes send the ETag of If-Match in quotes, as RFC 9110 says. Reads and the sources of copies always do.
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
/// CapabilityCache). Fails as Bucket::call() does. About half of the requests are sent once (twice after a corrected
/// clock, credentials or region), the others are retried as Bucket::call() says. If one fails for a passing cause
/// (unavailable or timed_out), the probe starts over with new objects, up to eight rounds in all. This also happens if
/// the server cannot be reached. At its end a round removes the objects that it has or may have written, with at most
/// three requests; it stops at the first one without a reply. A round that is killed, interrupted or cannot clean up
/// leaves up to three small objects and an upload. If the reply to the request that begins an upload is lost, one more
/// upload may stay.
Result<Capabilities> probe(Bucket& bucket, const std::string& prefix);

/// The capabilities of one bucket. get() is free at Amazon's endpoint of a region. Elsewhere it reads the stored
/// record:
///   - a valid record: one request;
///   - the read gets no reply: the network failed (H-codes, but not H006), credentials are missing, or somebody
///     interrupted it (D006). Then get() fails with the error of the read. It does not probe;
///   - the read finds no valid record, or fails in another way than those here, such as 503: it probes and stores what
///     it found. If storing fails, get() succeeds, and the next job probes again;
///   - the server refuses the read (unauthenticated, such as K003), as where it hides absent objects: it probes and
///     stores nothing, so each job probes again;
///   - these credentials may not write the probe's objects (K003): an expired record is used. Without a record, get()
///     fails with K003, whose hint names the command that makes the record.
/// After any other error of the probe get() fails, also if there is an expired record. Later calls are free and give
/// the same answer; after a failure the next call tries again. `bucket` and `clock` must outlive the cache. `prefix` is
/// empty or ends with '/'. Thread-safe: one caller probes, the others wait.
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
