#pragma once
// Private to the room.
// The hidden directory of a fetch inside its output directory: lock, staging, states.
#include "base/result.hpp"
#include "sys/file.hpp"
#include <string>

namespace quarry::artifact {

class Workspace {
public:
  /// Creates the output directory, takes the lock (waits for another fetch) and removes what a killed fetch left in
  /// staging.
  static Result<Workspace> open(const std::string& output_directory);
  Workspace(Workspace&&) noexcept = default;
  ~Workspace(); ///< removes the staging directory

  /// An empty directory on the same file system as the output directory.
  Result<std::string> stage(const std::string& name) const;
  /// Moves what `path` names (if anything) out of sight; it is removed with the staging directory.
  Result<void> discard(const std::string& path) const;
  const std::string& state_directory() const { return state_; }

private:
  Workspace(std::string output, std::string state, sys::FileLock lock)
      : output_(std::move(output)), state_(std::move(state)), lock_(std::move(lock)) {}
  std::string staging() const { return state_ + "/staging"; }
  std::string output_, state_;
  sys::FileLock lock_;
};

} // namespace quarry::artifact
