#pragma once
// Private to the room.
// What the ledgers of channels say about who feeds a distribution. Used by one thread.
#include "registry/distributions.hpp"
#include "registry/registry.hpp"
#include <map>
#include <string>
#include <vector>

namespace quarry::promote {

class FeederProofs {
public:
  /// `source` is the store of the channels; null: nothing can be proven.
  explicit FeederProofs(store::ObjectReader* source) : source_(source) {}
  bool can_look() const { return source_ != nullptr; }

  /// Returns whether the channels' ledgers bound each feeder of `now` that `before` lacks: after the move that `before`
  /// names for that channel, if it names one. A channel that comes to others needs no proof if its policy is known. If
  /// `now` is empty: whether the only feeder of `before` was unprotected later, and is not protected again. A ledger
  /// that cannot be read proves nothing. Reads each ledger once.
  Result<bool> prove(const std::vector<registry::Feeder>& before, const std::vector<registry::Feeder>& now);

private:
  using Chain = std::vector<registry::Stored<registry::LedgerRecord>>; ///< newest first
  Result<const Chain*> chain_of(const std::string& channel);
  Result<bool> is_bound(const registry::Feeder& now, const registry::Feeder* before);
  Result<bool> is_open(const registry::Feeder& feeder);

  store::ObjectReader* source_;
  std::map<std::string, Chain> chains_;
};

/// The feeder of this channel; null if it does not feed the directory.
const registry::Feeder* feeder_in(const std::vector<registry::Feeder>& feeders, const std::string& channel);
bool has_policy(const std::vector<registry::Feeder>& feeders, const registry::PolicyDigest& policy);

} // namespace quarry::promote
