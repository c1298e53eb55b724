#pragma once
// Reads and writes the records of a store. Immutable records (such as sets, views, ledger entries and evidence)
// are named by the SHA-256 of their bytes, and hashed again whenever they are read. Seals are written once. Channels
// are pointers that change by compare-and-swap. docs/concurrency.md explains how they work together, docs/glossary.md
// what each is. As thread-safe as the store.
//
// Errors, in addition to those of the store. Whatever reads a record may also fail with R007 (too long), B002 (not
// JSON), B003 and B004 (without a schema, or with another one, such as that of a later version) and R012:
//   R010 record not found           R011 record altered (bytes and name differ)   R012 invalid fields
//   R013 set is not sealed          R014 seal does not fit its set                R015 channel not found
//   R016 invalid channel name       R017 broken ledger chain                      R018 one file name, two contents
//   R020 invalid or ambiguous digest
//   R022 a channel or distribution blocks it      R023 the `rocm` of another family has that name
//   R024 several releases have that name          R025 not a name for a release
//   R026 the record of a channel is missing, and its `pages.json` exists
//   R031 the store ignores conditional writes
// R021, a warning: an object among evidence, attempts, waivers or releases is not a valid record. find_release() fails
// with R021 if such an object may be the release of the name that it looks for (releases.hpp).
#include "base/finding.hpp"
#include "base/result.hpp"
#include "registry/records.hpp"
#include "store/object_store.hpp"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace quarry::registry {

using store::ObjectReader;
using store::ObjectStore;

/// A set of 100,000 files has 40 MB. A record with more bytes than k_record_bytes_max cannot be read (R007), and the
/// functions put_…() of this header do not write it (R007). swap_channel() and move_distribution() do not look at the
/// size: they may write a record that nobody can read.
constexpr std::uint64_t k_record_bytes_max = 64u << 20;

// Keys. Digests are 64 lower-case hex digits.
std::string set_key(const SetDigest& digest);
std::string seal_key(const std::string& directory, const SetDigest& set);
std::string view_key(const ViewDigest& digest);
std::string shard_key(const ShardDigest& digest);
std::string channel_key(const std::string& name);
std::string ledger_key(const LedgerDigest& digest);
std::string evidence_key(const EvidenceDigest& digest);
std::string waiver_key(const WaiverDigest& digest);
std::string policy_key(const PolicyDigest& digest);
std::string verdict_key(const VerdictDigest& digest);
/// Returns `channels/{name}`: the directory of the channel's pages.
std::string channel_directory(const std::string& name);
/// Fails with invalid_argument (R016) unless the name has 1 to 64 lower-case letters, digits, '.', '_' and '-', begins
/// with a letter or digit and does not end in ".json": `channels/a.json` is the record of `a`. Pure.
Result<void> check_channel_name(const std::string& name);
/// Completes a digest of which at least the first 8 digits are given, from the store's records of that kind. A full
/// digest costs nothing: it is returned without a check that the record exists. A shorter one costs a listing. Fails
/// with not_found (R010), or invalid_argument (R020) if `digits` is not a digest or several keys begin with it.
Result<SetDigest> complete_set_digest(ObjectReader& store, const std::string& digits);
Result<EvidenceDigest> complete_evidence_digest(ObjectReader& store, const std::string& digits);
Result<WaiverDigest> complete_waiver_digest(ObjectReader& store, const std::string& digits);
Result<ReleaseDigest> complete_release_digest(ObjectReader& store, const std::string& digits);

// Immutable records. put_… writes a record and returns its digest. It reads first: a record that exists costs one read,
// a new one also one write. It fails with R011 if other bytes are stored under the digest, with R007, and as
// store::put_once(): R009 if other bytes come between its read and its write, R004 if a reply was lost and the record
// is not there. The caller must give a valid record: one with unsorted files, a bad key or an empty field that must not
// be empty is written, and no reader accepts it. put_evidence() first writes the marks of evidence_marks.hpp, even if
// the record exists; if a mark fails, the record is not written. This costs what mark_evidence() costs, too.
//
// An existing record is not written again, even if garbage collection is about to remove it. So only
// publish::move_channel() may write a channel that names records: it protects them (publish/move.hpp;
// docs/concurrency.md, "Garbage collection").
//
// load_… reads a record and checks its hash. It costs one read, and fails with R010 (for an empty digest without a
// read), R011, R012, R007 and B002 to B004.

