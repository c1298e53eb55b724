#pragma once
// The text of a lock that installers take: pylock.toml (PEP 751). Pure.
#include "mirror/target.hpp"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace quarry::closure {

struct LockedFile {
  std::string name, url, sha256; ///< hex
  std::uint64_t size = 0;        ///< 0: not known
};
struct LockedProject {
  std::string name, version, requires_python;
  std::string marker; ///< where it is installed; empty: everywhere
  std::vector<LockedFile> wheels;
  std::optional<LockedFile> sdist;
};
struct Lock {
  std::vector<std::string> environments; ///< markers; it is for these alone
  std::vector<LockedProject> projects;   ///< sorted by name and version
  std::string source;                    ///< what was locked: "channel:stable"
  std::vector<std::string> sets;         ///< digests of the sealed sets
};

/// `python_version == "3.12" and sys_platform == "linux" and platform_machine == "x86_64"`
std::string marker_of(const mirror::Target& target);
/// The same lock gives the same text.
std::string to_pylock(const Lock& lock);

} // namespace quarry::closure
