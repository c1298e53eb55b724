#pragma once
// Private to the room.
// Who may sign the moves of a distribution, and which promotions may change who feeds it. Used by one thread.
#include "gate/policy.hpp"
#include "gate/signers.hpp"
#include "promote/feeder_proofs.hpp"
#include "registry/distributions.hpp"
#include <map>
#include <string>
#include <vector>

namespace quarry::promote {

/// The signers of the policies that feed a distribution. A read for each policy, once, and one for each signer and
/// move. Fails as stored_policy() (bound.hpp).
class SignersThere {
public:
  explicit SignersThere(store::ObjectReader& store) : store_(store) {}

  /// Those of the policies that take only signed moves.
  Result<std::vector<const gate::Policy*>> wanting_in(const std::vector<registry::Feeder>& feeders);
  /// Each of the policies must let somebody sign it; the first defect counts. A promotion is that of one channel, and
  /// no record says which: one of their policies must, and none needs to if one of them takes unsigned moves.
  Result<gate::SignedBy> signer_by(const std::vector<registry::Feeder>& feeders, const registry::Action& action,
                                   const registry::DistributionViewDigest& digest);

private:
  store::ObjectReader& store_;
  std::map<registry::PolicyDigest, gate::Policy> policies_;
};

/// Who fed a directory by law, and who does by a promotion.
struct FeedingChange {
  const std::vector<registry::Feeder>& law;
  const std::vector<registry::Feeder>& now;
};

class FeedingLaw {
public:
  /// `source` is the store of the channels; null: only signatures count.
  FeedingLaw(SignersThere& signers, store::ObjectReader* source) : signers_(signers), proofs_(source) {}
  bool can_look() const { return proofs_.can_look(); }

  /// Why a promotion may not make this change; empty if it may:
  ///   - with `source` its ledgers prove each change (FeederProofs);
  ///   - a feeder that changes needs a signer of its old policy, or, with `source`, of the new one;
  ///   - a channel comes to others by a policy that is known, or by the new one of such a channel;
  ///   - no feeder leaves, except that the only one opens the directory: with `source`, or if its policy takes unsigned
  ///     moves.
  Result<std::string> defect_of(const FeedingChange& change, const registry::DistributionViewDigest& digest);

private:
  Result<std::string> defect_of_change(const registry::Feeder& before, const registry::Feeder* now,
                                       const registry::DistributionViewDigest& digest);

  SignersThere& signers_;
  FeederProofs proofs_;
};

} // namespace quarry::promote
