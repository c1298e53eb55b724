#pragma once
// Files: a descriptor with positioned reads and writes, and writing that is never half-visible.
// Errors: D001 cannot open or read, D002 cannot write, D003 disk full, D004 permission. Thread-safe where const.
#include "base/result.hpp"
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace quarry::sys {

/// An Error for errno, its kind chosen by what the caller can do (ENOENT not_found, ENOSPC and EDQUOT
/// resource_exhausted, EACCES, EPERM and EROFS permission_denied, …).
Error errno_error(int error_number, std::string_view action, std::string_view path);

class File {
public:
  File() = default;
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  static Result<File> open_read(const std::string& path);
  static Result<File> create(const std::string& path, unsigned mode = 0644);     ///< truncates
  static Result<File> create_new(const std::string& path, unsigned mode = 0644); ///< already_exists when it is there
  /// A file of its own that no name leads to; it is gone when it is closed.
  static Result<File> create_unnamed(const std::string& directory);
  static Result<File> open_append(const std::string& path);

  int descriptor() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }
  Result<std::uint64_t> size() const;
  /// Reads up to the span's size; fewer bytes only at the end of the file.
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) const;
  /// A hint: these bytes are read soon. The kernel fetches many such places side by side.
  void prefetch(std::uint64_t offset, std::uint64_t bytes) const;
  Result<void> write_at(std::uint64_t offset, std::span<const std::byte> bytes) const;
  /// A hint: these bytes, written before, will not change. The disk begins with them, so that sync() waits less.
  void begin_sync(std::uint64_t offset, std::uint64_t bytes) const;
  Result<void> write(std::string_view bytes) const; ///< at the descriptor's own position
  Result<void> truncate(std::uint64_t size) const;
  Result<unsigned> mode() const;              ///< permission bits
  Result<void> set_mode(unsigned mode) const; ///< exactly these bits, whatever the umask
  Result<void> sync() const;
  void close();

private:
  int descriptor_ = -1;
};

Result<std::string> read_file(const std::string& path, std::uint64_t max_bytes = 1u << 30);
/// Content first, then the name: writes a temporary beside `path`, syncs it, renames it, syncs the directory. Replaces
/// a file; writes into a device or pipe, such as /dev/stdout.
Result<void> write_file(const std::string& path, std::string_view content, unsigned mode = 0644);

/// A file that appears complete or not at all. Destroyed without commit, nothing stays; what a killed process left
/// beside `path` (`.NAME.partial`) is removed by the next one that writes it. invalid_argument D002: a device or pipe.
class AtomicFile {
public:
  static Result<AtomicFile> create(const std::string& path, unsigned mode = 0644);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();
  File& file() { return file_; }
  Result<void> commit_replace(); ///< rename(2): an existing file is replaced
  Result<void> commit_new();     ///< link(2): already_exists when the name is taken
private:
  Result<void> check_still_ours();
  AtomicFile(File file, std::string temporary, std::string path)
      : file_(std::move(file)), temporary_(std::move(temporary)), path_(std::move(path)) {}
  File file_;
  std::string temporary_, path_;
};

Result<void> sync_directory(const std::string& path);
Result<void> make_directories(const std::string& path, unsigned mode = 0755);
Result<void> remove_file(const std::string& path); ///< absent is success
Result<void> remove_tree(const std::string& path); ///< absent is success; never follows links
Result<void> rename(const std::string& from, const std::string& to);
Result<void> remove_empty_directory(const std::string& path); ///< absent is success; D002 when something is in it
/// link(2): already_exists when `path` is taken; unsupported D002 between file systems or where links are not allowed.
Result<void> hard_link(const std::string& existing, const std::string& path);
bool exists(const std::string& path); ///< a dangling link does not exist
bool is_directory(const std::string& path);
Result<std::string> read_link(const std::string& path);
Result<std::string> absolute(const std::string& path); ///< lexical, from the working directory
Result<std::string> real_path(const std::string& path);
/// An absolute path without links, as far as it exists; "" for the root.
std::string without_links(std::string path);
Result<std::string> make_temporary_directory(const std::string& below, std::string_view prefix);

/// An exclusive lock (flock(2)) on `path`, created if needed; released when destroyed or the process ends.
class FileLock {
public:
  static Result<FileLock> acquire(const std::string& path);
  static Result<std::optional<FileLock>> try_acquire(const std::string& path); ///< nullopt: somebody else has it

private:
  explicit FileLock(File file) : file_(std::move(file)) {}
  File file_;
};

} // namespace quarry::sys
