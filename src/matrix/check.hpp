#pragma once
// What a families file may say and people should look at: findings beyond what the strict reader refuses. Pure.
#include "base/finding.hpp"
#include "matrix/families.hpp"

namespace quarry::matrix {

/// F020 tests without a target to fetch, F021 no runner, F022 an exception without a reason, F023 more jobs than GitHub
/// takes (error), F024 a target that no built family holds; in the order of the file.
Findings check_families(const Families& families);

} // namespace quarry::matrix
