#pragma once
// By which policy a move into a channel is judged.
#include "base/resources.hpp"
#include "gate/policy.hpp"
#include "registry/registry.hpp"
#include <cstdint>
#include <optional>
#include <string>

namespace quarry::promote {

enum class Said : std::uint8_t { no, yes }; ///< whether the user named the policy; otherwise it is the usual one

struct PolicyChoice {
  const std::string& named; ///< a file or the name of a shipped policy
  Said said = Said::no;
};

/// Returns the policy that protects the channel `now` (nullopt: it does not exist), if the user named none; else the
/// one that is named. A channel is judged by no other policy than the one that protects it: held O012. Fails as
/// stored_policy(), check_policy() and gate::find_policy() do. One read.
Result<gate::Policy> policy_to_judge_by(const Resources& resources, store::ObjectReader& store,
                                        const std::optional<registry::Channel>& now, const PolicyChoice& choice);

} // namespace quarry::promote
