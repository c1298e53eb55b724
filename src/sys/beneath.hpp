#pragma once
// Writing below one directory and nowhere else, whatever names an archive holds: openat2(2) with RESOLVE_BENEATH and
// RESOLVE_NO_SYMLINKS, so that neither `..` nor a link planted by an earlier member leads outside. Where the kernel has
// no openat2(2) (before 5.6), the same by one openat(2) for each component, which takes no "..". Errors: T010 for an
// escape.
#include "base/result.hpp"
#include "sys/file.hpp"
#include <optional>
#include <string>

namespace quarry::sys {

class Beneath {
public:
  static Result<Beneath> open(const std::string& root); ///< the directory must exist
  /// Creates the missing parents (0755) of `path`, then the file; already_exists when it is there.
  Result<File> create_file(const std::string& path, unsigned mode) const;
  Result<File> open_read(const std::string& path) const;
  Result<void> make_directories(const std::string& path) const;
  Result<void> symlink(const std::string& path, const std::string& target) const; ///< target is stored as it is
  Result<void> hardlink(const std::string& existing, const std::string& path) const;
  Result<void> set_mode(const std::string& path, unsigned mode) const;
  /// An existing directory; "" is the root itself. nullopt when it does not exist, or when a link or something other
  /// than a directory is on the way: `blocked` says which of the two.
  Result<std::optional<File>> open_directory(const std::string& path, bool& blocked) const;

private:
  explicit Beneath(File root) : root_(std::move(root)) {}
  Result<File> open_parent(const std::string& path) const;
  File root_;
};

} // namespace quarry::sys
