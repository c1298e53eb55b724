#pragma once
// Private to the room.
// Source distributions: read whole, changed as text, written again.
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

/// Fails with unsupported O107 for what is not a .tar.gz or too large, and with T0xx.
Result<Sdist> read_sdist(const std::string& file_name, const content::Rope& bytes);
/// With the changed version. `changed` gets the paths of files whose content is new. Fails with W030 if the version
/// stays. Pure.
Result<Sdist> changed_sdist(const Sdist& sdist, const dist::VersionChange& change, std::vector<std::string>& changed);
/// The bytes of a .tar.gz, the same for the same members.
Result<std::string> packed_sdist(const Sdist& sdist);

} // namespace quarry::derive
