#pragma once
// Private to the room.
// Exploded artifacts: checked by their manifest (they have no checksum), and copied.
#include "artifact/source.hpp"
#include "sys/tree.hpp"
#include "tar/paths.hpp"

namespace quarry::artifact {

struct ExplodedTree {
  std::vector<sys::TreeEntry> entries; ///< sorted, with the manifest; files, directories and links only
  std::uint64_t files = 0, bytes = 0;  ///< entries that are not directories
  tar::CasePairs case_pairs;           ///< T007 instead for Windows
};

/// What an archive calls an entry of a directory.
tar::Type tar_type(sys::EntryType type);

/// Lists the tree and judges it as an archive of it would be judged: A003, A004 (item.defect), A008 outside of the
/// bases, T007, T009, T010.
Result<ExplodedTree> check_exploded(const SourceItem& item);
/// Fails with A008 if a file or link lies outside of the bases. Lists only what is not below a base, so it costs little
/// where the trees of the bases are listed anyway.
Result<void> refuse_uncovered(const std::string& directory, const std::vector<std::string>& bases);
/// Copies the checked tree below `directory`, which must exist and be empty. Modes become 0644 or 0755.
Result<void> copy_exploded(const SourceItem& item, const ExplodedTree& tree, const std::string& directory);

} // namespace quarry::artifact