/// Whether the error is one of this machine, the network or the bucket (D, H, K), such as the page of a proxy in place
/// of an object: it says nothing of what is stored. Pure.
bool is_transport_error(const Error& error);
/// Whether load_… failed because the record is gone, altered, invalid or too long (R010, R011, R012, R007, B002, B003).
/// Looks at the kind, so other not_found and corrupt errors count as lost, too. False if it cannot be read now (a
/// transport error), and for another `schema`, such as that of a later version (B004). Pure.
bool is_lost(const Error& error);
/// Whether load_… or load_sealed() failed because the record or its seal is missing (R010, R013), for instance because
/// garbage collection has removed it since a listing. Looks at the kind, so it is also true for other errors of kind
/// not_found, such as R015. False for a missing bucket, which is a transport error. Pure.
bool is_gone(const Error& error);
Result<SetDigest> put_set(ObjectStore& store, const SetRecord& record);
Result<SetRecord> load_set(ObjectReader& store, const SetDigest& digest);
Result<ViewDigest> put_view(ObjectStore& store, const ViewRecord& record);
Result<ViewRecord> load_view(ObjectReader& store, const ViewDigest& digest);
Result<ShardDigest> put_shard(ObjectStore& store, const ShardRecord& record);
Result<ShardRecord> load_shard(ObjectReader& store, const ShardDigest& digest);
Result<LedgerDigest> put_ledger(ObjectStore& store, const LedgerRecord& record);
Result<LedgerRecord> load_ledger(ObjectReader& store, const LedgerDigest& digest);
Result<EvidenceDigest> put_evidence(ObjectStore& store, const EvidenceRecord& record);
Result<EvidenceRecord> load_evidence(ObjectReader& store, const EvidenceDigest& digest);
Result<WaiverDigest> put_waiver(ObjectStore& store, const WaiverRecord& record);
Result<WaiverRecord> load_waiver(ObjectReader& store, const WaiverDigest& digest);
/// The decision of a gate (docs/formats/policy.md), as its caller wrote it, unchecked. load_verdict() accepts any JSON
/// object of the schema quarry.verdict/1.
Result<VerdictDigest> put_verdict(ObjectStore& store, const std::string& document);
Result<VerdictRecord> load_verdict(ObjectReader& store, const VerdictDigest& digest);
Result<PolicyDigest> put_policy(ObjectStore& store, const PolicyRecord& record);
Result<PolicyRecord> load_policy(ObjectReader& store, const PolicyDigest& digest);

template <class R> struct Stored {
  DigestOf<R> digest;
  R record;
};
/// Returns all records, sorted by digest; of waivers also those that were revoked (revocations.hpp) or have expired.
/// Objects whose names are not digests are ignored. Any other object that does not match its name, or is not a valid
/// record, is left out and reported as warning R021 in `skipped`, so that one junk object does not block every channel.
/// A record that is removed meanwhile is left out silently. One listing, and a read for each, sixteen at the same time.
Result<std::vector<Stored<EvidenceRecord>>> list_evidence(ObjectReader& store, Findings& skipped);
Result<std::vector<Stored<WaiverRecord>>> list_waivers(ObjectReader& store, Findings& skipped);

/// The records of these names, in this order. Junk and missing records are treated as by list_evidence(). One read for
/// each, sixteen at the same time.
Result<std::vector<Stored<EvidenceRecord>>>
read_evidence(ObjectReader& store, const std::vector<EvidenceDigest>& digests, Findings& skipped);
/// The names of all evidence, sorted, whatever the objects hold. One listing.
Result<std::vector<EvidenceDigest>> evidence_digests(ObjectReader& store);
/// The same, each with the time at which its object was written, in microseconds since 1970; 0: the store gives none.
Result<std::vector<std::pair<EvidenceDigest, std::int64_t>>> evidence_with_times(ObjectReader& store);
/// The keys of all waivers and revocations, whatever the objects hold. Two listings.
Result<std::vector<std::string>> waiver_keys(ObjectReader& store);
/// Whether load_…() failed because it cannot read the stored bytes as a record: R011, R012, R007, B002 to B004. Another
/// `schema`, such as that of a later version (B004), counts as junk, too. Other errors, such as a proxy's page instead
/// of the record (K020), may hide a valid one. Pure.
bool is_junk(const Error& error);

