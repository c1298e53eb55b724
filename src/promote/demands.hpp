#pragma once
// What an organisation asks of every policy that protects a channel. Pure.
#include "gate/policy.hpp"
#include <string>
#include <vector>

namespace quarry::promote {

/// "expect": the policy says which families a release must bring. "evidence-signers", "waiver-signers": results, or
/// waivers, count only with the signature of a key that is not revoked.
extern const std::vector<std::string> k_demands;

/// Whether the policy has an [expect] and a signer of evidence whose key is not revoked, or says openly that it does
/// not: held O045. Who binds a policy for a person asks this first; protect() does not.
Result<void> check_openness(const gate::Policy& policy);

/// held O030 for the first of these words that the policy does not meet; invalid_argument C006 for another word.
Result<void> check_demands(const gate::Policy& policy, const std::vector<std::string>& demands);

} // namespace quarry::promote
