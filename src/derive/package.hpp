#pragma once
// Private to the room.
// One package of a candidate as the package of the release, and the proof that it is nothing else.
#include "dist/version_change.hpp"
#include "wheel/renew.hpp"
#include <functional>
#include <string>

namespace quarry::derive {

using wheel::NamedWheel;
using wheel::Renewed;

/// A wheel or source distribution by its name and bytes, wherever these lie.
using Package = NamedWheel;
using DerivedPackage = wheel::DerivedWheel;
using CopiedBytes = std::function<void(std::uint64_t)>; ///< how many bytes of this package are written

/// Writes the package with the changed version below `output_dir`, atomically: wheels as wheel::renew() does. In a
/// source distribution (.tar.gz) the top directory, PKG-INFO, `requires.txt`, and what says a version
/// (dist::names_version, `pyproject.toml`) change. Fails as wheel::renew() does; for a source distribution also with
/// T0xx, and with unsupported O107 for a .zip or one that has more than 256 MiB.
Result<Renewed> renew_package(const Package& package, const dist::VersionChange& change, const std::string& output_dir,
                              const CopiedBytes& on_progress = {});

/// Proves that the package is what renew_package() makes of its original, whatever packed it. Fails with corrupt W031
/// (wheels) or O102 for any difference, and as renew_package() does. Costs reading both.
Result<void> prove_package(const DerivedPackage& package, const dist::VersionChange& change);

/// Whether the package's own metadata would change, which needs a version of its own that changes. Reads METADATA, or
/// the source distribution.
Result<bool> metadata_changes(const Package& package, const dist::VersionChange& change);

} // namespace quarry::derive
