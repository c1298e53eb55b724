#pragma once
// Looks at, removes and replaces entries below one directory, never through a link: the entries of a directory that a
// user may have changed since a state file was written about it.
#include "sys/beneath.hpp"
#include "sys/tree.hpp"
#include <optional>
#include <string>

namespace quarry::sys {

/// Keeps the last parent directory open, so entries in bytewise order cost one openat2(2) per directory. Not
/// thread-safe. Paths are relative and normal. Errors: D00x.
class BeneathEntries {
public:
  enum class Found : std::uint8_t {
    absent,
    present,
    blocked, ///< a parent is a link or not a directory
  };
  struct Look {
    Found found = Found::absent;
    TreeEntry entry; ///< when present
  };

  static Result<BeneathEntries> open(const std::string& root); ///< the directory must exist
  /// lstat(2) of the entry.
  Result<Look> look(const std::string& path);
  /// Removes what is not a directory. Returns false, and removes nothing, when the entry is a directory or blocked.
  Result<bool> remove(const std::string& path);
  /// rmdir(2). Returns false when it holds something, is not a directory or is blocked.
  Result<bool> remove_directory(const std::string& path);
  /// rename(2) of `from`, a path of the process, to `path`, whose parents exist. Replaces an entry that is not a
  /// directory. Returns false when the entry is blocked.
  Result<bool> replace(const std::string& from, const std::string& path);
  const Beneath& root() const { return root_; }

private:
  explicit BeneathEntries(Beneath root) : root_(std::move(root)) {}
  /// Opens the parent of `path` as directory_, unless it is open already.
  Result<Found> enter(const std::string& path);

  Beneath root_;
  std::optional<std::string> parent_; ///< the path of directory_
  std::optional<File> directory_;
};

} // namespace quarry::sys
