#pragma once
// The moves of a distribution, by the law of the channels that feed it (fed_moves.hpp): who signed them, and what
// nobody signed who may. As thread-safe as the stores.
#include "base/finding.hpp"
#include "promote/guard.hpp"
#include "promote/signed_moves.hpp"
#include "registry/distributions.hpp"
#include <optional>
#include <string>
#include <vector>

namespace quarry::promote {

struct VerifiedThere {
  std::vector<SignedMove> moves;        ///< newest first
  Findings findings;                    ///< see below
  Findings acknowledged;                ///< what somebody has answered for since: notes
  std::vector<registry::Feeder> lawful; ///< the channels whose policies count, as far as the moves prove it
};
/// For each set that the directory shows and that is not in `found`: R010, its record or its seal is gone. Pure.
Findings lost_sets(const registry::DistributionRecord& now, const std::vector<registry::SealedSet>& found);

/// Each move by the policies that were in `fed_by` before it, where one of them wants signed moves; else by those since
/// it. Findings:
///   - O044: a move that a policy lets nobody sign so, or a pointer that differs from its last move. A promotion needs
///   a
///     signer of one of the policies, any other move one of each. FeedingLaw (feeding_law.hpp) says which promotion may
///     change who feeds the directory, ShownByMoves (shown_by_moves.hpp) what a move may show, and findings_of()
///     (unreached.hpp) which records of moves are found that the pointer does not lead to.
///   - P125: files of another tool that no move took over (publish/adoption.hpp); an error where moves must be signed,
///     else a warning.
///   - R010 if the pointer is of the first format and there are records of moves.
///   - O044 if `pages.json` names a later generation: somebody put the pointer back.
/// A signature by a policy that became lawful later counts, too: `quarry rollback CHANNEL --to-store` is signed by the
/// channel's own. Moves that an earlier version made as `found` need none. Fails with R017 if the moves are broken, and
/// as stored_policy(). Costs a read for each move, one for each signer and move, and what without_move() and
/// unreached_moves() cost; with `source` the ledger of each channel whose feeding changed.
///
/// If there are more than `newest` moves, only these are looked at, by the `fed_by` of the one before them: then
/// neither records that no walk reaches, nor files without a move, nor what a `rollback` shows.
Result<VerifiedThere> verify_moves_there(store::ObjectReader& store, const registry::DistributionRecord& now,
                                         store::ObjectReader* source = nullptr,
                                         std::size_t newest = registry::k_all_distribution_moves);

struct AcknowledgedThere {
  registry::DistributionRecord record;
  Findings findings; ///< what was wrong with the move
};
/// As acknowledge() (acknowledge.hpp) for a channel, also for a record of that generation that the pointer does not
/// lead to: a move `acknowledge` that shows the same, signed by who may sign `protect` by each lawful policy that wants
/// signed moves. not_found O052, P120; held O041; R003; and as verify_moves_there().
Result<AcknowledgedThere> acknowledge_there(store::ObjectStore& store, const std::string& directory,
                                            std::uint64_t generation, const Author& author);

} // namespace quarry::promote
