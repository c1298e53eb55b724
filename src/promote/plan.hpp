#pragma once
// What a promotion or a rollback would do, as a value: it can be printed, reviewed by its digest and executed later if
// nothing moved. Planning reads; it never writes.
#include "base/result.hpp"
#include "gate/gate.hpp"
#include "gate/proofs.hpp"
#include "pages/projection.hpp"
#include "publish/verify.hpp"
#include "registry/registry.hpp"
#include "s3/lifecycle.hpp"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quarry::mirror {
class Candidates;
}

namespace quarry::promote {

/// A file that is copied before its set is sealed.
struct PinnedFile {
  std::string from;
  registry::FileRecord file; ///< with the key that it gets
};

struct Request {
  registry::Resolved source; ///< sealed sets (registry::resolve_… or publish::resolve)
  std::string channel;       ///< the target
  gate::Policy policy;
  bool ready_cells_only = false; ///< move what is ready, leave what is held
  std::int64_t now_us = 0;
  unsigned workers = 1;          ///< threads that hash what is to move
  std::string distribution = {}; ///< where it goes besides, for the digest of the plan
  /// Sets of the same release that go to other channels: they count for what is expected, and sets may have been tested
  /// together with them, unless only what is ready moves: then they may stay behind.
  std::vector<registry::SealedSet> elsewhere = {};
  std::vector<gate::Expectation> expectations = {}; ///< besides the policy's
  /// With `ready_cells_only`: where dependencies come from. Null: those that neither the release makes nor the channel
  /// shows are taken as given.
  mirror::Candidates* base_index = nullptr;
  std::string base_index_name = {};
  /// The lifecycle rules of the bucket: sets that one of them covers are copied to `pinned/` first. Unset: they are
  /// not.
  std::optional<std::vector<s3::ExpiryRule>> pin_from = {};
  /// Kept over rounds of planning, and by copies of the request: another result in the store does not make a proof of
  /// bytes worth repeating.
  std::shared_ptr<gate::Proofs> proofs = std::make_shared<gate::Proofs>();
  std::shared_ptr<publish::Hashed> hashed = std::make_shared<publish::Hashed>(); ///< likewise, of files
  bool decide_only = false; ///< the plan is not executed: the bytes of what would move are not looked at
};

/// A protected channel brings its own law: held O012 if it is protected by another policy than this. Pure.
Result<void> check_policy(const registry::ChannelRecord& channel, const gate::Policy& policy);

/// The sha256 of what is asked for, without what the store holds now: every field of the request that changes what is
/// decided (a new one is added to it).
std::string digest_of(const Request& request);

/// What a verdict was made about, besides the sets.
struct Judged {
  std::string channel;
  registry::LedgerDigest after;  ///< the channel's last move so far
  std::vector<std::string> read; ///< the keys of evidence about these sets, and of the channel's waivers, sorted
};

/// What the gate said about what is new to the target; empty for a rollback.
struct Judgement {
  std::vector<gate::Subject> subjects; ///< what it was asked about
  gate::Verdict verdict;
  std::string document;             ///< quarry.verdict/1: cells, decisions, what decided and what was read; no times
  registry::VerdictDigest digest;   ///< of the document
  registry::PolicyDigest policy;    ///< what judged
  std::vector<std::string> records; ///< keys of evidence and waivers that were looked at, sorted
  std::vector<registry::SetDigest> asked; ///< whose evidence was looked at
  Judged about; ///< what the document names as read: of `records`, what is about these sets or the channel
};

/// What has to be in the store before the channel can name it.
struct Preparation {
  std::vector<PinnedFile> pinned;           ///< to be copied
  std::vector<registry::SetRecord> subsets; ///< to be written and sealed after that
};

/// A rollback blocks the files that leave the view, and unblocks those that come back.
struct GuardChange {
  std::optional<registry::Guard> after = {}; ///< unset: the guard stays
  std::size_t blocks = 0;                    ///< files
  std::vector<registry::BlockedFile> unblocked = {};
};

struct Plan {
  registry::Action action; ///< promote or rollback
  std::string channel, source, distribution;
  std::string request;                             ///< sha256 of what was asked for: for equal requests it is equal
  std::optional<registry::Channel> expected;       ///< what the channel is now; nullopt: it does not exist
  std::optional<registry::LedgerRecord> last = {}; ///< its last move, if the plan needed it
  /// To be added, of a rollback: what comes back. A subset of a set is not stored yet: see `preparation`.
  std::vector<registry::SealedSet> sets;
  Preparation preparation;
  registry::View view; ///< what the channel will show
  Judgement judgement;
  /// Those of the verdict; R021: left out of it; R022: sets that the channel blocks; O028: not looked for; O050.
  Findings notes;
  bool held = false; ///< nothing may move
  GuardChange guard;
  /// What planning has read and made, so that writing the pages does not read it again. Copies of the plan share it.
  std::shared_ptr<const pages::KnownViews> known = std::make_shared<const pages::KnownViews>();
  registry::PlanDigest digest; ///< holds no time and no name of a person: equal as long as nothing moved

