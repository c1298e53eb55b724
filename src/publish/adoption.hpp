#pragma once
// The moves of a distribution that say which files of another tool it took over, by whom and why. A run may be killed
// between the record of the history and its move, so a record is compared with the moves.
#include "base/finding.hpp"
#include "digest/ed25519.hpp"
#include "registry/distributions.hpp"
#include "registry/history.hpp"
#include "store/object_store.hpp"
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace quarry::publish {

using StoredHistory = registry::Stored<registry::HistoryRecord>;

/// Records of the untested history that no move of the directory answers for, oldest first. A move answers for the
/// records whose digests it names. One without digests, as promotions and earlier versions write it, answers for a
/// record of the same time and person, unless another record has them too. What an earlier version left without records
/// of its moves counts as answered for. A listing; where there are records, a read for each of them and for each move.
/// Fails as history_records() and distribution_moves() of the registry.
Result<std::vector<StoredHistory>> without_move(store::ObjectReader& store, const std::string& directory);

/// How missing moves are written.
struct Completion {
  std::optional<Ed25519PrivateKey> key = {};        ///< signs as in move_signed() (shown.hpp)
  std::set<registry::HistoryDigest> confirmed = {}; ///< with a key: only these get a move, so that nobody signs unseen
  /// Whether the move may be made, asked before each: its error ends the run.
  std::function<Result<void>(const registry::DistributionRecord&)> may = {};
};
/// Makes the directory a distribution, and writes a move `adopt` for each record of without_move(): it shows the same
/// sets as before. To be called after take_over(). Writes no page. Costs and fails as without_move(), for each record
/// once more, claim_distribution() and move_distribution() of the registry; starts over if other writers are faster,
/// then P010.
Result<void> record_adoptions(store::ObjectStore& target, const std::string& directory,
                              const Completion& completion = {});
/// The same as long as nothing was shown there: what a directory held before our first move to it is a move of its own,
/// also if the run that took it over was killed. One read if it has moved already.
Result<void> record_first_adoptions(store::ObjectStore& target, const std::string& directory);

/// Does what is left to do after the seal or the record of an adoption: the moves that are missing, the pages, and the
/// notes are removed. Does nothing if the directory is not a distribution and nothing was taken over there. Returns and
/// fails as record_adoptions() and show_directory() (history.hpp).
Result<Findings> complete_adoption(store::ObjectStore& store, const std::string& directory,
                                   const Completion& completion = {});

} // namespace quarry::publish
