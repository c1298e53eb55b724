#pragma once
// Private to the room.
// Artifacts that are split by GPU target (kpack): host libraries in generic artifacts, device code of each target
// beside them. Packages of whole families cannot be made from them: a family's package would hold device code and no
// library.
#include "base/result.hpp"
#include "sdk/view.hpp"

namespace quarry::sdk {

/// Reads the manifest of the build in the artifact `base`, whose flag KPACK_SPLIT_ARTIFACTS says whether the build was
/// split, and looks for device code in `.kpack/` of every artifact that has been read. unsupported S053 names the
/// artifact and the flag; corrupt B002 if the manifest is not a JSON object.
Result<void> refuse_split(ArtifactTrees& trees);

} // namespace quarry::sdk
