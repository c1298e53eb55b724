#pragma once
// A lock on a directory itself (flock(2)), which leaves no file behind.
#include "base/result.hpp"
#include "sys/file.hpp"
#include <optional>
#include <string>

namespace quarry::sys {

class DirectoryLock {
public:
  /// Makes the directory when it is missing and locks it until the lock is destroyed or the process ends. nullopt:
  /// another process has it. Where the file system has no locks, nobody is kept out. D00x.
  static Result<std::optional<DirectoryLock>> try_acquire(const std::string& directory);
  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock& operator=(DirectoryLock&&) = delete;
  ~DirectoryLock(); ///< removes the directory if the lock made it and it is still empty

private:
  DirectoryLock(File file, std::string made) : file_(std::move(file)), made_(std::move(made)) {}
  File file_;
  std::string made_; ///< the directory, when the lock made it
};

} // namespace quarry::sys
