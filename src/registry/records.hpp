#pragma once
// The records of a store as values, and their canonical JSON (docs/formats/records.md). A record's digest is the
// SHA-256 of its canonical bytes. Structs with a member `unknown` keep the unknown fields of a later minor version, and
// to_json() writes them again. The others, such as Cell, TestRow and GuardAfter, lose them. A Guard is not an object in
// JSON: the ChannelRecord around it keeps unknown fields. An unknown major version of a schema is refused (B004).
//
// A text, word, time or digest must not be empty, unless a comment says what empty means. to_json() leaves an empty
// field out, and every reader then refuses the record (R012). Empty texts in lists and maps are written, and readers
// accept them. Text that is not UTF-8 is written with U+FFFD in its place. No I/O.
#include "base/data_text.hpp"
#include "base/platform.hpp"
#include "base/result.hpp"
#include "digest/sha256.hpp"
#include "registry/digests.hpp"
#include "registry/words.hpp"
#include "sys/timestamp.hpp"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::registry {

using sys::Timestamp;

struct FileRecord {
  std::string filename, project, version; ///< project normalised
  std::uint64_t size = 0;
  Sha256 sha256;
  std::optional<Sha256> metadata_sha256; ///< of the .metadata sidecar: wheels only
  std::string requires_python;           ///< empty: none
  std::string upload_time;               ///< RFC 3339, microseconds, Z; empty: not known
  std::string key;                       ///< where the bytes are, from the store's root; empty: not said
  std::string yanked;                    ///< empty: not yanked; else the reason
  std::string tags = {};                 ///< of a wheel, as in its file name: "py3-none-linux_x86_64"; else empty
  std::string unknown = {};              ///< fields of a later minor version: a canonical JSON object, or empty
  bool operator==(const FileRecord&) const = default;
};

/// Where `promote --pin` copies files to: `pinned/{first 12 digits of the set}/dist/`.
constexpr std::string_view k_pinned = "pinned/";

struct Origin {       ///< where a set comes from; each may be empty
  std::string run_id; ///< of the run's layout: "42"
  Platform platform;
  std::string group;        ///< "gfx94X-dcgpu"
  std::string commit;       ///< of `repository`, from which the packages were built
  std::string recipe, tool; ///< tool: what published them, "quarry 0.1"; recipe: no command sets it
  std::string repository;
  std::string unknown = {};
  bool operator==(const Origin&) const = default;
};

