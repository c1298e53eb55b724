#pragma once
// Private to the room.
// Whether artifacts keep their device code inside the libraries, or apart from them for each GPU target (kpack), and
// whether all of them agree about it.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "sdk/choice.hpp"
#include "sdk/view.hpp"

namespace quarry::sdk {

/// What the manifest of the build in the artifact `base` says (its flag KPACK_SPLIT_ARTIFACTS). Without a manifest the
/// names say it: an artifact of libraries that there is both for all targets and for one target, where the latter holds
/// no library. Reads `base` and, without a manifest, the artifacts of libraries for one target. corrupt B002: the
/// manifest is not a JSON object.
Result<Form> form_of(ArtifactTrees& trees);

/// After the artifacts of a build have been read: corrupt S059 if one of them is in the other form than `form`, or is
/// named for a family although the code of each target is apart.
Result<void> check_form(const ArtifactTrees& trees, Form form, const Choice& choice);

enum class Chosen : std::uint8_t { by_request, by_artifacts }; ///< who said which families are built
/// Compares the targets with those that the build itself lists in share/therock/dist_info.json of the artifact `base`:
/// S061 (error) for each that it does not know; and if nobody chose the families, S063 (warning) for those without an
/// artifact here. Without that list S061 for a target whose device code the manifest beside the host's libraries
/// (`.kpack/NAME_COMPONENT.kpm`) does not name; a manifest that cannot be read, or is
/// larger than any that a build makes, says nothing. corrupt B002: that file is
/// not a JSON object.
Result<void> check_targets_known(ArtifactTrees& trees, const Choice& choice, Chosen chosen, Findings& findings);

/// S063 (warning) for each target that lacks an artifact of device code which another target of the choice has. Pure.
void check_same_artifacts(const Choice& choice, Findings& findings);

} // namespace quarry::sdk
