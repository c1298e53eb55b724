#pragma once
// Whether a policy and the families file know the same families. A verdict depends on the policy alone, so that its
// digest pins it (docs/decisions/0007-policies-name-their-families.md); this says when the two have drifted apart.
#include "base/finding.hpp"
#include "gate/policy.hpp"
#include "matrix/families.hpp"

namespace quarry::gate {

/// G020 a [[family]] entry that covers no known family, G021 one that says `no_runner` where there is a test runner,
/// G022 (note) a family without a runner of which the policy says nothing. Pure.
Findings compare_with_families(const Policy& policy, const matrix::Families& families);

} // namespace quarry::gate
