#include "promote/policy_choice.hpp"

#include "gate/shipped.hpp"
#include "promote/bound.hpp"
#include "promote/plan.hpp"

namespace quarry::promote {

Result<gate::Policy> policy_to_judge_by(const Resources& resources, store::ObjectReader& store,
                                        const std::optional<registry::Channel>& now, const PolicyChoice& choice) {
  if (choice.said == Said::no && now && !now->record.guard.policy.empty()) {
    TRY(auto bound, stored_policy(store, now->record.guard.policy), "which protects channel " + now->record.name);
    return bound;
  }
  TRY(auto policy, gate::find_policy(resources, choice.named));
  if (now) TRY_DO(check_policy(now->record, policy));
  return policy;
}

} // namespace quarry::promote
