#pragma once
// The records of a store as operations: what is immutable is named by its digest and re-hashed when read; what is a
// pointer is swapped. Thread-safe as far as the store is. Errors: R010 no such record, R011 altered (its bytes do not
// give its name), R012 senseless fields, R013 not sealed, R014 no seal where one must be, R015 no such channel, R016
// bad channel name, R017 broken ledger, R018 one file name with two contents, R020 bad or ambiguous digest. Warning
// R021: an object among evidence or waivers that is not one.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "registry/records.hpp"
#include "store/object_store.hpp"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace quarry::registry {

using store::ObjectStore;

constexpr std::uint64_t k_record_bytes_max = 64u << 20; ///< a set of 100,000 files has 40 MB; more is not ours

// Keys. Digests are 64 lower-case hex digits.
std::string set_key(const SetDigest& digest);
std::string seal_key(const std::string& directory, const SetDigest& set);
std::string view_key(const ViewDigest& digest);
std::string shard_key(const ShardDigest& digest);
std::string channel_key(const std::string& name);
std::string ledger_key(const LedgerDigest& digest);
std::string evidence_key(const EvidenceDigest& digest);
std::string waiver_key(const WaiverDigest& digest);
/// `channels/{name}`, below which the pages of a channel are.
std::string channel_directory(const std::string& name);
/// Lower-case letters, digits, '.', '_', '-'; begins with a letter or digit; at most 64; invalid_argument R016.
Result<void> check_channel_name(const std::string& name);
/// The digest that people mean: all 64 digits, or the only one in the store that begins with these 8 or more. R010,
/// R020. Costs one listing; all 64 digits cost nothing.
Result<SetDigest> complete_set_digest(ObjectStore& store, const std::string& digits);
Result<EvidenceDigest> complete_evidence_digest(ObjectStore& store, const std::string& digits);

// Immutable records. put_… returns the digest; the same record again is success. load_… re-hashes.
Result<SetDigest> put_set(ObjectStore& store, const SetRecord& record);
Result<SetRecord> load_set(ObjectStore& store, const SetDigest& digest);
Result<ViewDigest> put_view(ObjectStore& store, const ViewRecord& record);
Result<ViewRecord> load_view(ObjectStore& store, const ViewDigest& digest);
Result<ShardDigest> put_shard(ObjectStore& store, const ShardRecord& record);
Result<ShardRecord> load_shard(ObjectStore& store, const ShardDigest& digest);
Result<LedgerDigest> put_ledger(ObjectStore& store, const LedgerRecord& record);
Result<LedgerRecord> load_ledger(ObjectStore& store, const LedgerDigest& digest);
Result<EvidenceDigest> put_evidence(ObjectStore& store, const EvidenceRecord& record);
Result<EvidenceRecord> load_evidence(ObjectStore& store, const EvidenceDigest& digest);
Result<WaiverDigest> put_waiver(ObjectStore& store, const WaiverRecord& record);
Result<WaiverRecord> load_waiver(ObjectStore& store, const WaiverDigest& digest);

template <class R> struct Stored {
  DigestOf<R> digest;
  R record;
};
/// Every record, sorted by digest. An object whose bytes do not give its name, or are not such a record, cannot be
/// evidence: it is left out and told as warning R021 in `skipped`, so that one object of junk does not hold every
/// channel. Costs one listing and one read per record, eight at a time.
Result<std::vector<Stored<EvidenceRecord>>> list_evidence(ObjectStore& store, Findings& skipped);
Result<std::vector<Stored<WaiverRecord>>> list_waivers(ObjectStore& store, Findings& skipped);

// Seals.
/// Writes the seal of `set` below its directory if there is none; true when written now. The set record must be stored
/// already. A seal that is there and damaged stays: corrupt R011, R014.
Result<bool> seal(ObjectStore& store, const SetDigest& set, const std::string& time);

