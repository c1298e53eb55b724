#pragma once
// The own moves of a distribution that protected channels feed: who may make them, and what may come back by them. Its
// `fed_by` names the policies, which `promote --to-store` copies to the distribution's store. As thread-safe as the
// store.
#include "digest/ed25519.hpp"
#include "promote/distributions.hpp"
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::promote {

/// What a signer of a policy must be named for to sign this move of a distribution: a policy has no word for those who
/// may take files over (`adopt`: `promote`) or answer for a move (`acknowledge`: `protect`).
std::string_view right_there(const registry::Action& action);
/// Whether this key may sign a move of the distribution: every policy in `fed_by` that takes only signed moves must let
/// it, as right_there(). Succeeds if none of them does, or if no protected channel feeds the
/// distribution. held O041. Where a policy is not stored, nobody knows what it demands: not_found R010, and else as
/// stored_policy(). A read for each policy.
Result<void> check_signer_there(store::ObjectReader& store, const registry::DistributionRecord& now,
                                const registry::Action& action, const std::optional<Ed25519PrivateKey>& key);
/// Whether a policy in `fed_by` takes only signed moves: then a command to paste has `--sign`. A policy that cannot be
/// read counts as one that does not. A read for each policy.
bool wants_signed_moves_there(store::ObjectReader& store, const registry::DistributionRecord& now);
/// Returns the channels in `fed_by` that another policy protects by now: until a promotion brings it, the distribution
/// goes by the older one, and a key that was revoked since still signs moves there. Channels that are not in `source`,
/// not protected, or cannot be read are left out: `channel verify` of them tells. A read for each channel.
std::vector<std::string> with_another_policy_by_now(store::ObjectReader& source,
                                                    const registry::DistributionRecord& now);
/// What keeps a plain rollback from taking back the last move of the distribution, which was just made: what would come
/// back has not been let in, or nobody whose key counts may sign it. Fails as plan_distribution_rollback(), with held
/// O041, and as stored_policy(). Costs what the plan does, and a read for each policy.
Result<void> check_undo_there(store::ObjectReader& store, const std::string& directory);

/// held O018 if the plan shows a file again that has not been let in: no move that added sets, `promote` or `adopt`,
/// has brought it since protected channels feed the distribution without a break. `moves` are those of the
/// distribution, newest first. What is shown now is not looked at. Moves of older programs do not say who fed the
/// distribution then, so they let nothing in. Two reads for each set that was let in; none if nothing comes back or no
/// protected channel feeds the distribution.
Result<void> refuse_not_let_in(store::ObjectReader& store, const DistributionPlan& plan,
                               const std::vector<registry::DistributionView>& moves);

} // namespace quarry::promote
