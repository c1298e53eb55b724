#pragma once
// Proves that a set was made from the set that its derivation record names, and only as that record says.
#include "base/result.hpp"
#include "registry/derivations.hpp"
#include "registry/registry.hpp"

namespace quarry::derive {

/// Compares the record with the records of both sets, not with the files' bytes: the record lists each file of `made`,
/// and for each file the sealed set of the candidate has the original that is named. Returns the candidate's set. Fails
/// with corrupt O102, and as registry::load_sealed() does. Costs two requests.
Result<registry::SealedSet> check_derivation(store::ObjectReader& store, const registry::SetRecord& made,
                                             const registry::DerivationRecord& record);

/// Does what check_derivation() does, then proves each file from the bytes: the candidate's file is what was sealed,
/// and `release finalize` makes the release's file from it. Also fails with corrupt O105, W031 and M016. Costs reading
/// both sets, `workers` files at a time.
Result<registry::SealedSet> prove_derivation(store::ObjectReader& store, const registry::SetRecord& made,
                                             const registry::DerivationRecord& record, unsigned workers);

} // namespace quarry::derive
