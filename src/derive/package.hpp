#pragma once
// Private to the room.
// Makes a package of the release from one of the candidate, and proves that nothing else was changed.
#include "dist/version_change.hpp"
#include "wheel/renew.hpp"
#include <functional>
#include <string>

namespace quarry::derive {

using wheel::NamedWheel;
using wheel::Renewed;

/// A wheel or source distribution: its file name and its bytes, which may be in a store or a file.
using Package = NamedWheel;
using DerivedPackage = wheel::DerivedWheel;
using CopiedBytes = std::function<void(std::uint64_t)>; ///< gets the bytes of the package written so far

/// Writes the package with the new version below `output_dir`, atomically. A wheel is changed as wheel::renew() says.
/// In a source distribution (.tar.gz) these change: the top directory, PKG-INFO, `requires.txt`, `pyproject.toml`, and
/// files that state a version (dist::names_version). Fails as wheel::renew() does; for a source distribution also with
/// T0xx, and with unsupported O107 for a .zip or more than 256 MiB.
Result<Renewed> renew_package(const Package& package, const dist::VersionChange& change, const std::string& output_dir,
                              const CopiedBytes& on_progress = {});

/// Proves that the package has the content that renew_package() makes of the original; how it was compressed does not
/// matter. Fails with corrupt W031 (wheels) or O102 for any difference, and as renew_package() does. Costs reading
/// both.
Result<void> prove_package(const DerivedPackage& package, const dist::VersionChange& change);

/// Whether the version change alters the package's own metadata. Only a package whose own version changes may have such
/// a change. Costs reading METADATA, or the whole source distribution.
Result<bool> metadata_changes(const Package& package, const dist::VersionChange& change);

} // namespace quarry::derive
