#pragma once
// Which file a descriptor has, and in which state: two equal values mean that nobody wrote to it in between.
#include "base/result.hpp"
#include "sys/file.hpp"
#include <cstdint>
#include <optional>
#include <string>

namespace quarry::sys {

struct FileIdentity {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t modified_ns =
      0; ///< the kernel's clock moves in steps of a few milliseconds: a change within one is missed
  bool operator==(const FileIdentity&) const = default;
};

/// One fstat(2). D001.
Result<FileIdentity> identity_of(const File& file);

struct RegularFile {
  File file;
  FileIdentity identity;
};

/// Opens a regular file to read it; nullopt if `path` does not exist or leads to something else, such as a directory or
/// a pipe. One open(2) and one fstat(2). Fails with D001 or D004.
Result<std::optional<RegularFile>> open_regular(const std::string& path);

/// Whether `path` still names the open `file`. Between opening and locking a file its owner may have renamed or removed
/// it. One fstat(2) and one lstat(2).
bool is_named(const File& file, const std::string& path);

} // namespace quarry::sys
