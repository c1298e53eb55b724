#pragma once
// What a source distribution requires, kept in its file's record (docs/formats/records.md, "requires_dist"). Wheels
// have METADATA next to them; a source distribution must not, because installers would skip its build. Few readers need
// it, so it stays among the record's JSON fields and costs the others nothing. Pure.
#include "dist/metadata.hpp"
#include "registry/records.hpp"
#include <optional>
#include <string>
#include <vector>

namespace quarry::registry {

struct SdistRequirements {
  std::vector<std::string> requires_dist; ///< as METADATA has them, with markers
  std::vector<std::string> extras;
};

/// Returns what PKG-INFO lists, also if Requires-Dist is Dynamic: the build of the wheel may change it then, but
/// nothing else is known. nullopt if PKG-INFO lists no requirement and that proves nothing: Requires-Dist is Dynamic,
/// or the metadata has a version before 2.2.
std::optional<SdistRequirements> requirements_of_sdist(const dist::Metadata& metadata);

/// Replaces those of the record of a source distribution. Text that is not UTF-8 changes nothing.
void record_requirements(FileRecord& file, const SdistRequirements& requirements);

/// Those of the record; nullopt if it has none, as the record of a wheel, or one that was written before they were
/// recorded. A value that is not a list of text counts as not recorded.
std::optional<SdistRequirements> recorded_requirements(const FileRecord& file);

} // namespace quarry::registry
