#pragma once
// The packages of two runs, directory by directory: files, metadata, the dynamic sections of ELF files.
#include "inspect/contents.hpp"
#include "shadow/difference.hpp"
#include "shadow/side.hpp"

namespace quarry::shadow {

/// Compares the wheels and source distributions of each directory as inspect::compare() does. A place is
/// "PACKAGE!PLACE", with "!ours" or "!theirs" at its end if only one side has it; a whole package is "PACKAGE!ours".
/// A difference with parts (inspect::Part) becomes one for each, which the table explains one by one.
/// Packages that are not on this machine are copied below `options.spool_directory` while their directory is compared.
/// Fails as inspect::read_package() does. Reads every package once.
Result<Section> compare_packages(const Sides& sides, const Table& table, const inspect::ReadOptions& options);

} // namespace quarry::shadow
