#pragma once
// What is laid over a table of families for one run of CI: the machines of a file that is kept elsewhere, and what the
// repository that calls the workflow sets for single families. Pure. Errors: invalid_argument F010 (a value that is not
// understood), F002 (what the strict reader of families refuses in the result).
#include "base/json.hpp"
#include "matrix/families.hpp"
#include <string>
#include <vector>

namespace quarry::matrix {

struct Overlaid {
  Families families;
  std::vector<std::string> notes; ///< sentences: what the text names and the table does not have
};

/// {family's key: {platform: {field: value}}}, with the fields of the incumbent's table (docs/formats/families.md). A
/// field replaces what the table says, also with an empty text or false. Families and platforms that the table lacks
/// are noted and have no effect, as in the incumbent's script, which chooses families before it looks here.
Result<Overlaid> overlay_families(const Families& base, json::NamedJson overrides);

/// The runner configuration of a repository of its own: `build_runners` by platform and kind, and the machines of
/// families as `gpu_runner_labels`, or in its first version within `gpu_families` by tier. Only machines are taken.
Result<Overlaid> overlay_machines(const Families& base, json::NamedJson config);

} // namespace quarry::matrix
