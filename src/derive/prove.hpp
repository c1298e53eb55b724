#pragma once
// Whether a set is what its derivation record says.
#include "base/result.hpp"
#include "registry/derivations.hpp"
#include "registry/registry.hpp"

namespace quarry::derive {

/// Compares the record with both sets, not with their bytes: each file of `made` is one of the record's, and each of
/// these was made of a file of the sealed set that the record names. Returns that set. Fails with corrupt O102, and as
/// registry::load_sealed() does. Two requests.
Result<registry::SealedSet> check_derivation(store::ObjectStore& store, const registry::SetRecord& made,
                                             const registry::DerivationRecord& record);

/// The same, and proves each file from the bytes of both sets: the candidate's file is what was sealed, and `release
/// finalize` makes this file of it. Fails also with corrupt O105, W031, M016. Costs reading both sets, `workers` files
/// at a time.
Result<registry::SealedSet> prove_derivation(store::ObjectStore& store, const registry::SetRecord& made,
                                             const registry::DerivationRecord& record, unsigned workers);

} // namespace quarry::derive
