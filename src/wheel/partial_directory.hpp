#pragma once
// Private to the room.
// A directory that gets its name when it is complete, and is removed when it never is; leftovers of a killed process
// are removed by the next for the same name.
#include "base/result.hpp"
#include "sys/held_directory.hpp"
#include <string>

namespace quarry::wheel {

class PartialDirectory {
public:
  /// Below the parent of `target`, which is made. already_exists W015 when `target` is there.
  static Result<PartialDirectory> create(const std::string& target);
  const std::string& path() const { return held_.path(); } ///< until it is committed
  Result<void> commit();                                   ///< W015 when somebody was faster

private:
  PartialDirectory(sys::HeldDirectory held, std::string target) : held_(std::move(held)), target_(std::move(target)) {}
  sys::HeldDirectory held_;
  std::string target_;
};

} // namespace quarry::wheel
