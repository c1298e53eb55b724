#pragma once
// Private to the room.
// Wheels of different projects that install one path. Code Q438. Pure.
#include "base/finding.hpp"
#include "closure/package.hpp"
#include "wheel/owned_files.hpp"
#include <cstddef>
#include <vector>

namespace quarry::closure {

/// The numbers in `set` of the wheels whose files are worth comparing: those of each project's newest version, since
/// installers take no older one. None if all are of one project.
std::vector<std::size_t> wheels_to_compare(const std::vector<Package>& set);

/// The files that one of these wheels installs.
struct InstalledFiles {
  const Package& package;
  std::vector<wheel::OwnedFile> files;
};

/// One finding for each two projects whose wheels fit one of the targets, or have the same tags, and install one path:
/// an error if the bytes differ there, else a note. At most 100 findings. Time: sorting all paths, and each two wheels
/// at a path that two projects have.
Findings check_shared_files(const std::vector<InstalledFiles>& wheels, const std::vector<mirror::Target>& targets);

} // namespace quarry::closure