struct SealedSet {
  SetDigest digest;
  SetRecord set;
  SealRecord seal;
};
/// One set with its seal: not_found R010 or R013, corrupt R011 or R014.
Result<SealedSet> load_sealed(ObjectStore& store, const SetDigest& digest);
/// The same by the first 8 or more digits.
Result<SealedSet> load_sealed(ObjectStore& store, const std::string& digits);
/// Each of these sets with its seal, in this order; eight at a time.
Result<std::vector<SealedSet>> load_all_sealed(ObjectStore& store, const std::vector<SetDigest>& digests);
/// All sealed sets at or below a key prefix ("42-linux", "42-linux/python/g"), by time of the seal, then digest. May be
/// empty.
Result<std::vector<SealedSet>> sealed_sets_below(ObjectStore& store, const std::string& directory);

// What a locator means, as plain values.
struct Resolved {
  std::string source;            ///< "set:…", "run:42-linux", "channel:stable", "directory:…", as people say it
  std::vector<SealedSet> sets;   ///< all sealed, all proven
  std::vector<FileRecord> files; ///< their union, sorted by filename
  ViewDigest view;               ///< of a channel
  std::uint64_t generation = 0;  ///< of a channel
};
Result<Resolved> resolve_set(ObjectStore& store, const std::string& digits);
/// `prefix`: "{external_repo}{run_id}-{platform}". not_found R013 when nothing below it is sealed.
Result<Resolved> resolve_run(ObjectStore& store, const std::string& prefix);
Result<Resolved> resolve_channel(ObjectStore& store, const std::string& name);
/// The union of the sets' files; the same name with other bytes is already_exists R018.
Result<std::vector<FileRecord>> union_of(const std::vector<SealedSet>& sets);

// Views.
struct View {
  ViewDigest digest;
  ViewRecord record;
  std::vector<ShardRecord> shards; ///< sorted by project; all, or where a function says so only those in question
};
/// Pure: the view that shows these sets, in this order. R018 when two of them disagree about a file.
Result<View> make_view(const std::vector<SealedSet>& sets);
/// Pure: `base` with these sets added behind its own; a set that is in already changes nothing. Of `base` only the
/// shards of projects in `sets` must be there (load_view_for); the result has those, and the new ones. R018.
Result<View> extend_view(const View& base, const std::vector<SealedSet>& sets);
/// Whether extend_view would succeed, without the new view: R018.
Result<void> check_extension(const View& base, const std::vector<SealedSet>& sets);
/// Writes the shards at hand, then the view; those that are there already cost a look.
Result<void> put_view(ObjectStore& store, const View& view);
Result<View> load_whole_view(ObjectStore& store, const ViewDigest& digest);
/// With the shards of the projects in `sets` alone: what one more set costs does not grow with the view.
Result<View> load_view_for(ObjectStore& store, const ViewDigest& digest, const std::vector<SealedSet>& sets);
/// One project's shard of a view; nullopt when the view does not show that project.
Result<std::optional<ShardRecord>> load_shard_of(ObjectStore& store, const ViewRecord& view,
                                                 const std::string& project);
std::vector<FileRecord> files_of(const View& view); ///< of the shards at hand, sorted by filename

// Channels.
struct Channel {
  ChannelRecord record;
  std::string etag;
};
Result<std::optional<Channel>> read_channel(ObjectStore& store, const std::string& name);
Result<Channel> require_channel(ObjectStore& store,
                                const std::string& name); ///< not_found R015, naming the channels there are
/// Several writers share a channel, so its store must compare and swap: unsupported R031 where it cannot.
Result<void> require_swappable(ObjectStore& store, const std::string& name);
/// Compare and swap: `expected` nullopt means that the channel must not exist. precondition_failed R003 when somebody
/// was faster. A lost reply is looked up: success when `next` is what stands there or what others moved on from;
/// outcome_unknown R004 when the channel stands as it was.
Result<void> swap_channel(ObjectStore& store, const std::optional<Channel>& expected, const ChannelRecord& next);
Result<std::vector<std::string>> list_channels(ObjectStore& store);

/// The moves of a channel, newest first, each proven against the next (hash chain, generation, views); corrupt R017.
Result<std::vector<Stored<LedgerRecord>>> ledger_chain(ObjectStore& store, const ChannelRecord& channel);

} // namespace quarry::registry
