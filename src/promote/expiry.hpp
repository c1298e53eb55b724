#pragma once
// What the server of a bucket would delete by itself, against what a channel is to name.
#include "base/result.hpp"
#include "registry/registry.hpp"
#include "s3/lifecycle.hpp"
#include <string>
#include <vector>

namespace quarry::promote {

/// The first prefix of records on which every channel rests (`views/`, `ledger/`, …) that the rule covers, whole or in
/// part; empty: none. Pure.
std::string records_covered(const s3::ExpiryRule& rule);

/// Fails with held O031 if one of the rules, whose prefixes are relative to the store, covers a file of these sets, its
/// sidecar or seal, or the store's records. Rules for tagged objects cover nothing that Quarry writes. Pure.
Result<void> refuse_expiring(const std::vector<registry::SealedSet>& sets, const std::vector<s3::ExpiryRule>& rules);

} // namespace quarry::promote
