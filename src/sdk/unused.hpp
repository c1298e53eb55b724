#pragma once
// What lies in the directory of artifacts and gets into no package.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "sdk/view.hpp"
#include <string>
#include <vector>

namespace quarry::sdk {

struct Unused {
  std::string artifact;
  bool whole = true;        ///< no package selects the artifact; false: a package does, but takes not all of its files
  std::size_t files = 0;    ///< 0 for a whole artifact that is an archive: it is not opened
  std::uint64_t bytes = 0;  ///< of a whole artifact as it lies there, of single files uncompressed
  std::string example = {}; ///< one of the files, unless `whole`
  bool asked = true;        ///< false: of a family that was not to be built, while others were named
};

/// Artifacts that are not in `selected`, and files that no view has taken. Call it after every package has been
/// planned. Lists exploded artifacts once.
Result<std::vector<Unused>> find_unused(const ArtifactTrees& trees, const std::vector<artifact::Name>& selected,
                                        const std::vector<std::string>& families);
/// S054 for whole artifacts, S055 for files: one warning each, with the number of bytes. S064: a note about those of
/// families that nobody asked for.
void report_unused(const std::vector<Unused>& unused, const std::string& directory, Findings& findings);

} // namespace quarry::sdk
