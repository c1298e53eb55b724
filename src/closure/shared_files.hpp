#pragma once
// Wheels of different projects that install one path. Code Q438. Pure.
#include "base/finding.hpp"
#include "closure/package.hpp"
#include "wheel/owned_files.hpp"
#include <vector>

namespace quarry::closure {

/// The files that one wheel of the set installs.
struct InstalledFiles {
  const Package& package;
  std::vector<wheel::OwnedFile> files;
};

/// One finding for each two projects whose newest wheels of the set fit one of the targets, or have the same tags, and
/// install one path: an error if the bytes differ there, else a note. At most 100 findings. Time: sorting all paths.
Findings check_shared_files(const std::vector<InstalledFiles>& wheels, const std::vector<mirror::Target>& targets);

} // namespace quarry::closure
