#pragma once
// Which evidence is about which set (docs/formats/evidence.md, "What a verdict reads"): an empty object
// `evidence/attempts/{set}/{digest}` for each set that a record names, next to the attempts to test the set, so that
// one listing of a set finds both. Records of earlier programs may lack marks. Once `evidence/attempts/marked.json`
// says that all records have their marks, a verdict reads only the records that are marked for its sets. Such a verdict
// does not read evidence that names no set, or only another set with the same files.
#include "registry/attempts.hpp"
#include "registry/registry.hpp"
#include <map>
#include <string>
#include <vector>

namespace quarry::registry {

constexpr unsigned k_evidence_requests = 16; ///< in flight; more than elsewhere, as a verdict only waits for these

/// "evidence/attempts/{set}/", where the attempts to test a set and the marks of its evidence are.
std::string about_directory(const SetDigest& set);

/// When the store got evidence, in microseconds since 1970, by its own clock: the time of the oldest mark. If not all
/// evidence is marked: the earlier of that time and the time of the record. What the store gives no time for is left
/// out.
using StoredTimes = std::map<EvidenceDigest, std::int64_t>;

/// What lies there. One listing for each set, sixteen at the same time.
struct About {
  std::vector<EvidenceDigest> evidence; ///< with a mark, sorted, each once; a record may be missing
  StoredTimes since;
  AttemptKeys attempts;
};
Result<About> list_about(ObjectReader& store, const std::vector<SetDigest>& sets);

/// Whether `marked.json` says that all evidence has its marks; an invalid one does not. Programs of earlier versions
/// write evidence without a mark, also after that. One read.
Result<bool> all_evidence_is_marked(ObjectReader& store);

/// What is recorded about sets: results, and attempts to get them.
struct Recorded {
  /// Sorted by digest. Where evidence is not all marked: all evidence of the store.
  std::vector<Stored<EvidenceRecord>> evidence;
  std::vector<AttemptRecord> attempts; ///< sorted by time
  std::vector<std::string> keys;       ///< of the evidence objects that were read, valid or junk; sorted
  bool all = false;                    ///< whether it is all evidence of the store
  StoredTimes since;                   ///< of the evidence
};
/// Reads what a verdict on these sets needs. Junk is told in `skipped` (R021) and counts for nothing. Costs a read of
/// `marked.json`, one listing for each set, and a read for each attempt below these sets and for each evidence record
/// that is marked for them. If evidence is not all marked, the call does not go by marks: it costs one more listing,
/// and reads every evidence record of the store.
Result<Recorded> recorded_about(ObjectReader& store, const std::vector<SetDigest>& sets, Findings& skipped);
/// The second look of a promotion, right before it writes. Returns the keys of the evidence that recorded_about() would
/// read now, and of all waivers and revocations, sorted, whatever the objects hold. The caller compares them with the
/// keys of its first look: evidence (Recorded::keys), waivers and revocations. A new key is a record that came since.
/// `judged` are the keys of the first look, sorted. Evidence whose key is in it counts as there if its mark is; other
/// keys in it are ignored. If all evidence is marked, the call lists the marks. So evidence without its mark is missing
/// in the result. Else the call lists the records. Costs a read of `marked.json`, a listing of waivers, one of
/// revocations, and one for each set. If all evidence is marked, it also costs a head for each mark that `judged` does
/// not have, one after the other; if not, one more listing.
Result<std::vector<std::string>> evidence_and_waiver_keys(ObjectReader& store, const std::vector<SetDigest>& sets,
                                                          const std::vector<std::string>& judged);

/// Writes the marks of a record that are missing: one that is there keeps its time. put_evidence() calls it before it
/// writes the record; nobody else needs it. A mark whose record is missing does no harm. A record whose mark is missing
/// is not seen by verdicts, once `marked.json` says that all is marked. If the store does not have evidence yet, this
/// function first writes a `marked.json` that says so, because every later record gets its marks. Costs a read of
/// `marked.json`, and a write for each set, one after the other. As long as `marked.json` does not say that all is
/// marked, it also costs a listing of all evidence.
Result<void> mark_evidence(ObjectStore& store, const EvidenceDigest& digest, const EvidenceRecord& record);
/// Writes the marks that are missing. If the store has evidence, it then says that all is marked. Returns how many
/// records lacked a mark. Junk gets no mark. A listing of all evidence, and one of all marks and attempts; without
/// evidence nothing more. Else a read for each record and a write for each missing mark, sixteen at the same time; a
/// read of `marked.json`, and a write if it did not say so yet.
Result<std::uint64_t> mark_all_evidence(ObjectStore& store);

} // namespace quarry::registry