struct SetRecord { ///< sets/{digest}.json: the files published together
  Origin origin;
  std::vector<FileRecord> files; ///< sorted by filename
  std::string directory = {};    ///< its seals are in {directory}/seals/; empty: the set cannot be sealed
  SetDigest subset_of = {};      ///< the sealed set whose files these are: chosen, or copied by --pin; else empty
  std::string unknown = {};
};
/// …/seals/{set digest}.json, written if-absent after the files of the set and the set record: it makes the set count.
struct SealRecord {
  SetDigest set;
  std::string directory; ///< key prefix the set lives in
  Timestamp time;
  std::string unknown = {};
};
struct ViewRecord {                          ///< views/{digest}.json, immutable
  std::vector<SetDigest> sets;               ///< in the order in which they were added
  std::map<std::string, ShardDigest> shards; ///< project -> views/shards/{digest}.json
  std::string unknown = {};
};
struct ShardRecord { ///< views/shards/{digest}.json: one project's files
  std::string project;
  std::vector<FileRecord> files; ///< sorted by filename
  std::string unknown = {};
};
/// A file that a rollback or a yank took out of a channel or a distribution. Until somebody unblocks it, it does not
/// come back under any set.
struct BlockedFile {
  Sha256 sha256;
  std::string filename, reason; ///< reason: may be empty
  std::uint64_t generation = 0; ///< that the channel or distribution got by the move that took the file out
  std::string unknown = {};
  bool operator==(const BlockedFile&) const = default;
};
/// What keeps files out of a channel. It moves with the channel: one compare-and-swap.
struct Guard {
  PolicyDigest policy;              ///< only promotions that it allows may add sets; empty: not protected
  std::vector<BlockedFile> blocked; ///< sorted by sha256
  std::uint64_t keeps_from = 0;     ///< what earlier generations showed may be removed (channel prune); 0: all is kept
  bool empty() const { return policy.empty() && blocked.empty() && keeps_from == 0; }
  bool operator==(const Guard&) const = default;
};
/// What a move leaves as the channel's guard, in its ledger entry: so a signature of the entry covers the guard.
struct GuardAfter {
  PolicyDigest policy; ///< empty: not protected
  std::uint64_t keeps_from = 0;
  std::optional<Sha256> blocked; ///< of a text: each blocked file's sha256 and a newline; nullopt: none is blocked
  bool operator==(const GuardAfter&) const = default;
};
GuardAfter summary_of(const Guard& guard); ///< pure
struct ChannelRecord {                     ///< channels/{name}.json: replaced by each move
  std::string name;
  std::uint64_t generation = 0;
  /// `previous`: the view before the last move that changed the view. Empty if the channel had only one view, or if the
  /// move that would name it is lost (begins_anew(), show_what_was_left()).
  ViewDigest view, previous;
  LedgerDigest ledger;
  Guard guard = {};
  std::string unknown = {};
};
/// policies/{digest}.json: a policy as canonical JSON (docs/formats/policy.md), as `channel protect` binds it. It is
/// written as it is, unchecked.
struct PolicyRecord {
  std::string json;
};
/// verdicts/{digest}.json: what a gate decided about a move; the ledger names it.
struct VerdictRecord {
  std::string json;
};
/// Who wrote a record, as GitHub Actions tells its jobs; each may be empty. Nobody has checked it: a record is as
/// trustworthy as its signature, or as who may write into the store.
struct Identity {
  std::string actor, repository; ///< "octocat", "ROCm/TheRock"
  std::string workflow;          ///< "ROCm/TheRock/.github/workflows/test.yml@refs/heads/main"
  std::string commit;            ///< of the workflow's run
  std::string run;               ///< the page of the run, as in waivers
  std::string unknown = {};
  bool operator==(const Identity&) const = default;
};

struct LedgerRecord {    ///< ledger/{digest}.json: one move; it counts only if a channel's ledger reaches it
  LedgerDigest previous; ///< empty: the first move, or one that begins_anew()
  std::string channel;
  Action action;
  ViewDigest from_view, to_view; ///< from_view: empty where `previous` is; equal if the view stays
  PlanDigest plan;               ///< empty: the move had no plan
  VerdictDigest verdict;         ///< empty: no gate decided
  std::string who;               ///< as given on the command line; may be empty
  Timestamp when;
  std::string why;                ///< as given on the command line; may be empty
  std::uint64_t generation = 0;   ///< of the channel after the move
  std::string request = {};       ///< sha256 of what was asked for; empty if the move has no plan, and in older entries
  PolicyDigest policy = {};       ///< that judged this move, or with which it protected the channel; or empty
  LedgerDigest acknowledges = {}; ///< the move that an `acknowledge`, or one that begins_anew(), answers for; or empty
  std::optional<GuardAfter> guard = {};  ///< of the channel after the move; nullopt: an older program wrote the entry
  std::optional<Identity> identity = {}; ///< of the job that made the move; nullopt: not known
  std::string unknown = {};
};

/// A file that belongs to a record and is not in the store.
struct Attachment {
  std::string name; ///< of the file, without its directory
  Sha256 sha256;
  std::string unknown = {};
  bool operator==(const Attachment&) const = default;
};

/// One point of the support matrix. In a waiver an empty field means "any", also an empty `backend`. Readers accept
/// empty fields in evidence, too.
struct Cell {
  Platform platform;
  std::string family, python, framework; ///< of evidence: without `framework` the SDK itself was tested
  std::string backend = {};              ///< "cpu": without a GPU; empty, except in a waiver: the GPU of the family
  auto operator<=>(const Cell&) const = default;
};
struct TestRow {
  std::string name;
  Outcome outcome;     ///< passed, failed, skipped or error
  std::string message; ///< may be empty
  double seconds = 0;
};
/// Evidence about a part of a suite: several jobs of one run have run a part each.
struct Shard {
  std::uint64_t index = 0, total = 0; ///< index: 1 to total; total: 2 to k_shards_max
  std::uint64_t min_passed = 0;       ///< that must pass in all shards together
  std::string run;                    ///< what the shards of one run have in common; not empty
  std::string unknown = {};
  bool operator==(const Shard&) const = default;
};
constexpr std::uint64_t k_shards_max = 1000; ///< GitHub starts 256 jobs from one matrix at most

