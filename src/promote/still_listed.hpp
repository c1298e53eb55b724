#pragma once
// Where files that leave a channel can still be installed from: nothing is deleted, and a move changes no other pages.
// As thread-safe as the store.
#include "base/finding.hpp"
#include "promote/withdraw.hpp"
#include <string>
#include <vector>

namespace quarry::promote {

/// A channel, or the directory of a run.
struct StillListed {
  std::string channel;            ///< empty: `directory`
  std::uint64_t generation = 0;   ///< of the channel
  std::string directory;          ///< of the pages
  std::vector<std::string> files; ///< of those that leave, sorted
};
struct Elsewhere {
  std::vector<StillListed> places; ///< channels, then runs
  Findings unread;                 ///< channels that cannot be read: a warning with the code of the error
};
/// The other channels of the store, and the runs that the files came from. Copies in distributions are not known to it.
/// A listing; two reads for each channel, and one for each project that leaves and that it has, sixteen channels at
/// once.
Elsewhere still_listed(store::ObjectReader& store, const Withdrawal& plan);

} // namespace quarry::promote
