#pragma once
// What the channels of a store name, for those that remove something: garbage collection and retention.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "registry/registry.hpp"
#include <cstdint>
#include <map>
#include <string>

namespace quarry::publish {

/// The records that the channels' ledgers name, as keys. Grows when a channel moves; a move is never taken back.
class Reachable {
public:
  explicit Reachable(store::ObjectReader& store) : store_(store) {}

  /// Follows the channels that have moved since the last call. Warning P080 for an earlier view that is lost. Fails
  /// with R010, R011 or R017 if a ledger or the current view of a channel is, and with R026 if the record of a channel
  /// is: what it names is not known. Costs a read for each move and view.
  Result<void> update(Findings& notes);
  /// Whether a channel has moved since update(). Follows nothing, so it does not need the records of the move.
  Result<bool> has_moved();
  /// Where a view is lost that the ledger names, nobody knows its shards: then every shard counts as named, so that
  /// the view can be restored.
  bool names(const std::string& key) const;
  /// A channel that names the record; empty: none.
  std::string channel_of(const std::string& key) const;

private:
  Result<void> follow(const registry::ChannelRecord& channel, Findings& notes);
  void add(const registry::ViewRecord& view, const std::string& channel);

  store::ObjectReader& store_;
  std::map<std::string, std::string> keys_; ///< with the channel that was first seen to name it
  bool lost_a_view_ = false;
  std::map<std::string, registry::LedgerDigest> ledgers_; ///< by channel: the entry up to which it was followed
};

/// The time of the store, which is the clock that also gives objects their times; 0: it gives none. Writes one object,
/// lists it and removes it.
Result<std::int64_t> time_of(store::ObjectStore& store);

} // namespace quarry::publish
