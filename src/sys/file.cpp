#include "sys/file.hpp"

#include "sys/identity.hpp"
#include "sys/path.hpp"
#include "sys/stream.hpp"
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace quarry::sys {

static Error error_on(int descriptor, std::string_view action, int number = errno) { // the kernel knows its path
  return errno_error(number, action, read_link(fmt::format("/proc/self/fd/{}", descriptor)).value_or("an open file"));
}

File::File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
File& File::operator=(File&& other) noexcept {
  if (this != &other) {
    close();
    descriptor_ = std::exchange(other.descriptor_, -1);
  }
  return *this;
}
File::~File() { close(); }
void File::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

namespace {
Result<File> open_file(const std::string& path, int flags, unsigned mode, std::string_view action) {
  int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  if (descriptor < 0) return fail(errno_error(errno, action, path));
  return File(descriptor);
}
} // namespace

namespace {
Unexpected refuse_special(const std::string& path) {
  return fail(ErrorKind::invalid_argument, "D009",
              fmt::format("{} is a pipe or socket, and files are read at any place", path),
              "write what comes from it into a file, and name that");
}
} // namespace

Result<File> File::open_read(const std::string& path) {
  // O_NONBLOCK: opening a FIFO that nobody writes would wait for ever. It means nothing to files.
  auto file = open_file(path, O_RDONLY | O_NONBLOCK, 0, "open");
  if (!file && file.error().kind == ErrorKind::permission_denied)
    file.error().hint = "let this user read it, or name another file";
  struct stat status{};
  if (!file) { // a socket cannot be opened at all
    bool socket = ::stat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode);
    return socket ? refuse_special(path) : std::move(file);
  }
  if (::fstat(file->descriptor(), &status) != 0) return refuse_special(path);
  if (S_ISDIR(status.st_mode)) return fail(errno_error(EISDIR, "read", path));
  if (S_ISREG(status.st_mode) || S_ISCHR(status.st_mode)) return file; // a device: /dev/null reads as empty
  return refuse_special(path);
}
Result<File> File::create(const std::string& path, unsigned mode) {
  return open_file(path, O_RDWR | O_CREAT | O_TRUNC, mode, "create");
}
Result<File> File::create_new(const std::string& path, unsigned mode) {
  return open_file(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode, "create");
}
Result<File> File::create_unnamed(const std::string& directory) {
  auto file = open_file(directory, O_RDWR | O_TMPFILE, 0600, "create a temporary file in");
  // Some network file systems do not know O_TMPFILE: EOPNOTSUPP, or EISDIR from old kernels.
  if (file || (errno != EOPNOTSUPP && errno != EISDIR)) return file;
  auto path = directory + "/.quarry-XXXXXX";
  int descriptor = ::mkostemp(path.data(), O_CLOEXEC);
  if (descriptor < 0) return fail(errno_error(errno, "create a temporary file in", directory));
  ::unlink(path.c_str());
  return File(descriptor);
}
Result<File> File::open_append(const std::string& path) {
  return open_file(path, O_WRONLY | O_CREAT | O_APPEND, 0644, "append to");
}

Result<std::uint64_t> File::size() const {
  struct stat status{};
  if (::fstat(descriptor_, &status) != 0) return fail(error_on(descriptor_, "look at"));
  return static_cast<std::uint64_t>(status.st_size);
}

