#include "sys/held_directory.hpp"

#include "sys/clock.hpp"
#include "sys/identity.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <utility>

namespace quarry::sys {

namespace {

constexpr std::string_view k_suffix = ".partial";
constexpr unsigned k_random_bytes = 6;
constexpr int k_attempts = 100; // another may take a name for a leftover in the moment before it is locked

enum class Taken : std::uint8_t { yes, by_another, unknown };

std::string start_of(const std::string& target) { return fmt::format(".{}.", path::basename(target)); }

Result<File> open_directory(const std::string& path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return fail(errno_error(errno, "open", path));
  return File(descriptor);
}

Taken lock(const File& file) {
  if (::flock(file.descriptor(), LOCK_EX | LOCK_NB) == 0) return Taken::yes;
  return errno == EWOULDBLOCK ? Taken::by_another : Taken::unknown;
}

/// Exactly our form: start, hexadecimal digits, suffix.
bool is_leftover_name(std::string_view name, std::string_view start) {
  if (!name.starts_with(start) || !name.ends_with(k_suffix)) return false;
  if (name.size() != start.size() + std::size_t{2} * k_random_bytes + k_suffix.size()) return false;
  auto middle = name.substr(start.size(), std::size_t{2} * k_random_bytes);
  return middle.find_first_not_of("0123456789abcdef") == middle.npos;
}

// What cannot be removed stays: it harms nobody who comes later.
void remove_leftovers(const std::string& target) {
  auto parent = path::dirname(target), start = start_of(target);
  auto entries = list_directory(parent);
  if (!entries) return;
  for (const auto& entry : *entries) {
    if (entry.type != EntryType::directory || !is_leftover_name(entry.path, start)) continue;
    auto path = path::join(parent, entry.path);
    auto held = open_directory(path);
    if (held && lock(*held) == Taken::yes && is_named(*held, path)) static_cast<void>(remove_tree(path));
  }
}

} // namespace

Result<HeldDirectory> HeldDirectory::create(const std::string& target) {
  TRY_DO(make_directories(path::dirname(target)));
  remove_leftovers(target);
  for (int attempt = 0; attempt < k_attempts; ++attempt) {
    auto path =
        path::join(path::dirname(target), start_of(target) + random_hex(k_random_bytes) + std::string(k_suffix));
    if (::mkdir(path.c_str(), 0755) != 0) {
      if (errno == EEXIST) continue;
      return fail(errno_error(errno, "create directory", path));
    }
    auto held = open_directory(path);
    if (!held && held.error().kind == ErrorKind::not_found) continue;
    if (!held) return fail(std::move(held).error());
    if (lock(*held) != Taken::by_another && is_named(*held, path))
      return HeldDirectory(std::move(*held), std::move(path), target);
  }
  return fail(ErrorKind::already_exists, "D002", fmt::format("cannot find a free temporary name next to {}", target));
}

HeldDirectory::HeldDirectory(HeldDirectory&& other) noexcept
    : lock_(std::move(other.lock_)), path_(std::exchange(other.path_, {})), target_(std::move(other.target_)) {}

HeldDirectory::~HeldDirectory() {
  if (!path_.empty()) static_cast<void>(remove_tree(path_));
}

Result<void> HeldDirectory::commit() {
  int done = ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.c_str(), RENAME_NOREPLACE);
  bool cannot = done != 0 && (errno == EINVAL || errno == ENOSYS); // not every network file system knows the flag
  if (done != 0 && !cannot) return fail(errno_error(errno, "create", target_));
  if (cannot) {
    if (exists(target_) || read_link(target_)) return fail(errno_error(EEXIST, "create", target_));
    TRY_DO(sys::rename(path_, target_));
  }
  path_.clear();
  return {};
}

} // namespace quarry::sys
