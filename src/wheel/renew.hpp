#pragma once
// A wheel of a release candidate as the wheel of the release: its name, METADATA, and the modules that say a version.
// All other files are copied as they are stored.
#include "content/rope.hpp"
#include "dist/version_change.hpp"
#include "wheel/rewrite.hpp"
#include <functional>
#include <string>
#include <vector>

namespace quarry::wheel {

/// A wheel that need not be a file of this machine: its bytes may lie in a store.
struct NamedWheel {
  std::string file_name;
  content::Rope bytes;
};

/// A wheel, and the one that it is said to be made of.
struct DerivedWheel {
  NamedWheel made, original;
};

struct Renewed {
  std::string file_name, path;
  std::uint64_t size = 0;
  std::vector<std::string> changed; ///< paths of the files whose content is new, as the new wheel has them
};

/// Writes the wheel with the changed version below `output_dir`, atomically; an existing file is replaced. Its file
/// name, its dist-info and .data directories, METADATA, RECORD and the modules of dist::names_version() change;
/// signatures of RECORD are dropped, everything else has the same stored bytes. Fails with invalid_argument W030 for a
/// wheel whose version stays, and as retag() does. Costs reading and writing the file once.
Result<Renewed> renew(const NamedWheel& wheel, const dist::VersionChange& change, const std::string& output_dir,
                      const std::function<void(std::uint64_t)>& on_progress = {});

/// Proves that `wheel.made` is what renew() makes of `wheel.original`: the same members in the same order, kept ones
/// with the same stored bytes, new ones with the same content. How the new ones are packed does not matter. Fails with
/// corrupt W031 for any difference, and as renew() does. Costs reading both.
Result<void> prove_renewed(const DerivedWheel& wheel, const dist::VersionChange& change);

} // namespace quarry::wheel
