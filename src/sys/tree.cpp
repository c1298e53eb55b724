#include "sys/tree.hpp"

#include "sys/entry_types.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace quarry::sys {

namespace {
constexpr int k_depth_max = 256; // twice what an archive may nest; each level holds one descriptor

void take_status(TreeEntry& e, const struct stat& status) {
  e.mode = status.st_mode & 07777;
  e.device = status.st_dev;
  e.inode = status.st_ino;
  e.type = type_of_mode(status.st_mode);
  if (e.type == EntryType::file) e.size = static_cast<std::uint64_t>(status.st_size);
  e.modified_ns = static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
}

/// The target of a link whose inode is already known; `path` is for messages.
Result<std::string> link_target(int parent, const char* name, const std::string& path) {
  char buffer[PATH_MAX];
  auto n = ::readlinkat(parent, name, buffer, sizeof buffer);
  if (n < 0) return fail(errno_error(errno, "read the link", path));
  return std::string(buffer, static_cast<std::size_t>(n));
}

struct Walk {
  std::string root;
  std::size_t max_entries;
  bool recursive; ///< then also strict: what vanishes while it is listed is an error
  std::vector<TreeEntry> entries;

  /// Other processes remove files meanwhile; on NFS the handle of a removed one is stale.
  bool is_gone(int error) const { return !recursive && (error == ENOENT || error == ESTALE); }

  Result<void> directory(int descriptor, const std::string& prefix, int depth) {
    if (depth > k_depth_max)
      return fail(ErrorKind::resource_exhausted, "D005",
                  fmt::format("{} nests deeper than {} directories", root, k_depth_max));
    std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(descriptor), ::closedir);
    if (!stream) {
      auto error = errno_error(errno, "list", path::join(root, prefix));
      ::close(descriptor);
      return fail(std::move(error));
    }
    for (;;) {
      errno = 0;
      dirent* found = ::readdir(stream.get());
      if (!found)
        return errno ? Result<void>(fail(errno_error(errno, "list", path::join(root, prefix)))) : Result<void>{};
      if (std::strcmp(found->d_name, ".") != 0 && std::strcmp(found->d_name, "..") != 0)
        TRY_DO(entry(descriptor, found->d_name, prefix, depth));
    }
  }

  Result<void> entry(int parent, const char* name, const std::string& prefix, int depth) {
    struct stat status{};
    TreeEntry e;
    e.path = prefix.empty() ? name : prefix + "/" + name;
    if (::fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
      return is_gone(errno) ? Result<void>{} : fail(errno_error(errno, "look at", path::join(root, e.path)));
    take_status(e, status);
    if (e.type == EntryType::symlink) {
      auto link = link_target(parent, name, path::join(root, e.path));
      if (!link && !recursive && link.error().kind == ErrorKind::not_found) return {};
      TRY(e.link, std::move(link));
    }
    if (entries.size() >= max_entries)
      return fail(ErrorKind::resource_exhausted, "D005",
                  fmt::format("{} holds more than {} entries", root, max_entries));
    bool descend = recursive && e.type == EntryType::directory;
    int child = descend ? ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (descend && child < 0)
      return is_gone(errno) ? Result<void>{} : fail(errno_error(errno, "list", path::join(root, e.path)));
    auto below = descend ? e.path : std::string();
    entries.push_back(std::move(e));
    if (!descend) return {};
    return directory(child, below, depth + 1);
  }
};

/// Sorted by path. Pointers are swapped instead of entries: a directory may have tens of thousands.
std::vector<TreeEntry> in_order(std::vector<TreeEntry> entries) {
  std::vector<TreeEntry*> order;
  order.reserve(entries.size());
  for (auto& entry : entries) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->path < b->path; });
  std::vector<TreeEntry> sorted;
  sorted.reserve(entries.size());
  for (auto* entry : order) sorted.push_back(std::move(*entry));
  return sorted;
}

Result<std::vector<TreeEntry>> walk(const std::string& root, std::size_t max_entries, bool recursive) {
  int descriptor = ::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return fail(errno_error(errno, "list", root));
  Walk state{root, max_entries, recursive, {}};
  TRY_DO(state.directory(descriptor, "", 0));
  return in_order(std::move(state.entries));
}
} // namespace

Result<std::optional<TreeEntry>> look_at(int directory, const std::string& path) {
  std::string name(path::basename(path));
  struct stat status{};
  if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return std::optional<TreeEntry>();
    return fail(errno_error(errno, "look at", path));
  }
  TreeEntry entry;
  entry.path = path;
  take_status(entry, status);
  if (entry.type == EntryType::symlink) {
    TRY(entry.link, link_target(directory, name.c_str(), path));
  }
  return std::optional<TreeEntry>(std::move(entry));
}

Result<std::vector<TreeEntry>> list_tree(const std::string& root, std::size_t max_entries) {
  return walk(root, max_entries, true);
}
Result<std::vector<TreeEntry>> list_directory(const std::string& directory) { return walk(directory, SIZE_MAX, false); }

} // namespace quarry::sys
