#pragma once
// What can stop a copy to a distribution, besides what check_distribution() finds: asked before a channel moves.
#include "publish/distribute.hpp"
#include <set>
#include <vector>

namespace quarry::publish {

/// Fails with already_exists if two of these sets give one name in a directory two contents: R023 if it is the `rocm`
/// of two families, else R018. A release may bring such sets, because each channel gets only some of them. Pure.
Result<void> refuse_two_contents(const std::vector<Distributed>& sets);
/// Returns the policies that protect these channels. Pure.
std::set<registry::PolicyDigest> policies_of(const Feeders& feeders);
/// Fails if this role could not write the pointers of the directories, records of sets, policies of `feeders` that the
/// target lacks, or with `signs` signatures of a move that such a policy guards: with what the store says, such as K003
/// or D001; with R031 if the store ignores conditional writes. No object is written: the write has a condition that
/// cannot hold, and a server refuses first whom it does not let write. It may leave empty directories and a lock in a
/// file store. Costs one request for each directory and each policy, up to three others, and conditional_writes().
Result<void> check_writable(store::ObjectStore& target, const std::vector<Distributed>& sets,
                            const Feeders& feeders = {}, bool signs = false);

} // namespace quarry::publish
