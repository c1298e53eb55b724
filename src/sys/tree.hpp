#pragma once
// A directory tree as a sorted list of values. Never follows links.
#include "base/result.hpp"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace quarry::sys {

enum class EntryType : std::uint8_t { file, directory, symlink, other };

struct TreeEntry {
  std::string path; ///< relative to the root, '/' separated
  EntryType type = EntryType::file;
  std::uint64_t size = 0; ///< of a file
  unsigned mode = 0;      ///< permission bits only
  std::string link;       ///< target text of a symlink
  std::uint64_t device = 0, inode = 0;
  std::int64_t modified_ns = 0; ///< since 1970
  bool executable() const { return (mode & 0111) != 0; }
};

/// All entries below `root` (not the root itself), sorted bytewise by path. An entry that another process removes
/// meanwhile is not_found D001: a package must not lack it silently. At most `max_entries`, else resource_exhausted
/// D005.
Result<std::vector<TreeEntry>> list_tree(const std::string& root, std::size_t max_entries = 1'000'000);
/// Only the direct entries of `directory`, sorted bytewise. What another process removes meanwhile is not listed.
Result<std::vector<TreeEntry>> list_directory(const std::string& directory);

/// lstat(2) of the last part of `path` in the open `directory`; the entry is called `path`. nullopt when it does not
/// exist.
Result<std::optional<TreeEntry>> look_at(int directory, const std::string& path);

} // namespace quarry::sys
