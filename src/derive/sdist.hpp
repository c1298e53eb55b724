#pragma once
// Private to the room.
// Reads a source distribution into memory, changes its version, and packs it again.
#include "content/rope.hpp"
#include "dist/version_change.hpp"
#include "tar/tar.hpp"
#include <string>
#include <vector>

namespace quarry::derive {

struct SdistMember {
  std::string path;
  tar::Type type = tar::Type::file;
  bool executable = false;
  std::string link, content;
  bool operator==(const SdistMember&) const = default;
};
struct Sdist {
  std::string file_name;
  std::vector<SdistMember> members;
};

/// Fails with unsupported O107 if the file is not a .tar.gz or is too large, and with T0xx.
Result<Sdist> read_sdist(const std::string& file_name, const content::Rope& bytes);
/// Returns the distribution with the new version. Appends the paths of files with new content to `changed`. Fails with
/// W030 if the version would stay as it is. Pure.
Result<Sdist> changed_sdist(const Sdist& sdist, const dist::VersionChange& change, std::vector<std::string>& changed);
/// Returns the bytes of a .tar.gz. Equal members give equal bytes.
Result<std::string> packed_sdist(const Sdist& sdist);

} // namespace quarry::derive
