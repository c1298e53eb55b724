#pragma once
// A hidden directory that is filled and then gets its name. Its owner holds a lock on it (flock(2)), so one that nobody
// holds was left by a process that was killed, and is removed by the next that makes one for the same name. Where a
// file system has no locks, nothing is taken for a leftover.
#include "base/result.hpp"
#include "sys/file.hpp"
#include <optional>
#include <string>

namespace quarry::sys {

class HeldDirectory {
public:
  /// `.NAME.RANDOM.partial` beside `target`, whose parent is made. Leftovers of that form are removed first. D00x.
  static Result<HeldDirectory> create(const std::string& target);
  HeldDirectory(HeldDirectory&& other) noexcept;
  HeldDirectory& operator=(HeldDirectory&&) = delete;
  ~HeldDirectory(); ///< removes it unless it got its name
  const std::string& path() const { return path_; }
  /// already_exists D002 when anything has the name, an empty directory too.
  Result<void> commit();

private:
  HeldDirectory(File lock, std::string path, std::string target)
      : lock_(std::move(lock)), path_(std::move(path)), target_(std::move(target)) {}
  File lock_;
  std::string path_, target_;
};

} // namespace quarry::sys
