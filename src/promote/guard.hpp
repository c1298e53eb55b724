#pragma once
// What keeps files out of a channel: the policy that protects it, and the files that it blocks. Each change is a move
// of the channel with an entry in its ledger, and shows the same view. As thread-safe as the store.
#include "gate/policy.hpp"
#include "promote/bound.hpp"
#include "publish/move.hpp"
#include "sys/timestamp.hpp"
#include <string>
#include <variant>
#include <vector>

namespace quarry::promote {

/// For the ledger.
struct Author {
  std::string who;
  sys::Timestamp when;
  std::string why;
  std::optional<Ed25519PrivateKey> key = {}; ///< signs the move; held O041 if the channel's policy wants another one
  std::optional<registry::Identity> identity = {}; ///< of this job
  std::string called = {};                         ///< what messages call the move; empty: as its action
};

struct Binding {
  registry::PolicyDigest instead_of = {}; ///< this policy and no other: P010 if somebody has bound another one since
  /// Take all that the channel shows as let in: files without a verdict; and, if the last move of the channel is lost,
  /// so that no move says that it shows them, what the record says. Then the ledger begins anew with this move
  /// (registry::begins_anew()): nothing before it can be gone back to.
  bool trust_shown = false;
  std::vector<std::string> trusted = {}; ///< the same of some: "set:1f2e…", or names of files or their sha256
};

/// From now on only promotions that this policy allows move the channel. The policy is stored below `policies/` as
/// canonical JSON. A channel that does not exist is made, with an empty view; one that is protected gets this policy
/// instead of its own. What the channel shows already stays, and counts as let in. So when the channel becomes
/// protected, held O061 if it shows files that no verdict of this policy has let in and that `binding` does not trust;
/// then every file of it is read, and corrupt O003 if one is not what was sealed. Fails with not_found O024 if the
/// channel moves and shows nothing of what `binding.trusted` names, and as registry::load_sealed() for a set that it
/// names. Also fails with invalid_argument O014 for a policy that only reports and O043 for one under which nobody
/// could bind another, and as publish::change_guard() does. Where the last move is lost, nobody knows whether the
/// channel showed these files by a move: corrupt O056, which names them, without `binding.trust_shown`. About eight
/// requests, the channel's pages, and reading what it shows; also two reads for each move since the last `protect`, and
/// a read for each of its moves and verdicts when it becomes protected. A channel that names the policy already counts
/// as protected by it only if a `protect` among its moves bound it and no `publish` came after
/// (registry::is_protected_by()): else it becomes protected now.
Result<publish::Guarded> protect(store::ObjectStore& store, const std::string& channel, const gate::Policy& policy,
                                 const Author& author, const Binding& binding = {});
/// From now on anybody who may write to the store moves the channel. What it blocks stays blocked. Moves nothing if it
/// is not protected. Fails with not_found R015, and as publish::change_guard() does.
Result<publish::Guarded> unprotect(store::ObjectStore& store, const std::string& channel, const Author& author);

struct Unblocked {
  publish::Guarded guarded;
  std::vector<registry::BlockedFile> files; ///< that were blocked until now
};
/// Lets files come back. `what` are `set:DIGEST`, names of files, or their sha256. Fails with not_found R015, or O013
/// if one of them is not blocked in the channel: then nothing is changed. Also fails as registry::load_sealed() does
/// for a set, and as publish::change_guard() does.
Result<Unblocked> unblock(store::ObjectStore& store, const std::string& channel, const std::vector<std::string>& what,
                          const Author& author);

struct LastViews {
  std::uint64_t count;
};
struct ViewsSince {
  sys::Timestamp time;
};
/// How much of a channel's history is kept: the views that it showed last, or those that it showed since a time.
using Keep = std::variant<LastViews, ViewsSince>;
/// "5" or "60d". invalid_argument O048, also for less than two views: a plain rollback needs the one before.
Result<Keep> parse_keep(std::string_view text, std::int64_t now_us);
struct Pruned {
  publish::Guarded guarded;
  std::uint64_t views = 0; ///< that are not kept any more, and were until now
};
/// Gives up what the channel showed before: `rollback --to` goes back to `keep` at most, and garbage collection may
/// remove the records of the views before. The moves themselves stay in the ledger. What is given up once stays so.
/// Always kept: what the channel shows, what it showed before the last move, and what it showed when it was protected.
/// With `dry_run` it is told and not done. Fails with not_found R015, with R017 of the ledger, and as
/// publish::change_guard() does. A read for each move.
Result<Pruned> prune(store::ObjectStore& store, const std::string& channel, const Keep& keep, const Author& author,
                     bool dry_run);

} // namespace quarry::promote
