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
/// Returns the keys that an earlier verdict on these sets read and that `present` lacks, because the record is missing,
/// junk or has lost its mark: each once, with the set and verdict of lowest digest that name it. `present`: keys of
/// valid records, sorted: evidence about these sets, waivers, revocations. An earlier verdict may have been about other
/// sets, too, and `present` does not have their evidence. So each evidence key that `present` lacks is looked up here:
/// a record that is there, valid, and about none of these sets has not disappeared. A verdict that is gone itself, or
/// is junk (is_junk()), names nothing. One listing for each set and a read for each verdict, eight at the same time;
/// also a read for each evidence record that `present` lacks, sixteen at the same time.
Result<std::vector<Disappeared>> find_disappeared(ObjectReader& store, const std::vector<SetDigest>& sets,
                                                  const std::vector<std::string>& present);
/// Fails with held O029, whose details name the first five of them, if there is one. Errors and cost of
/// find_disappeared().
Result<void> refuse_disappeared(ObjectReader& store, const std::vector<SetDigest>& sets,
                                const std::vector<std::string>& present);

} // namespace quarry::registry
