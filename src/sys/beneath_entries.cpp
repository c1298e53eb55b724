#include "sys/beneath_entries.hpp"

#include "sys/path.hpp"
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

namespace quarry::sys {

Result<BeneathEntries> BeneathEntries::open(const std::string& root) {
  TRY(auto beneath, Beneath::open(root));
  return BeneathEntries(std::move(beneath));
}

Result<BeneathEntries::Found> BeneathEntries::enter(const std::string& path) {
  std::string parent(path::dirname(path));
  if (parent == ".") parent.clear();
  if (directory_ && parent_ == parent) return Found::present;
  bool blocked = false;
  parent_.reset();
  TRY(directory_, root_.open_directory(parent, blocked));
  if (!directory_) return blocked ? Found::blocked : Found::absent;
  parent_ = std::move(parent);
  return Found::present;
}

Result<BeneathEntries::Look> BeneathEntries::look(const std::string& path) {
  TRY(auto found, enter(path));
  if (found != Found::present) return Look{found, {}};
  TRY(auto entry, look_at(directory_->descriptor(), path));
  return entry ? Look{Found::present, std::move(*entry)} : Look{};
}

Result<bool> BeneathEntries::remove(const std::string& path) {
  TRY(auto found, enter(path));
  if (found != Found::present) return found == Found::absent;
  std::string name(path::basename(path));
  if (::unlinkat(directory_->descriptor(), name.c_str(), 0) == 0 || errno == ENOENT) return true;
  if (errno == EISDIR) return false;
  return fail(errno_error(errno, "remove", path));
}

Result<bool> BeneathEntries::remove_directory(const std::string& path) {
  TRY(auto found, enter(path));
  if (found != Found::present) return found == Found::absent;
  std::string name(path::basename(path));
  if (::unlinkat(directory_->descriptor(), name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return true;
  if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR) return false;
  return fail(errno_error(errno, "remove", path));
}

Result<bool> BeneathEntries::replace(const std::string& from, const std::string& path) {
  TRY(auto found, enter(path));
  if (found != Found::present) return false;
  std::string name(path::basename(path));
  if (::renameat(AT_FDCWD, from.c_str(), directory_->descriptor(), name.c_str()) == 0) return true;
  return fail(errno_error(errno, "create", path));
}

} // namespace quarry::sys
