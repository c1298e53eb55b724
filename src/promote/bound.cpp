#include "promote/bound.hpp"

namespace quarry::promote {

using registry::PolicyDigest;
using store::ObjectReader;

Result<gate::Policy> stored_policy(ObjectReader& store, const PolicyDigest& digest) {
  TRY(auto record, registry::load_policy(store, digest));
  return gate::parse_stored_policy({record.json, registry::policy_key(digest)});
}

Result<std::optional<gate::Policy>> policy_of(ObjectReader& store, const std::string& channel) {
  TRY(auto now, registry::read_channel(store, channel));
  if (!now || now->record.guard.policy.empty()) return std::optional<gate::Policy>();
  TRY(auto policy, stored_policy(store, now->record.guard.policy), "which protects channel " + channel);
  return std::optional(std::move(policy));
}

} // namespace quarry::promote
