#pragma once
// Private to the room.
#include "base/result.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include <string>
#include <utility>

namespace quarry::trial {

/// Removed with the object, and all that is in it.
class TemporaryDirectory {
public:
  static Result<TemporaryDirectory> create(const std::string& below) {
    TRY(auto path, sys::make_temporary_directory(below, "quarry-test-"));
    return TemporaryDirectory(std::move(path));
  }
  TemporaryDirectory(TemporaryDirectory&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  ~TemporaryDirectory() {
    if (!path_.empty()) static_cast<void>(sys::remove_tree(path_));
  }
  const std::string& path() const { return path_; }

private:
  explicit TemporaryDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

} // namespace quarry::trial
