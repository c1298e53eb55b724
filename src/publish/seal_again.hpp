#pragma once
// Sets that were sealed in a directory outside a run and that a rollback took out: a second seal shows them again.
#include "base/finding.hpp"
#include "publish/verify.hpp"
#include "registry/registry.hpp"
#include "store/object_store.hpp"
#include <string>
#include <vector>

namespace quarry::publish {

/// Returns the sets of seal_in_place() (verify.hpp) whose files all lie in the directory and that its distribution does
/// not show, oldest seal first. What a promotion brought is not among them: a promotion brings it back. Empty if the
/// directory is not a distribution. Two listings of everything below, a read of the pointer and two for each set.
Result<std::vector<registry::SealedSet>> sealed_but_not_shown(store::ObjectReader& store, const std::string& directory);

/// held R022 if the distribution blocks a file of one of these sets: the error names the files, and the commands that
/// let them in. A read of the pointer, and one for each move if something is blocked.
Result<void> refuse_blocked_seals(store::ObjectReader& store, const std::string& directory,
                                  const std::vector<registry::SealedSet>& sets);

/// Shows these sets again, by a move `adopt`, and writes the pages. Returns and fails as show_sets() (shown.hpp) and
/// complete_adoption() (adoption.hpp).
Result<Findings> show_sealed(store::ObjectStore& store, const std::string& directory,
                             const std::vector<registry::SealedSet>& sets, const Sealing& sealing);

} // namespace quarry::publish