// Seals.
/// Writes the seal of the set `set` if-absent, below the directory that the set record names. Returns true if it was
/// written now, false if the set is sealed already. The set record must exist (R010); whether its files exist is not
/// checked, the caller has written them. Afterwards a set record that garbage collection removed meanwhile is written
/// again. An existing seal that is damaged is not replaced: corrupt (R011, R012, R014, B002 to B004). Fails with R005
/// if the record has no directory. After R004 and any error of the store the set may be sealed. It reads the set and
/// the seal, writes the seal, and looks for the set again: four requests; three if the set is sealed already.
Result<bool> seal(ObjectStore& store, const SetDigest& set, const Timestamp& time);
/// The same for a set whose record is at hand, which must be that of `set`: it is not read, nor compared. One request
/// less.
Result<bool> seal(ObjectStore& store, const SetDigest& set, const SetRecord& record, const Timestamp& time);

struct SealedSet {
  SetDigest digest;
  SetRecord set;
  SealRecord seal;
};
/// Returns a set with its seal. Fails with not_found (R010, R013), corrupt (R011, R012, R014), or R005 for a set record
/// without a directory. Two requests. If the set is not sealed, a third one tells why; its errors are ignored.
Result<SealedSet> load_sealed(ObjectReader& store, const SetDigest& digest);
/// The same for a set whose record is at hand. One request less.
Result<SealedSet> load_sealed(ObjectReader& store, const SetDigest& digest, SetRecord set);
/// The same by a digest or its first 8 or more digits, as people write it: also R020, and a listing for a short digest.
Result<SealedSet> load_sealed(ObjectReader& store, const std::string& digits);
/// Returns these sets with their seals, in this order. Fails as load_sealed() does for the first of them that fails.
/// Two requests per set, eight sets at the same time.
Result<std::vector<SealedSet>> load_all_sealed(ObjectReader& store, const std::vector<SetDigest>& digests);
/// Returns all sealed sets at or below a directory ("42-linux", "42-linux/python/g"), sorted by the time of the seal,
/// then by digest; an empty list if there are none. `directory` must not be empty, and has no slash at its end:
/// "42-linux" does not match "42-linux-x/python". A seal that is removed after the listing, as retention does, is left
/// out. Fails with R010, R011, R012, with R005 for a set that names no directory, and with R014, also for a seal in
/// another place than its set names. Costs one listing of everything below, then two reads per set, one by one; four
/// for a set whose seal is removed after the listing.
/// A set of `known` is taken as it is, without a read, if its seal is still there: both are immutable.
Result<std::vector<SealedSet>> sealed_sets_below(ObjectReader& store, const std::string& directory,
                                                 const std::vector<SealedSet>& known = {});
/// The same for the sets that are sealed in the directory itself. Costs one listing of its seals, then two reads per
/// set, one by one. A set of `known` that is sealed elsewhere is ignored.
Result<std::vector<SealedSet>> sealed_sets_in(ObjectReader& store, const std::string& directory,
                                              const std::vector<SealedSet>& known = {});

/// What a locator refers to.
struct Resolved {
  std::string source;            ///< "set:…", "run:42-linux", "channel:stable", "release:…", as people write it
  std::vector<SealedSet> sets;   ///< each with a valid seal and a checked hash
  std::vector<FileRecord> files; ///< union of their files, or what the channel's view shows; sorted by filename
  ViewDigest view;               ///< of a channel
  std::uint64_t generation = 0;  ///< of a channel, or of a distribution (resolve_directory()); else 0
  ReleaseDigest release = {};    ///< of a release; its sets may be for several channels, so `files` may be empty
};
/// Costs and errors of load_sealed().
Result<Resolved> resolve_set(ObjectReader& store, const std::string& digits);
/// `prefix` is that of a run, without the slash of run::Layout::prefix(): "42-linux". Costs and errors of
/// sealed_sets_below(); also R018, R005 for an invalid prefix, and not_found (R013) if no set below it is sealed. If a
/// set and a part of it (SetRecord::subset_of) are both sealed there, the part is left out, because a yank or a
/// promotion of what is ready made it, not the run. Before it fails with R013, the call looks for a set whose seal
/// retention removed, so that the message can name it. The look costs one more listing of everything below. It reads
/// the records of such sets one by one until one can be read (for resolve_group() one of the group), and then the
/// record of retention of that set. Errors of the look are ignored.
Result<Resolved> resolve_run(ObjectReader& store, const std::string& prefix);
struct RunGroup {
  std::string prefix; ///< as for resolve_run()
  std::string group;  ///< "gfx94X-dcgpu"; empty: all of the run
};
/// The sets of a run whose origin names this group. Reads all sets of the run: a damaged one of another group fails it.
/// Costs and errors of resolve_run(); R013 if the group has no sealed set.
Result<Resolved> resolve_group(ObjectReader& store, const RunGroup& place);
/// Fails as require_channel(), load_whole_view() and load_all_sealed() do. Costs two reads for each set, one for each
/// project, and two more.
Result<Resolved> resolve_channel(ObjectReader& store, const std::string& name);
/// Returns the union of the sets' files, sorted by filename. If two have one file (same name and sha256), the first
/// record counts. Fails with already_exists (R018) if two sets have the same file name with different content. Pure.
Result<std::vector<FileRecord>> union_of(const std::vector<SealedSet>& sets);

