#pragma once
// What keeps files out of a channel, for people and for programs: `channel show` and the commands that change it.
#include "base/json.hpp"
#include "registry/records.hpp"
#include <string>
#include <vector>

namespace quarry::cli {

/// "protected   by policy 1f2e…", "blocked     3 files" and the first of them; empty if nothing guards the channel.
std::string guard_text(const registry::Guard& guard);
/// The digest of the policy that protects the channel, or null.
Json policy_json(const registry::Guard& guard);
/// [{filename, sha256, reason, generation}]
Json blocked_json(const std::vector<registry::BlockedFile>& files);

} // namespace quarry::cli
