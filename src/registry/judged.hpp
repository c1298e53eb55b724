#pragma once
// What earlier verdicts on a set were made with: each stored verdict is marked below `verdicts/by-set/{set}/`, so that
// the next verdict on the set finds it. A record that one of them read and that is gone now is a sign that somebody
// removes results that he does not like: records of evidence and waivers are never removed by Quarry.
#include "registry/registry.hpp"
#include <string>
#include <vector>

namespace quarry::registry {

/// Marks the verdict for each of these sets with an empty object. One write for each set, eight at the same time.
Result<void> mark_judged(ObjectStore& store, const VerdictDigest& verdict, const std::vector<SetDigest>& sets);

struct Disappeared {
  std::string key; ///< "evidence/1f2e….json"
  VerdictDigest verdict;
  SetDigest set;
};
/// Each key that a marked verdict on one of these sets has read and that `present` lacks: once, with the first set and
/// verdict that name it. `present` are the keys of the evidence about these sets and of all waivers and revocations
/// that can be read, sorted. Evidence about other sets is looked at here. A verdict that is gone itself, or cannot be
/// read, names nothing. One listing for each set, and one read for each verdict and each record that `present` lacks.
Result<std::vector<Disappeared>> find_disappeared(ObjectReader& store, const std::vector<SetDigest>& sets,
                                                  const std::vector<std::string>& present);
/// held O029, which names the first of them, if there is one.
Result<void> refuse_disappeared(ObjectReader& store, const std::vector<SetDigest>& sets,
                                const std::vector<std::string>& present);

} // namespace quarry::registry
