#pragma once
// Private to the room.
// Evidence of a release candidate for the release that was made of it (docs/formats/derivations.md).
#include "gate/gate.hpp"
#include "registry/derivations.hpp"
#include <vector>

namespace quarry::gate {

/// A set that was made of a candidate. What it says is proven, or believed, by whoever passes it.
struct Derived {
  Subject made;
  registry::DerivationRecord record;
  registry::SetDigest asked = {}; ///< whose evidence counts: the candidate, or the whole that it is a part of
};

/// Adds what was recorded about the candidates to `input.inherited`, as if it named the sets and files that were made
/// of them, and the sets to `input.derived`. Each release of one candidate inherits. Evidence
/// keeps the digest by which it is stored and signed. Pure.
void inherit(Case& input, const std::vector<Derived>& derived);

} // namespace quarry::gate
