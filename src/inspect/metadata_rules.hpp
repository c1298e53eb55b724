#pragma once
// What is wrong with the fields of METADATA beyond what wheel::verify refuses, by the core metadata specification (PEP
// 566, 643, 685, 639, 794) and by the rules of PyPI. Codes Q201 to Q216. Pure.
#include "base/finding.hpp"
#include "inspect/metadata_values.hpp"
#include "inspect/wheel_contents.hpp"

namespace quarry::inspect {

/// The findings of one wheel; none if its METADATA or its name could not be read, which has findings of its own. What
/// contradicts the specification is a warning; what PyPI alone does not take is a note, since a wheel may be meant for
/// another index. At most 100 findings. Linear in METADATA and RECORD.
Findings check_metadata(const WheelContents& wheel, const MetadataValues& values);

} // namespace quarry::inspect