// Views.
struct View {
  ViewDigest digest;
  ViewRecord record;
  std::vector<ShardRecord> shards; ///< sorted by project; all, except from load_view_for() and extend_view()
};
/// Returns the view that shows these sets, in this order, each once. Fails with R018, or R023 as extend_view(), if two
/// of them disagree about a file. Pure: the same sets in the same order give the same digest.
Result<View> make_view(const std::vector<SealedSet>& sets);
/// Returns `base` with these sets appended; a set that it has already is not named twice. A file that is in `base` and
/// in `sets` keeps the record of `base`. The caller has loaded `base` with load_view_for() for these sets. If the shard
/// of one of their projects is missing in `base.shards`, the new view silently has only the new files of that project.
/// The result has the shards that `base` has and those of the projects of `sets`. Unknown fields of `base` are dropped.
/// Its waivers stay (waived.hpp). An empty extra (empty_extras.hpp) stays until the package that it lacks comes in the
/// same version. Fails with R018 if a file name gets two contents. Fails with R023 instead if a file of `rocm` gets two
/// contents and the keys of the two files name different families (a part of the key that begins with `gfx`). Pure.
Result<View> extend_view(const View& base, const std::vector<SealedSet>& sets);
/// Checks whether extend_view() would succeed: R018, R023. Pure.
Result<void> check_extension(const View& base, const std::vector<SealedSet>& sets);
/// Writes the shards of `view`, eight at the same time, then the view record. A record that exists costs one read.
Result<void> put_view(ObjectStore& store, const View& view);
/// Reads a view and all its shards, eight at the same time.
Result<View> load_whole_view(ObjectReader& store, const ViewDigest& digest);
/// Reads a view and only the shards of the projects in `sets`, so that the cost of adding a set does not grow with the
/// number of other projects.
Result<View> load_view_for(ObjectReader& store, const ViewDigest& digest, const std::vector<SealedSet>& sets);
/// Reads one project's shard of a view; nullopt if the view does not show that project. Fails with corrupt (R012) if
/// the shard is that of another project.
Result<std::optional<ShardRecord>> load_shard_of(ObjectReader& store, const ViewRecord& view,
                                                 const std::string& project);
std::vector<FileRecord> files_of(const View& view); ///< of the shards at hand, sorted by filename

