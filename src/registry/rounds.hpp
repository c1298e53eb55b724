#pragma once
// Starting over after a compare-and-swap: one rule for all moves of channels and distributions.
#include "base/result.hpp"
#include <string>

namespace quarry::registry {

/// How many rounds a writer makes, the first one included, before it gives up because others were faster. A round is
/// lost only if another writer has written something meanwhile, or the reply to a write was lost.
constexpr int k_rebase_max = 64;
/// How often a move is tried, the first time included, if each try ends with an unknown outcome (R004). Few, because
/// the store has already retried each write.
constexpr int k_unknown_outcomes_max = 3;

/// Counts the rounds of one move. One thread.
class Rounds {
public:
  explicit Rounds(std::string what) : what_(std::move(what)) {} ///< "channel stable", for messages
  /// What follows the error of a move. Success: read the state again and try once more, because another writer was
  /// faster (R003) or nobody knows the outcome (R004). Fails with precondition_failed P010 after k_rebase_max rounds,
  /// with R004 at the k_unknown_outcomes_max-th R004, and with any other error as it is.
  Result<void> another(Error error);

private:
  std::string what_;
  int rounds_ = 0, unknown_ = 0;
};

} // namespace quarry::registry
