#pragma once
// Whether distributions show what the channels give that feed them. Nothing is written. As thread-safe as the stores.
#include "base/finding.hpp"
#include "publish/distribute.hpp"
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace quarry::release {

/// Returns the sets of other stores that a distribution shows a copy of, and that no channel of `channels` shows: they
/// came while no policy protected the channel, or left the channel alone. nullopt if one of the channels is not in
/// `source`. Two reads for each channel.
Result<std::optional<std::vector<registry::SetDigest>>> strays_of(store::ObjectReader& source,
                                                                  const registry::DistributionRecord& distribution,
                                                                  const std::set<std::string>& channels);

/// What a channel gives to its distributions.
struct Given {
  std::string channel;
  std::vector<registry::SealedSet> sets;       ///< that it shows, or the newest of them
  std::vector<registry::SealedSet> taken_back; ///< by its last rollback, if nothing came since
};
/// What belongs into one directory.
struct Feeding {
  std::map<std::string, std::vector<publish::Distributed>> sets; ///< by channel; as copies in the directory
  std::map<registry::SetDigest, std::string> taken_back;         ///< sets that left a channel by a rollback
  bool all_channels = false; ///< `sets` has each channel of the source that feeds this directory
};
using Feedings = std::map<std::string, Feeding>; ///< by directory
/// Adds what belongs where below `prefix`. A set that cannot go there, because the prefix asks for a family that its
/// run does not have, is left out. Pure.
void add_feeding(Feedings& feedings, const Given& given, const std::string& prefix);

struct FedDistribution {
  std::string directory;
  std::vector<std::string> channels;             ///< that were looked at, or that have fed it; sorted
  std::optional<std::uint64_t> generation;       ///< nullopt: the pointer is missing or damaged
  std::size_t sets = 0;                          ///< that it shows
  std::vector<registry::SetDigest> lacks;        ///< sets of these channels that it does not show a copy of
  std::vector<registry::SetDigest> blocked = {}; ///< those of `lacks` with a file that is blocked there
  std::vector<registry::SetDigest> strays;       ///< as strays_of()
  bool wants_signatures = false;                 ///< whether `yank` of a stray needs a key
  std::optional<Error> lost; ///< the pointer had moves and is missing, or it is damaged: R010 to R012
  bool pages_current = true; ///< false: a run was killed between the pointer and the pages
  Findings moves = {};       ///< errors of its newest moves, as promote::verify_moves_there() finds them
  std::vector<std::string> other_policy =
      {}; ///< as promote::with_another_policy_by_now(), if `source` has all channels
  std::vector<registry::ShownSet> revoked = {}; ///< as registry::revoked_since(): the pages do not say so yet
};
/// Looks at one directory of `target`. Without a protected channel that has fed it, what it shows is compared only if
/// `feeding` has all channels: another one may have brought it. Its newest 64 moves are verified, with the ledgers of
/// the channels if `source` has all that have fed it. Costs three reads of the target, two for each channel, a listing
/// where the pointer is missing, a read for each of its policies if there are strays, what verify_moves_there() costs,
/// and as registry::revoked_since().
Result<FedDistribution> look_at_distribution(store::ObjectReader& source, store::ObjectReader& target,
                                             const std::string& directory, const Feeding& feeding);

} // namespace quarry::release
