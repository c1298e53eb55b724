#pragma once
// The policy that protects a channel, whole. registry/bound.hpp says which one that is. As thread-safe as the store.
#include "gate/policy.hpp"
#include "registry/registry.hpp"
#include <optional>
#include <string>

namespace quarry::promote {

/// The policy of this name, whole. One read. Fails with the errors of registry::load_policy(), and with
/// invalid_argument G002 if this program cannot read the stored policy whole.
Result<gate::Policy> stored_policy(store::ObjectReader& store, const registry::PolicyDigest& digest);
/// The policy that the channel's record names; nullopt if it names none or the channel does not exist. Two reads. Fails
/// with R016, R011 and R012 of the channel, and as stored_policy() does.
Result<std::optional<gate::Policy>> policy_of(store::ObjectReader& store, const std::string& channel);

} // namespace quarry::promote
