#pragma once
// The fields of METADATA that installers resolve with, read by the grammar of packaging 26.
#include "base/finding.hpp"
#include "dist/metadata.hpp"
#include <string>

namespace quarry::dist {

/// Whether a field that cannot be parsed is an error: Metadata-Version 2.1 and later. Older metadata was written before
/// the grammar was settled, so a defect in it is a warning.
bool must_resolve(const Metadata& metadata);

/// One finding, with `place`, for each value of Requires-Dist, Requires-Python and Provides-Extra that an installer
/// could not parse: M010, M005, M011. At most 100 findings. Linear in the fields.
Findings check_resolver_fields(const Metadata& metadata, const std::string& place);

} // namespace quarry::dist
