#pragma once
// The incumbent's family table, Python dicts per trigger tier (amdgpu_family_matrix.py), as our reviewed data. Pure.
#include "base/data_text.hpp"
#include "base/result.hpp"
#include "matrix/families.hpp"
#include <string>
#include <string_view>

namespace quarry::matrix {

/// Reads the dicts whose names end in _presubmit, _postsubmit and _nightly, `all_build_variants` and
/// `BUILD_RUNNER_LABELS`; the module's other parts are skipped. What the table does not say (targets, triggers, and
/// build runners and variants where it lacks them) is `base`'s. The result has been read back, so it is a valid file.
/// invalid_argument F009 (not Python), F010 (a dict that is not such a table: an unknown or missing field, a wrong
/// type, a family with two names), F002 (what the strict reader refuses, with line and key of the written file).
Result<Families> import_families(NamedText named, const Families& base);

} // namespace quarry::matrix
