#pragma once
// Gathers from a store what a verdict depends on.
#include "base/result.hpp"
#include "gate/gate.hpp"
#include "gate/proofs.hpp"
#include "registry/judged.hpp"
#include "registry/registry.hpp"
#include "store/object_store.hpp"
#include <cstdint>
#include <string>
#include <vector>

namespace quarry::gate {

/// The sets of `source` that hold a file which `view` lacks: what a promotion would move, and so what is judged. `view`
/// must have the shards of the source's projects (registry::load_view_for).
std::vector<registry::SealedSet> lacking(const registry::View& view, const std::vector<registry::SealedSet>& source);

/// The sets of which the channel blocks no file; the others are noted (R022). held R022 when no set is left of some.
Result<std::vector<registry::SealedSet>> not_blocked(const registry::ChannelRecord& channel,
                                                     std::vector<registry::SealedSet> sets, Findings& notes);

/// Those of `all` that are not in `sets`, as subjects: for Case::present.
std::vector<Subject> others(const std::vector<registry::SealedSet>& all, const std::vector<registry::SealedSet>& sets);

/// All evidence, all waivers, and the question about each of `sets`: evidence names the whole set that was tested, so a
/// part of one stands on the evidence of the whole. An altered record counts for nothing and is told in
/// `notes`. corrupt O004 for a set that
/// says it is a part of another and is not. Other errors: R0xx.
Result<Case> collect(store::ObjectStore& store, const std::string& channel,
                     const std::vector<registry::SealedSet>& sets, std::int64_t now_us);
/// What earlier verdicts on the case's subjects were made with and `input` cannot read any more. A record that was
/// overwritten with junk is as gone as one that was removed. Costs as registry::find_disappeared() does.
Result<std::vector<registry::Disappeared>> find_disappeared(store::ObjectStore& store, const Case& input);
/// Whether the records that say of what a release was made are proven from the bytes, or believed: by who looks at
/// sets that were proven when they were promoted.
enum class Derivations : std::uint8_t { proven, believed };
/// Adds what the policy asks for. If it names signers: the signatures of the evidence about the sets in question, and
/// of waivers for the channel; without them nothing counts as signed. If it accepts derived sets: the evidence of the
/// candidates of which the sets were made; a record that does not hold is told in `notes` (G024) and counts for
/// nothing. Nothing may move on what is left after a record was removed: with `proven`, held O029 if find_disappeared()
/// finds any. Costs no request for what the policy does not ask; a listing for each record and a read for each
/// signature; a read for each set, and reading both sets to prove one, unless `proofs` knows it.
Result<void> load_for_policy(store::ObjectStore& store, const Policy& policy, Case& input,
                             Derivations derivations = Derivations::proven, Proofs* proofs = nullptr);
/// The same about what `source` has and the channel lacks (a channel that does not exist lacks everything), without the
/// sets of which it blocks a file, as not_blocked() says.
Result<Case> collect_new(store::ObjectStore& store, const std::string& channel, const registry::Resolved& source,
                         std::int64_t now_us);

} // namespace quarry::gate
