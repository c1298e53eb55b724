#pragma once
// Distributions: directories of a store that people install from, filled by `promote --to-store`. The pointer
// `{directory}/distribution.json` is a compare-and-swap register like a channel: it names the sets that the pages show
// and its last move. Each move is an immutable record `{directory}/views/{digest}.json` that names the one before
// (docs/formats/distributions.md). As thread-safe as the store.
#include "registry/registry.hpp"
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace quarry::registry {

/// What people should know before they install a set: without which waiver it would not be there, for example.
struct Remark {
  std::string text;     ///< a sentence
  std::string projects; ///< whose pages say it, separated by spaces; empty: every project of the set
  /// Said only as long as the distribution shows no file of this project in this version: what an extra names. Empty:
  /// said always.
  std::string lacks = {}, version = {};
  WaiverDigest waiver = {}; ///< that it is about; empty: none. Older programs did not write it
  std::string unknown = {};
  bool operator==(const Remark&) const = default;
};

/// A set that a distribution shows, and the set of another store that it was copied from; empty: not known.
struct ShownSet {
  SetDigest set, source;
  std::vector<Remark> remarks = {}; ///< as the channel that brought it had them then
  std::string unknown = {};
  bool operator==(const ShownSet&) const = default;
};

/// What is shown and what is kept out: both move together.
struct Shown {
  std::vector<ShownSet> sets;            ///< in the order in which they came
  std::vector<BlockedFile> blocked = {}; ///< sorted by sha256; `generation` is that of the distribution
  /// Waivers of remarks that somebody took back, as far as the moves were told; sorted. What was revoked stays so, also
  /// where a rollback shows a set again.
  std::vector<WaiverDigest> revoked = {};
  bool operator==(const Shown&) const = default;
};

/// A protected channel that has fed a distribution.
struct Feeder {
  std::string channel;
  PolicyDigest policy; ///< that protects the channel by its moves; empty: none does (never in `fed_by`)
  /// The channel's last move when it first fed, or when it fed with another policy. It tells this channel from one of
  /// the same name in another store, whose ledger does not have this move. Never empty in `fed_by`.
  LedgerDigest move;
  std::string unknown = {};
  bool operator==(const Feeder&) const = default;
};

struct DistributionView;
using DistributionViewDigest = DigestOf<DistributionView>;

struct HistoryRecord; // history.hpp

/// Why and by whom a distribution moves. `action` and `when` must be set: a record without them is written, and nobody
/// can read it. The others may be empty. `action` may be a word that Action does not list, such as "adopt" or "found".
struct DistributionMove {
  Action action;
  PlanDigest plan = {};
  std::string who = {};
  Timestamp when = {};
  std::string why = {};
  DistributionViewDigest acknowledges = {}; ///< of `acknowledge`: the move that somebody answers for
  /// Records of the untested history that this move takes over, sorted. Older programs did not write it.
  std::vector<DigestOf<HistoryRecord>> history = {};
  bool operator==(const DistributionMove&) const = default;
};

struct DistributionView { ///< {directory}/views/{digest}.json: one move, and what is shown since
  std::string directory;
  std::uint64_t generation = 0;
  DistributionViewDigest previous; ///< empty: the first move
  Shown shown;
  DistributionMove move;
  std::vector<Feeder> fed_by = {}; ///< of the pointer since this move; older programs did not write it
  std::string unknown = {};
};
struct DistributionRecord { ///< {directory}/distribution.json: replaced by each move
  std::string directory;
  std::uint64_t generation = 0; ///< 0: the directory is claimed, and nothing was shown yet
  DistributionViewDigest view;  ///< of the last move; empty for generation 0 and for a `quarry.distribution/1`
  Shown shown;
  /// Sorted by channel. If it is not empty, admit() decides which channels may add (feeders.hpp). Empty: no protected
  /// channel has fed it yet, or admit() has opened it to all again.
  std::vector<Feeder> fed_by = {};
  std::string unknown = {};
};

std::string to_json(const DistributionView& view);
std::string to_json(const DistributionRecord& record);
/// Returns the key of a distribution's pointer. A directory is a distribution exactly if this object exists. Pure.
std::string distribution_key(const std::string& directory);
/// Pure.
std::string distribution_view_key(const std::string& directory, const DistributionViewDigest& digest);
/// `place` is a store that is opened at a distribution's own directory. Reads `distribution.json` there and returns the
/// directory that it names; "" if that object does not exist. One read. B002 to B004, R007; corrupt R011, R012.
Result<std::string> directory_of_distribution(ObjectReader& place);

struct Distribution {
  DistributionRecord record;
  std::string etag;
  /// The first `named` of `shown.sets` are from the pointer. The others were found by their seals: only a
  /// `quarry.distribution/1` has them.
  std::size_t named = 0;
};
/// Returns what a distribution shows; nullopt if the directory is not one. For a pointer of `quarry.distribution/1`
/// these are the sets that it names, then all others that are sealed there: the programs that wrote it added the
/// pointer last, so it may lack some; rows without a valid set digest are left out. One read, and a listing for such a
/// pointer. B002 to B004, R007; corrupt R011, R012.
Result<std::optional<Distribution>> read_distribution(ObjectReader& store, const std::string& directory);
/// The same; not_found P120 if the directory is not a distribution.
Result<Distribution> require_distribution(ObjectReader& store, const std::string& directory);
/// For a directory whose pointer is missing, which is not checked here. Fails with corrupt R010 if an object has the
/// name of a move, `{directory}/views/{digest}.json`, because then the directory had a pointer. The object is not
/// read. Other objects in `{directory}/views/` do not count. One listing.
Result<void> refuse_lost_pointer(ObjectReader& store, const std::string& directory);
/// Makes `directory` a distribution: writes a pointer without sets, if-absent, before the first file is copied. From
/// then on the files in the directory are known to be ours, even if the writer is killed or two writers begin together.
/// Succeeds if a pointer exists, which is not read, also one that another writer makes at the same time. If it is
/// missing, fails with R031 if the store ignores conditional writes, as refuse_lost_pointer() does, and with R004 if
/// the write may have happened. Costs a head; without a pointer also conditional_writes(), a listing and a write.
Result<void> claim_distribution(ObjectStore& store, const std::string& directory);
/// Called with the record of a move, which is written, before the pointer names it; an error stops the move.
using BeforeSwap = std::function<Result<void>(const DistributionViewDigest&)>;
/// Replaces what is shown, as one compare-and-swap: the record of the move first, then `before_swap`, then the pointer
/// if-match. The new pointer and the record of the move have the `fed_by` of `expected.record`: to change `fed_by`, a
/// caller sets it there before the call. Returns the new pointer; the pages are the caller's task. `next` is not
/// checked: nobody can read a pointer whose blocked files are out of order. precondition_failed R003 if somebody else
/// moved it: start over. outcome_unknown R004 if the write may still arrive. After a failed condition or a lost reply
/// it looks and decides as registry::swap_channel() does, with the same limits. Fails with R031 if the store ignores
/// conditional writes: jobs could lose each other's sets. If it is killed or fails between the two writes, a record
/// stays that no pointer names. Costs conditional_writes() and two writes. If `expected` is a pointer of
/// `quarry.distribution/1`, the call first lists the history and writes a third object: a record of the old state as
/// generation 1, for rollbacks. The move is then generation 2.
Result<DistributionRecord> move_distribution(ObjectStore& store, const Distribution& expected, const Shown& next,
                                             const DistributionMove& move, const BeforeSwap& before_swap = {});
constexpr std::size_t k_all_distribution_moves = 100'000; ///< a move each hour for ten years
/// Returns the recorded moves, newest first, `at_most` of them; none for generation 0 and for a
/// `quarry.distribution/1`. corrupt R017 if the generation or directory of one does not fit; R010 to R012 of a record.
/// One read for each. What they show is not compared, nor whether the last one is the first move.
Result<std::vector<DistributionView>> distribution_moves(ObjectReader& store, const DistributionRecord& record,
                                                         std::size_t at_most);
/// The blocked files that another move than a rollback took out. `moves` are those of the distribution, newest first; a
/// file whose move is not among them counts. Pure.
std::set<Sha256> yanked_there(const Shown& shown, const std::vector<DistributionView>& moves);
/// Returns these sets with their seals, eight at the same time. A set whose record or seal is missing is left out:
/// retention or a person removed its seal, or it is not sealed yet. corrupt R011, R012, R014; R005 for a record without
/// a directory. Two reads for each, three if the seal is missing.
Result<std::vector<SealedSet>> sealed_of(ObjectReader& store, const Shown& shown);
/// The sets that a distribution shows, as sealed_of(). For any other directory it returns what resolve_run() returns:
/// also the sets of directories below it. Lacks the untested history, which pages show. not_found R013 if there are
/// none; R018 if two of them disagree about a file; R005 for an invalid directory. `source` begins with "run:" in both
/// cases.
Result<Resolved> resolve_directory(ObjectReader& store, const std::string& directory);
/// `channels` is the store of the channels. Adds to `shown.revoked` each waiver of a remark that somebody took back
/// there. One listing if a remark names a waiver that `shown.revoked` lacks; else no request.
Result<void> note_revoked(ObjectReader& channels, Shown& shown);
/// The waivers that note_revoked() would add, as the sets that have remarks about them, each with those remarks alone.
Result<std::vector<ShownSet>> revoked_since(ObjectReader& channels, const Shown& shown);
/// Fails with held R022 if the distribution blocks a file of these sets. `address` is what `channel unblock` calls the
/// distribution. Pure.
Result<void> refuse_blocked(const DistributionRecord& record, const std::vector<SealedSet>& sets,
                            const std::string& address);

} // namespace quarry::registry