Result<std::size_t> File::read_at(std::uint64_t offset, std::span<std::byte> into) const {
  std::size_t done = 0;
  while (done < into.size()) {
    auto n = ::pread(descriptor_, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(error_on(descriptor_, "read"));
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

void File::prefetch(std::uint64_t offset, std::uint64_t bytes) const {
  if (bytes == 0) return; // which would mean: to the end
  // Not every file system listens; reading works all the same.
  static_cast<void>(
      ::posix_fadvise(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(bytes), POSIX_FADV_WILLNEED));
}

void File::begin_sync(std::uint64_t offset, std::uint64_t bytes) const {
  // Not every file system can; sync() does all the same.
  static_cast<void>(
      ::sync_file_range(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(bytes), SYNC_FILE_RANGE_WRITE));
}

Result<void> File::write_at(std::uint64_t offset, std::span<const std::byte> bytes) const {
  for (std::size_t done = 0; done < bytes.size();) {
    auto n = ::pwrite(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(error_on(descriptor_, "write"));
    done += static_cast<std::size_t>(n);
  }
  return {};
}

Result<void> File::write(std::string_view bytes) const {
  for (std::size_t done = 0; done < bytes.size();) {
    auto n = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(error_on(descriptor_, "write"));
    done += static_cast<std::size_t>(n);
  }
  return {};
}

Result<void> File::truncate(std::uint64_t size) const {
  if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) return fail(error_on(descriptor_, "set the size of"));
  return {};
}

Result<unsigned> File::mode() const {
  struct stat status{};
  if (::fstat(descriptor_, &status) != 0) return fail(error_on(descriptor_, "look at"));
  return static_cast<unsigned>(status.st_mode & 07777);
}

Result<void> File::set_mode(unsigned mode) const {
  if (::fchmod(descriptor_, mode) != 0) return fail(error_on(descriptor_, "set the mode of"));
  return {};
}

Result<void> File::sync() const {
  if (::fsync(descriptor_) != 0) return fail(error_on(descriptor_, "sync"));
  return {};
}

Result<std::string> read_file(const std::string& path, std::uint64_t max_bytes) {
  TRY(auto file, File::open_read(path));
  TRY(auto size, file.size());
  if (size > max_bytes)
    return fail(ErrorKind::resource_exhausted, "D003",
                fmt::format("{} is {} bytes, more than the {} that are read at once", path, size, max_bytes));
  std::string content;
  // Files below /proc say size 0, so read until the end and not until the size.
  for (std::size_t step = size ? size + 1 : 4096;; step = 65536) {
    auto at = content.size();
    content.resize(at + step);
    TRY(auto n, file.read_at(at, std::as_writable_bytes(std::span(content)).subspan(at)), "while reading " + path);
    content.resize(at + n);
    if (n < step) return content;
    if (content.size() > max_bytes)
      return fail(ErrorKind::resource_exhausted, "D003", fmt::format("{} is larger than {} bytes", path, max_bytes));
  }
}

namespace {
/// What is written in place: a rename would make a file of a device or a pipe, also of /dev/null for all programs.
bool is_written_in_place(const std::string& path) {
  for (std::string_view place : {"/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/fd/"})
    if (path.starts_with(place)) return true;
  return path != "-" && is_stream(path);
}
} // namespace

Result<void> write_file(const std::string& path, std::string_view content, unsigned mode) {
  if (is_written_in_place(path)) {
    // Opened anew, a file behind /dev/stdout would be written from its first byte, over what is there.
    int own = path == "/dev/stdout" ? STDOUT_FILENO : path == "/dev/stderr" ? STDERR_FILENO : -1;
    auto stream = own < 0 ? open_file(path, O_WRONLY | O_APPEND, 0, "open")
                          : Result<File>(File(::fcntl(own, F_DUPFD_CLOEXEC, 0)));
    if (!stream) return fail(std::move(stream).error());
    return stream->write(content);
  }
  TRY(auto file, AtomicFile::create(path, mode));
  TRY_DO(file.file().write(content), "while writing " + path);
  return file.commit_replace();
}

namespace {
/// Who writes a temporary holds a lock on it, so one that nobody holds was left by a process that was killed.
void remove_if_left(const std::string& temporary) {
  auto file = open_file(temporary, O_RDWR | O_NOFOLLOW, 0, "open");
  if (file && ::flock(file->descriptor(), LOCK_EX | LOCK_NB) == 0 && is_named(*file, temporary))
    ::unlink(temporary.c_str());
}
} // namespace

Result<AtomicFile> AtomicFile::create(const std::string& path, unsigned mode) {
  // The first name is always the same, so that a leftover is found and replaced; the others, with a pid and a counter,
  // are for several writers of one file.
  static std::atomic<unsigned> counter{0};
  if (is_written_in_place(path))
    return fail(ErrorKind::invalid_argument, "D002", path + " is a device or pipe, and this is written as a file",
                "name a file");
  auto start = path::join(path::dirname(path), "." + std::string(path::basename(path).substr(0, 200)));
  for (int attempt = 0; attempt < 100; ++attempt) {
    auto temporary = attempt == 0 ? start + ".partial" : fmt::format("{}.{}.{}.partial", start, ::getpid(), counter++);
    if (attempt == 0) remove_if_left(temporary);
    auto file = File::create_new(temporary, mode);
    if (!file && file.error().kind != ErrorKind::already_exists) return fail(std::move(file).error());
    if (!file) continue;
    // Not every network file system has locks; there nobody can take it for a leftover either.
    bool taken = ::flock(file->descriptor(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!taken && is_named(*file, temporary)) return AtomicFile(std::move(*file), temporary, path);
  }
  return fail(ErrorKind::already_exists, "D002", fmt::format("cannot find a free temporary name next to {}", path));
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : file_(std::move(other.file_)), temporary_(std::exchange(other.temporary_, {})), path_(std::move(other.path_)) {}
AtomicFile::~AtomicFile() {
  if (!temporary_.empty() && is_named(file_, temporary_)) ::unlink(temporary_.c_str());
}

// Locks of some network file systems hold on one machine only: another may have taken the temporary for a leftover.
Result<void> AtomicFile::check_still_ours() {
  if (is_named(file_, temporary_)) return {};
  temporary_.clear();
  return fail(ErrorKind::outcome_unknown, "D002", fmt::format("another machine writes {} at the same time", path_),
              "run the same command again when it is done");
}

Result<void> AtomicFile::commit_replace() {
  TRY_DO(check_still_ours());
  TRY_DO(file_.sync(), "while writing " + path_);
  TRY_DO(sys::rename(temporary_, path_));
  temporary_.clear();
  return sync_directory(path::dirname(path_));
}

Result<void> AtomicFile::commit_new() {
  TRY_DO(check_still_ours());
  TRY_DO(file_.sync(), "while writing " + path_);
  if (::link(temporary_.c_str(), path_.c_str()) != 0) return fail(errno_error(errno, "create", path_));
  ::unlink(temporary_.c_str());
  temporary_.clear();
  return sync_directory(path::dirname(path_));
}

Result<void> sync_directory(const std::string& path) {
  TRY(auto directory, open_file(path, O_RDONLY | O_DIRECTORY, 0, "open"));
  return directory.sync();
}

Result<void> make_directories(const std::string& path, unsigned mode) {
  if (path.empty() || is_directory(path)) return {};
  auto parent = path::dirname(path);
  if (parent != path) TRY_DO(make_directories(parent, mode));
  if (::mkdir(path.c_str(), mode) != 0 && !(errno == EEXIST && is_directory(path)))
    return fail(errno_error(errno, "create directory", path));
  return {};
}

Result<void> remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return fail(errno_error(errno, "remove", path));
  return {};
}

namespace {
// Works on descriptors, so that a directory swapped for a link while we run is never followed.
int remove_below(int parent, const char* name) {
  if (::unlinkat(parent, name, 0) == 0 || errno == ENOENT) return 0;
  if (errno != EISDIR && errno != EPERM) return errno;
  int descriptor = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return errno;
  DIR* stream = ::fdopendir(descriptor);
  if (!stream) {
    int error = errno;
    ::close(descriptor);
    return error;
  }
  int error = 0;
  while (dirent* entry = ::readdir(stream)) {
    if (std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0) continue;
    if (int e = remove_below(descriptor, entry->d_name); e && !error) error = e;
  }
  ::closedir(stream);
  if (error) return error;
  return ::unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT ? 0 : errno;
}
} // namespace

Result<void> remove_tree(const std::string& path) {
  if (int error = remove_below(AT_FDCWD, path.c_str())) return fail(errno_error(error, "remove", path));
  return {};
}

Result<void> rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return fail(errno_error(errno, "rename to", to));
  return {};
}

Result<void> remove_empty_directory(const std::string& path) {
  if (::rmdir(path.c_str()) != 0 && errno != ENOENT) return fail(errno_error(errno, "remove", path));
  return {};
}

Result<void> hard_link(const std::string& existing, const std::string& path) {
  if (::link(existing.c_str(), path.c_str()) == 0) return {};
  if (errno == EXDEV || errno == EPERM || errno == EMLINK || errno == ENOTSUP)
    return fail(ErrorKind::unsupported, "D002",
                fmt::format("cannot link {} to {}: {}", existing, path, std::strerror(errno)));
  return fail(errno_error(errno, "create", path));
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }
bool is_directory(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

Result<std::string> read_link(const std::string& path) {
  char buffer[PATH_MAX];
  auto n = ::readlink(path.c_str(), buffer, sizeof buffer);
  if (n < 0) return fail(errno_error(errno, "read the link", path));
  return std::string(buffer, static_cast<std::size_t>(n));
}

Result<std::string> absolute(const std::string& path) {
  if (path::is_absolute(path)) return path::normal(path);
  char buffer[PATH_MAX];
  if (!::getcwd(buffer, sizeof buffer)) return fail(errno_error(errno, "find", "the working directory"));
  return path::normal(path::join(buffer, path));
}

Result<std::string> real_path(const std::string& path) {
  char buffer[PATH_MAX];
  if (!::realpath(path.c_str(), buffer)) return fail(errno_error(errno, "find", path));
  return std::string(buffer);
}

std::string without_links(std::string path) {
  std::string missing;
  while (!exists(path) && path.find('/') != path.npos) {
    missing = path.substr(path.rfind('/')) + missing;
    path.resize(path.rfind('/'));
  }
  auto real = real_path(path.empty() ? "/" : path).value_or(path);
  return (real == "/" ? "" : real) + missing;
}

Result<std::string> make_temporary_directory(const std::string& below, std::string_view prefix) {
  std::string name = path::join(below, std::string(prefix) + "XXXXXX");
  if (!::mkdtemp(name.data())) return fail(errno_error(errno, "create a directory in", below));
  return name;
}

Result<FileLock> FileLock::acquire(const std::string& path) {
  TRY(auto file, open_file(path, O_RDWR | O_CREAT, 0666, "lock"));
  while (::flock(file.descriptor(), LOCK_EX) != 0)
    if (errno != EINTR) return fail(errno_error(errno, "lock", path));
  return FileLock(std::move(file));
}

Result<std::optional<FileLock>> FileLock::try_acquire(const std::string& path) {
  TRY(auto file, open_file(path, O_RDWR | O_CREAT, 0666, "lock"));
  while (::flock(file.descriptor(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return std::optional<FileLock>();
    if (errno != EINTR) return fail(errno_error(errno, "lock", path));
  }
  return std::optional(FileLock(std::move(file)));
}

} // namespace quarry::sys
