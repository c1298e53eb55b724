#include "sys/entry_types.hpp"

#include "sys/file.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <sys/stat.h>

namespace quarry::sys {

EntryType type_of_mode(unsigned mode) {
  return S_ISREG(mode)   ? EntryType::file
         : S_ISDIR(mode) ? EntryType::directory
         : S_ISLNK(mode) ? EntryType::symlink
                         : EntryType::other;
}

namespace {
/// nullopt if the entry is gone by now. Any other error must not look like an entry that nobody asks for: what a
/// listing leaves out may be removed by gc.
Result<std::optional<EntryType>> type_by_look(int directory, const char* name) {
  struct stat status{};
  if (::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0) return std::optional(type_of_mode(status.st_mode));
  if (errno == ENOENT || errno == ESTALE) return std::optional<EntryType>();
  return fail(errno_error(errno, "look at", name));
}

Result<std::optional<EntryType>> type_of(int directory, const dirent& entry) {
  switch (entry.d_type) {
  case DT_REG: return std::optional(EntryType::file);
  case DT_DIR: return std::optional(EntryType::directory);
  case DT_LNK: return std::optional(EntryType::symlink);
  case DT_UNKNOWN: return type_by_look(directory, entry.d_name);
  default: return std::optional(EntryType::other);
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
    if (name == "." || name == "..") continue;
    TRY(auto type, type_of(::dirfd(stream.get()), *found), "while listing " + directory);
    if (type) entries.push_back({std::move(name), *type});
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return entries;
}

} // namespace quarry::sys
