#pragma once
// The manifest that stands beside the host's libraries where device code was split off them:
// `.kpack/NAME_COMPONENT.kpm`, MessagePack, `{"format_version": 1, "kpack_files": {TARGET: …}}` (rocm-systems,
// shared/kpack).
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace quarry::gpu {

/// The targets whose archives the host was built with, without features ("gfx900" for "gfx900:xnack-"). nullopt if the
/// bytes are not such a manifest. Pure; time is linear in the bytes.
std::optional<std::set<std::string>> targets_in_manifest(std::string_view bytes);

} // namespace quarry::gpu
