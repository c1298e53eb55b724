#pragma once
// Private to the room.
// Lets the evidence of a release candidate count for the release that was made from it (docs/formats/derivations.md).
#include "gate/gate.hpp"
#include "registry/derivations.hpp"
#include <vector>

namespace quarry::gate {

/// A set that was made from a candidate. The caller has proven the record, or decided to believe it.
struct Derived {
  Subject made;
  registry::DerivationRecord record;
  registry::SetDigest asked = {}; ///< the set whose evidence counts: the candidate, or the set that it is a part of
};

/// Adds the sets to `input.derived`, and copies of the candidates' evidence to `input.inherited`, with the names of the
/// new sets and files in place of the candidates'. A copy keeps the digest by which the evidence is stored and signed.
/// Pure.
void inherit(Case& input, const std::vector<Derived>& derived);

} // namespace quarry::gate
