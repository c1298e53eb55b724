#pragma once
// What was to be tested, written next to the evidence (docs/formats/evidence.md, "Attempts"):
// `evidence/attempts/{set}/{digest}.json`. A job that never ran leaves no evidence; these records say that it was meant
// to run, and how it ended. No attempt makes anything ready.
#include "base/result.hpp"
#include "registry/registry.hpp"
#include <map>
#include <string>
#include <vector>

namespace quarry::registry {

struct AttemptWords {
  enum Kind : std::uint8_t { queued, started, ended, skipped, cancelled, timed_out };
  static constexpr std::array<std::string_view, 6> k_texts = {"queued",  "started",   "ended",
                                                              "skipped", "cancelled", "timed_out"};
};
/// How far a job had come when the record was written. `ended`: it ran to its end, whatever came out.
using AttemptState = WordOf<AttemptWords>;

struct AttemptRecord { ///< quarry.attempt/1; a text may be empty only where a comment says so
  Cell cell;           ///< only `platform` must be set
  std::string suite;
  std::vector<SetDigest> sets; ///< sorted, each once, at least one
  std::string job;             ///< the page of the job, or another name for it: records of one job are one attempt
  std::string runner;          ///< label of the machine that it waits for; empty: no machine was named
  AttemptState state;
  Timestamp time;
  std::string unknown = {};
};

/// Returns the canonical bytes, without a newline at the end.
std::string to_json(const AttemptRecord& record);
/// B002 to B004; corrupt R012, also for a record without sets. The order of the sets is not checked.
Result<AttemptRecord> parse_attempt(std::string_view text);
/// Writes the record below each of its sets, and returns the sha256 of its bytes. If an object exists under a key, the
/// call neither reads nor replaces it, and succeeds. So the same record again changes nothing. The record is not
/// checked: the caller gives sorted sets, at least one and at most 900. A record that is invalid or has more than 64
/// KiB is written and counts as junk. If the call fails, some sets may have the record: call it again. One request for
/// each set, one after the other.
Result<Sha256> put_attempt(ObjectStore& store, const AttemptRecord& record);
/// The keys under which an attempt lies, by the digest in their names: one below each set that it names.
using AttemptKeys = std::map<Sha256, std::vector<std::string>>;
/// All attempts that lie below these sets, each once, sorted by time. An attempt that lies below several of them is
/// read below the first; where that object is junk or gone, below the next. Whether a record names the set below which
/// it lies is not checked. Junk is told in `skipped` (R021) and counts for nothing; an attempt whose objects are all
/// gone is left out. One listing for each set, then a read for each record: sixteen sets or records at the same time.
Result<std::vector<AttemptRecord>> list_attempts(ObjectReader& store, const std::vector<SetDigest>& sets,
                                                 Findings& skipped);
/// The same for attempts whose keys are known (About::attempts in evidence_marks.hpp). One read for each attempt,
/// sixteen at the same time.
Result<std::vector<AttemptRecord>> read_attempts(ObjectReader& store, const AttemptKeys& keys, Findings& skipped);

} // namespace quarry::registry
