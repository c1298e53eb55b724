#pragma once
// Reads from a store everything that a verdict depends on.
#include "base/result.hpp"
#include "gate/gate.hpp"
#include "gate/proofs.hpp"
#include "registry/judged.hpp"
#include "registry/registry.hpp"
#include "store/object_store.hpp"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace quarry::gate {

/// Returns the sets of `source` that hold a file which `view` lacks. A promotion moves exactly these, so these are
/// judged. `view` must have the shards of the source's projects (registry::load_view_for).
std::vector<registry::SealedSet> lacking(const registry::View& view, const std::vector<registry::SealedSet>& source);

/// Removes the sets that hold a file which the channel blocks, with a warning R022 for each. Fails with held R022 if
/// all sets were removed.
Result<std::vector<registry::SealedSet>> not_blocked(const registry::ChannelRecord& channel,
                                                     std::vector<registry::SealedSet> sets, Findings& notes);

/// Returns the sets of `all` that are not in `sets`, as subjects for Case::present.
std::vector<Subject> others(const std::vector<registry::SealedSet>& all, const std::vector<registry::SealedSet>& sets);

/// Reads all evidence and all waivers, and makes a case about `sets`. Evidence names the whole set that was tested, so
/// a set that is a part of another one uses the evidence of the whole. An altered record is ignored, with a note. Fails
/// with corrupt O004 for a set that is not the part it claims to be, and with R0xx.
Result<Case> collect(store::ObjectReader& store, const std::string& channel,
                     const std::vector<registry::SealedSet>& sets, std::int64_t now_us);
/// Returns the records on which earlier verdicts about the case's subjects were based and which `input` lacks: they
/// were removed, or overwritten with something unreadable. Costs what registry::find_disappeared() does.
Result<std::vector<registry::Disappeared>> find_disappeared(store::ObjectReader& store, const Case& input);
/// How the records that came before are treated. `proven`: derivations are proven from the bytes, and records that an
/// earlier verdict read must still be there. `believed`: neither; for callers that look at sets which a channel shows,
/// whose promotion has proven it.
enum class Derivations : std::uint8_t { proven, believed };
/// Adds to `input` what this policy needs:
///   signers       signatures of the evidence about the sets, and of the channel's waivers
///   derived sets  the evidence of the candidates from which the sets were made; a derivation that cannot be proven is
///                 ignored, with a warning G024
/// With Derivations::proven it also fails with held O029 if find_disappeared() finds a record: a verdict must not be
/// based on what is left after evidence was removed; that costs what find_disappeared() does. The rest costs nothing
/// that the policy does not need; else one listing for each record, one read for each signature and each set, and
/// reading both sets for each proof that `proofs` lacks.
Result<void> load_for_policy(store::ObjectReader& store, const Policy& policy, Case& input,
                             Derivations derivations = Derivations::proven, Proofs* proofs = nullptr);
/// Does what collect() does for the sets of `source` that the channel lacks, without those that not_blocked() removes.
/// A channel that does not exist lacks everything. Also fails with R018 and R023 if the channel cannot show these sets.
Result<Case> collect_new(store::ObjectReader& store, const std::string& channel, const registry::Resolved& source,
                         std::int64_t now_us);
/// The same for a channel that was read already.
struct Target {
  const std::string& channel;
  const std::optional<registry::Channel>& now; ///< nullopt: it does not exist
};
Result<Case> collect_new(store::ObjectReader& store, const Target& target, const registry::Resolved& source,
                         std::int64_t now_us);

} // namespace quarry::gate