// Channels.
struct Channel {
  ChannelRecord record;
  std::string etag;
};
/// Reads a channel and the ETag for swap_channel(); nullopt if it does not exist. R011, R012, R016. One request.
Result<std::optional<Channel>> read_channel(ObjectReader& store, const std::string& name);
/// The same, but a missing record is an error: corrupt (R026) if `channels/{name}/pages.json` exists, because then the
/// record was lost; otherwise not_found (R015), also if the store does not let us look. Other pages are not looked at:
/// a channel whose first pages were not completed gives R015. The look costs one or two heads. R015 also costs a
/// listing: its hint names the channels that exist, if the store can be listed.
Result<Channel> require_channel(ObjectReader& store, const std::string& name);
/// Reads a channel into `known`. If its ETag is still that of `known`, the record, which may block thousands of files,
/// is read but not parsed again. Errors and cost of require_channel(); after an error `known` is unchanged.
Result<void> update_channel(ObjectReader& store, const std::string& name, Channel& known);
/// Fails with unsupported (R031) if the store ignores conditional writes: a channel or a distribution has several
/// writers, so its store must be able to compare and swap. `what` is for the message: "channel stable". Costs and
/// errors of store::ObjectWriter::conditional_writes().
Result<void> require_swappable(ObjectStore& store, const std::string& what);
/// Replaces the channel `expected` by `next`, as one compare-and-swap; nullopt means that the channel must not exist
/// yet. The caller has written the view and the ledger entry that `next` names, and has built `next` from `expected`.
/// Returns `next` with its ETag; that is empty if another move followed this one, or the server gave none. A caller
/// that moves the channel once more reads it again if the ETag is empty. Costs conditional_writes() and one write. If
/// the condition failed or the reply was lost, the channel is read, and its ledger as far back as the generation of
/// `next`. Then:
///   the channel is `next`, or its ledger has the entry of `next`   success
///   the channel is still `expected` after a lost reply             outcome_unknown (R004): the write may still arrive
///   anything else, such as a move of somebody else                 precondition_failed (R003): start over
/// R003 is also returned for a move that did happen, if more than 1024 moves came after it or one of their entries
/// cannot be read. If the channel cannot be read, the error of that is returned: the outcome is unknown. Fails with
/// R031 if the store ignores conditional writes.
Result<Channel> swap_channel(ObjectStore& store, const std::optional<Channel>& expected, ChannelRecord next);
/// What keeps files out of a place; a view of `files`, which must outlive it.
struct Blocking {
  std::string what;                      ///< "channel stable", for messages
  std::string operand;                   ///< what `channel unblock` calls it
  const std::vector<BlockedFile>& files; ///< sorted by sha256
};
/// Fails with held (R022) if it blocks a file of these sets; the details name the first three and why. Pure.
Result<void> refuse_blocked(const Blocking& blocking, const std::vector<SealedSet>& sets);
/// The same of a channel.
Result<void> refuse_blocked(const ChannelRecord& channel, const std::vector<SealedSet>& sets);
/// What lies below `channels/`. Neither names nor records are checked: read_channel() may fail with R016.
struct ChannelNames {
  std::vector<std::string> names;          ///< NAME of each object `channels/NAME.json`, sorted by key
  std::vector<std::string> without_record; ///< of each directory without such an object; refuse_lost() looks closer
};
/// Costs one listing of `channels/`, without the pages of channels. list_channels() returns the names alone.
Result<ChannelNames> channel_names(ObjectReader& store);
Result<std::vector<std::string>> list_channels(ObjectReader& store);
/// Fails with corrupt R026 if the channel has a `pages.json` and no record: pages are written after the record, so it
/// was lost. Other pages are not looked at. Other writers may make the channel meanwhile. Costs one request, two if it
/// has pages.
Result<void> refuse_lost(ObjectReader& store, const std::string& name);

/// Whether this entry is a `protect` that begins a new ledger of a channel: the move before it, `acknowledges`, was
/// lost, and somebody answered for what the channel showed (`channel protect --trust-shown`). Looks at the action,
/// `previous` (empty) and `acknowledges`; that `from_view` is empty, too, is checked by ledger_chain(). Pure.
bool begins_anew(const LedgerRecord& move);

constexpr std::size_t k_whole_chain = static_cast<std::size_t>(-1);
/// Returns the moves of a channel, newest first: all, or at most `newest` of them. Checks that each entry fits the one
/// after it, and the newest one the channel's record: hash, channel, generation and view. If the channel's first move
/// is among those returned, it must not have a `from_view`, and must be of generation 1 or begins_anew(). If a check
/// fails, and for more than a million moves, the call fails with corrupt (R017). Also fails with R010, R011 and R012 of
/// an entry. Costs one read per move; all entries are in memory.
Result<std::vector<Stored<LedgerRecord>>> ledger_chain(ObjectReader& store, const ChannelRecord& channel,
                                                       std::size_t newest = k_whole_chain);
/// Fails with not_found O047 if `channel prune` has given up what the channel showed at that generation. The message
/// has the time of the last pruning. `moves` is the channel's ledger_chain(). Succeeds if none of them made that
/// generation. Pure.
Result<void> refuse_pruned(const ChannelRecord& channel, const std::vector<Stored<LedgerRecord>>& moves,
                           std::uint64_t generation);
/// Whether the view that a move made the channel show is kept for `rollback --to`. All views from generation
/// `keeps_from` on are kept. An earlier one is kept if it is the channel's current or previous view, or if the move is
/// a `protect`. The view of a `protect` is needed because a rollback to an older view may bring back only files of it
/// (promote/plan_rollback.cpp). Pure.
bool keeps_view_of(const ChannelRecord& channel, const LedgerRecord& move);

} // namespace quarry::registry