  bool moves() const { return !held && (!expected || view.digest != expected->record.view); }
  std::uint64_t generation() const; ///< of the channel once the plan is executed
};

/// Returns the digest of everything that the plan decides; times and names of people are not part of it. Pure.
registry::PlanDigest digest_of(const Plan& plan);
/// Pure.
Judged judged_in(const gate::Case& input);
/// quarry.verdict/1: the decision with the evidence that decided and what was read, without prose and times. The same
/// for `gate` and `promote`, so that a signature of the one counts for the other, until the channel moves. Pure.
std::string verdict_document(const gate::Verdict& verdict, const Judged& about);

/// The sets of the source of which the target lacks something, judged together. R018 (exit 7) when a file's name is
/// taken in the target by other bytes, corrupt O003 when a file that is to move is missing or is not what was sealed.
/// held O012 when the channel is protected and the request has another policy. A set with a file that the channel
/// blocks is left out and noted (R022); held R022 when no other set is left. held O029 when a record is gone that a
/// stored verdict on one of these sets was made with. Also fails with the errors of
/// gate::collect(). Costs a read for each project of the source, a listing for each directory of files, one read for
/// each evidence and waiver, and a head for each file that is to move, on `workers` threads or more; where the store
/// has recorded no digest, the file is read. For a protected channel every file that is to move is read, once for all
/// rounds: a recorded digest can be forged by whoever overwrote the object. A held plan without ready cells hashes
/// nothing. With `ready_cells_only` what moves can be installed there: a cell is held whose packages require what stays
/// behind, with any extra but those that the policy lists as empty. That costs a read for each wheel that moves and for
/// each version that the search tries, and the errors of the base index.
Result<Plan> plan_promotion(store::ObjectReader& store, const Request& request);

/// Back to the view of generation `to` (0: nothing), or without it to the view before the last move. Only what comes
/// back is looked at, sets and files (corrupt O003): what both views show does not change, so it cannot keep anybody
/// from going back. In a protected channel, held O018 if it shows a file that the channel did not show when it was
/// protected, nor since. Files that leave the view are blocked from then on; `to` names a view on purpose, so what it
/// brings back is not; but held O063 for what a yank took out, as refuse_yanked() (yanked.hpp). Costs a few requests
/// and two per project that differs, however many sets the channel has. not_found O001 if that generation does not
/// exist; precondition_failed O007 without `to` when the last move was itself a rollback: a script that is run twice
/// must not bring back what was rolled back.
Result<Plan> plan_rollback(store::ObjectReader& store, const std::string& channel,
                           std::optional<std::uint64_t> to = std::nullopt);
/// The same for a channel that was read already, with its last move.
struct LastMove {
  registry::Channel channel;
  registry::LedgerRecord move;
};
Result<Plan> plan_rollback(store::ObjectReader& store, LastMove state, std::optional<std::uint64_t> to);

} // namespace quarry::promote
