#pragma once
// A directory that gets its name when it is complete, and is removed when it never is. Internal to the room.
#include "base/result.hpp"
#include <string>

namespace quarry::wheel {

class PartialDirectory {
public:
  /// Below the parent of `target`, which is made. already_exists W015 when `target` is there.
  static Result<PartialDirectory> create(const std::string& target);
  PartialDirectory(PartialDirectory&& other) noexcept;
  PartialDirectory& operator=(PartialDirectory&&) = delete;
  ~PartialDirectory();
  const std::string& path() const { return path_; } ///< until it is committed
  Result<void> commit();                            ///< W015 when somebody was faster

private:
  PartialDirectory(std::string path, std::string target) : path_(std::move(path)), target_(std::move(target)) {}
  std::string path_, target_;
};

} // namespace quarry::wheel
