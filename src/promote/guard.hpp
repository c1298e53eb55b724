#pragma once
// What keeps files out of a channel: the policy that protects it, and the files that it blocks. Each change is a move
// of the channel with an entry in its ledger, and shows the same view. As thread-safe as the store.
#include "gate/policy.hpp"
#include "publish/move.hpp"
#include "sys/timestamp.hpp"
#include <string>
#include <vector>

namespace quarry::promote {

/// For the ledger.
struct Author {
  std::string who;
  sys::Timestamp when;
  std::string why;
  std::optional<Ed25519PrivateKey> key = {}; ///< signs the move; held O041 if the channel's policy wants another one
};

/// From now on only promotions that this policy allows move the channel. The policy is stored below `policies/` as
/// canonical JSON. A channel that does not exist is made, with an empty view; one that is protected gets this policy
/// instead of its own. What the channel shows already stays. Fails with invalid_argument O014 for a policy that only
/// reports and O043 for one under which nobody could bind another, and as publish::change_guard() does. About eight
/// requests, and the channel's pages. With `instead_of` it replaces that policy and no other: precondition_failed P010
/// if somebody has bound another one since.
Result<publish::Guarded> protect(store::ObjectStore& store, const std::string& channel, const gate::Policy& policy,
                                 const Author& author, const registry::PolicyDigest& instead_of = {});
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

/// The policy that protects the channel; nullopt if none does or the channel does not exist. Two reads. Fails with
/// R016, R011 and R012 of the channel, with the errors of registry::load_policy(), and with invalid_argument G002 if
/// the stored policy is not one that this program can read whole.
Result<std::optional<gate::Policy>> policy_of(store::ObjectReader& store, const std::string& channel);

} // namespace quarry::promote
