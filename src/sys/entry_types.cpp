#include "sys/entry_types.hpp"

#include "sys/file.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>

namespace quarry::sys {

EntryType type_of_mode(unsigned mode) {
  return S_ISREG(mode)   ? EntryType::file
         : S_ISDIR(mode) ? EntryType::directory
         : S_ISLNK(mode) ? EntryType::symlink
                         : EntryType::other;
}

namespace {
EntryType type_by_look(int directory, const char* name) {
  struct stat status{};
  return ::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? type_of_mode(status.st_mode)
                                                                       : EntryType::other;
}

EntryType type_of(int directory, const dirent& entry) {
  switch (entry.d_type) {
  case DT_REG: return EntryType::file;
  case DT_DIR: return EntryType::directory;
  case DT_LNK: return EntryType::symlink;
  case DT_UNKNOWN: return type_by_look(directory, entry.d_name);
  default: return EntryType::other;
  }
}
} // namespace

Result<std::vector<NamedEntry>> list_entry_types(const std::string& directory) {
  std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(directory.c_str()), ::closedir);
  if (!stream) return fail(errno_error(errno, "list", directory));
  std::vector<NamedEntry> entries;
  for (;;) {
    errno = 0;
    const dirent* found = ::readdir(stream.get());
    if (!found && errno != 0) return fail(errno_error(errno, "list", directory));
    if (!found) break;
    std::string name = found->d_name;
    if (name != "." && name != "..") entries.push_back({std::move(name), type_of(::dirfd(stream.get()), *found)});
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return entries;
}

} // namespace quarry::sys
