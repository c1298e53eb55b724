#pragma once
// Which evidence is about which set (docs/formats/evidence.md, "What a verdict reads"): an empty object
// `evidence/attempts/{set}/{digest}` for each set that a record names, beside the attempts to test the set, so that one
// listing of a set finds both. Records of earlier programs have none; only when `evidence/attempts/marked.json` says
// that all have theirs may a verdict read no others.
#include "registry/attempts.hpp"
#include "registry/registry.hpp"
#include <map>
#include <string>
#include <vector>

namespace quarry::registry {

constexpr unsigned k_evidence_requests = 16; ///< at once: a verdict waits for nothing else

/// "evidence/attempts/{set}/", where the attempts to test a set and the marks of its evidence are.
std::string about_directory(const SetDigest& set);

/// What lies there: one listing of each set.
struct About {
  std::vector<EvidenceDigest> evidence;   ///< that is marked, sorted, each once; whether the records exist is open
  std::map<Sha256, std::string> attempts; ///< keys of attempts by the digest in their names
};
Result<About> list_about(ObjectReader& store, const std::vector<SetDigest>& sets);

/// Whether every record of the store that names a set has its marks. One request.
Result<bool> all_evidence_is_marked(ObjectReader& store);

/// What is recorded about sets: results, and attempts to get them.
struct Recorded {
  std::vector<Stored<EvidenceRecord>> evidence; ///< of a store whose evidence is not all marked: all there is
  std::vector<AttemptRecord> attempts;          ///< sorted by time
  std::vector<std::string> keys;                ///< of the evidence, whatever the objects hold
  bool all = false;                             ///< whether it is all evidence of the store
};
/// Reads what a verdict on these sets needs. Junk is told in `skipped` (R021) and counts for nothing. One request, one
/// listing for each set, and one read for each record about them; where evidence is not all marked, one listing and
/// one read for each record of the store.
Result<Recorded> recorded_about(ObjectReader& store, const std::vector<SetDigest>& sets, Findings& skipped);
/// The keys of the evidence that recorded_about() reads, and of all waivers and revocations, sorted, whatever the
/// objects hold: a second look finds what came or went since. Three requests and one listing for each set.
Result<std::vector<std::string>> evidence_and_waiver_keys(ObjectReader& store, const std::vector<SetDigest>& sets);

/// Writes the marks of a record. Must come before the record. A mark without a record does no harm. A record without a
/// mark is not seen by verdicts. In a store without any evidence it also says that all is marked. One request, and a
/// write for each set; a listing of all evidence if nothing says yet that all is marked.
Result<void> mark_evidence(ObjectStore& store, const EvidenceDigest& digest, const EvidenceRecord& record);
/// Writes the marks that are missing, and says that all is marked. Returns how many records lacked one. Junk gets no
/// mark. A listing of all evidence and of all marks, and a read for each record, sixteen at the same time.
Result<std::uint64_t> mark_all_evidence(ObjectStore& store);

} // namespace quarry::registry
