#pragma once
// What earlier verdicts on a set were made with: each stored verdict is marked below `verdicts/by-set/{set}/`, so that
// the next verdict on the set finds it. A record that one of them read and that is gone now is a sign that somebody
// removes results that he does not like: records of evidence and waivers are never removed by Quarry.
#include "registry/registry.hpp"
#include <string>
#include <vector>

namespace quarry::registry {

/// Marks the verdict for each of these sets with an empty object `verdicts/by-set/{set}/{verdict}`. The caller has
/// stored the verdict. If it is killed between the two, find_disappeared() does not see that verdict. One write for
/// each set, eight at the same time.
Result<void> mark_judged(ObjectStore& store, const VerdictDigest& verdict, const std::vector<SetDigest>& sets);

struct Disappeared {
  std::string key; ///< "evidence/1f2e….json"
  VerdictDigest verdict;
  SetDigest set;
};
/// Returns the keys that an earlier verdict on these sets read and that `present` lacks, because the record is missing,
/// junk or has lost its mark: each once. If several verdicts name the key, `verdict` is the one of the lowest digest;
/// `set` is the lowest of `sets` for which that verdict is marked. `present` holds, sorted, the keys of the valid
/// evidence about these sets, of all valid waivers and of all revocations. An earlier verdict may also have judged
/// other sets, whose evidence `present` does not list. So each evidence record that is not in `present` is read. If it
/// is valid and names none of `sets`, it has not disappeared. A verdict that is gone, is junk (is_junk()) or is refused
/// by read_verdict() names nothing. One listing for each set and a read for each verdict, eight at the same time; also
/// a read for each evidence record that `present` lacks, sixteen at the same time.
Result<std::vector<Disappeared>> find_disappeared(ObjectReader& store, const std::vector<SetDigest>& sets,
                                                  const std::vector<std::string>& present);
/// Fails with held O029, whose details name the first five of them, if there is one. Errors and cost of
/// find_disappeared().
Result<void> refuse_disappeared(ObjectReader& store, const std::vector<SetDigest>& sets,
                                const std::vector<std::string>& present);

} // namespace quarry::registry