struct EvidenceRecord {             ///< evidence/{digest}.json: what was tested where, with which result
  std::vector<FileRecord> subjects; ///< filename, project, version, size and sha256 only; sorted by sha256
  Cell cell;
  /// suite_digest: that of the suite's definition; without a definition, that of the command's words; for `rocm-sdk`,
  /// that of the `rocm` file. May be empty.
  std::string suite, suite_digest;
  Outcome result; ///< passed, failed, error or timed_out
  std::uint64_t passed = 0, failed = 0, skipped = 0, errors = 0;
  std::vector<TestRow> rows;
  std::map<std::string, std::string> machine, tools;
  Timestamp started, ended;
  std::string log;             ///< key of the log in the store, `evidence/logs/{sha256}.txt`; or empty
  SetDigest set;               ///< that was tested; empty: several, or none that holds all subjects
  std::vector<SetDigest> sets; ///< that were tested together, such as ROCm and a framework; empty: one or none
  bool sealed = false;         ///< whether the tested files were of sealed sets; if not, a gate ignores the evidence
  std::string reported; ///< empty: Quarry ran the suite; else the report of another machine ("rocm-sdk.test/1 of HOST")
  std::optional<Identity> identity = {}; ///< of the job that ran the suite, or took the report; nullopt: not known
  std::optional<Shard> shard = {};       ///< nullopt: the whole suite was run
  std::string unknown = {};
};
struct WaiverRecord {         ///< waivers/{digest}.json
  std::string channel, suite; ///< suite: that is waived; empty: any
  std::string reason, approver;
  std::string requester, repository, run; ///< who made it, in which job; empty in older records and on a desk
  Timestamp created, expires;
  Cell cell;
  std::vector<SetDigest> sets;               ///< that it applies to; empty: any
  std::optional<Attachment> attachment = {}; ///< what the approver has looked at
  std::string unknown = {};
};

// Returns the canonical bytes, without a newline at the end. For a policy or a verdict it returns `json` unchanged.
std::string to_json(const SetRecord&);
std::string to_json(const SealRecord&);
std::string to_json(const ViewRecord&);
std::string to_json(const ShardRecord&);
std::string to_json(const ChannelRecord&);
std::string to_json(const LedgerRecord&);
std::string to_json(const EvidenceRecord&);
std::string to_json(const WaiverRecord&);
std::string to_json(const PolicyRecord&);
std::string to_json(const VerdictRecord&);
// Parses and checks a record: file names, projects, keys and directories must be valid. Each file of a shard must be of
// the shard's project. Other text is taken as it is: versions, tags, names of channels, of blocked files and of
// attachments, the key of the log of evidence, and more. The files of sets and shards and the blocked files must be in
// order, each once; the subjects of evidence need not be. B002 to B004 or corrupt (R012); seals and channels also R011.
Result<SetRecord> parse_set(NamedText named);
Result<SealRecord> parse_seal(NamedText named);
Result<ViewRecord> parse_view(NamedText named);
Result<ShardRecord> parse_shard(NamedText named);
Result<ChannelRecord> parse_channel(NamedText named);
Result<LedgerRecord> parse_ledger(NamedText named);
Result<EvidenceRecord> parse_evidence(NamedText named);
Result<WaiverRecord> parse_waiver(NamedText named);
/// Only whether it is a JSON object of this schema: the gate reads the fields.
Result<PolicyRecord> parse_policy_record(NamedText named);

/// The sha256 of to_json(record): the name under which put_…() writes it. A record that was read may have another name,
/// as its stored bytes may not be canonical, or may have unknown fields that its struct loses.
template <class Record> DigestOf<Record> digest_of(const Record& record) {
  return DigestOf<Record>(sha256(to_json(record)));
}

} // namespace quarry::registry
