#include "wheel/partial_directory.hpp"

#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include <fmt/core.h>
#include <utility>

namespace quarry::wheel {

namespace {
Error is_there(const std::string& target) {
  return {ErrorKind::already_exists,           "W015", target + " is there already", {}, {},
          "remove it, or choose another place"};
}
} // namespace

Result<PartialDirectory> PartialDirectory::create(const std::string& target) {
  if (sys::exists(target)) return fail(is_there(target));
  auto partial =
      path::join(path::dirname(target), fmt::format(".{}.{}.partial", path::basename(target), sys::random_hex(6)));
  TRY_DO(sys::make_directories(partial));
  return PartialDirectory(partial, target);
}

PartialDirectory::PartialDirectory(PartialDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})), target_(std::move(other.target_)) {}

PartialDirectory::~PartialDirectory() {
  if (!path_.empty()) static_cast<void>(sys::remove_tree(path_));
}

Result<void> PartialDirectory::commit() {
  auto renamed = sys::rename(path_, target_);
  if (!renamed)
    return fail(sys::exists(target_) ? is_there(target_) : std::move(renamed).error()); // somebody was faster
  path_.clear();
  return {};
}

} // namespace quarry::wheel
