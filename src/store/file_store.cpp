#include "store/counting.hpp"
#include "store/object_store.hpp"

#include "base/text.hpp"
#include "content/file_digest.hpp"
#include "sys/entry_types.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/core.h>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

namespace quarry::store {

namespace {

constexpr std::string_view k_private = ".quarry"; // temporaries and locks; check_key keeps objects out of it
constexpr std::size_t k_objects_max = 10'000'000; // of a listing: 2 GB of memory; more is not a store
constexpr std::size_t k_looks_at_once = 1024;     // of one thread; few files are not worth another one
constexpr unsigned k_lookers = 4;                 // a look waits for the disk or a network file system
constexpr std::size_t k_lock_digits = 2; // 256 lock files: few to leave lying about, enough not to queue strangers

std::int64_t modified_us(const struct stat& status) {
  return static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000 + status.st_mtim.tv_nsec / 1000;
}

// A finished, synced file without a public name. It is removed when this value is destroyed, unless it was given a
// name.
struct Temporary {
  std::string path;
  Sha256 sha256;
  std::uint64_t size = 0;
  explicit Temporary(std::string p) : path(std::move(p)) {}
  Temporary(Temporary&& other) noexcept : path(std::exchange(other.path, {})), sha256(other.sha256), size(other.size) {}
  Temporary& operator=(Temporary&&) = delete;
  ~Temporary() {
    if (!path.empty()) ::unlink(path.c_str());
  }
};

class FileStore final : public ObjectStore {
public:
  FileStore(std::string name, std::string root) : name_(std::move(name)), root_(std::move(root)) {}

  std::string describe() const override { return "file:" + name_; }
  std::string url(const std::string& key) const override { return "file://" + text::percent_encode(path_of(key)); }

  Result<std::optional<ObjectInfo>> do_head(const std::string& key) override;
  Result<std::optional<std::string>> do_get(const std::string& key, std::uint64_t max_bytes,
                                            std::string* etag) override;
  Result<content::Rope> do_open(const std::string& key) override;
  Result<std::optional<Sha256>> do_digest(const std::string& key) override;
  Result<ObjectInfo> do_put(const std::string& key, const content::Rope& content, const PutOptions& options) override;
  Result<void> do_copy(const CopyRequest& request) override;
  Result<void> do_remove(const std::string& key) override;
  Result<std::vector<ObjectInfo>> do_list(const std::string& prefix) override;
  Result<std::vector<std::string>> do_keys(const std::string& prefix) override;
  Result<Children> do_children(const std::string& prefix) override;
  Result<std::uint64_t> remove_leftovers(std::int64_t before_us) override;

private:
  std::string path_of(const std::string& key) const { return path::join(root_, key); }
  std::string private_directory(std::string_view name) const { return path::join(path::join(root_, k_private), name); }
  Result<std::optional<struct stat>> look(const std::string& key) const;
  Result<sys::FileLock> lock(const std::string& key) const;
  Result<void> make_directory(const std::string& directory) const;
  Result<Temporary> write_temporary(const std::string& key, const content::Rope& content,
                                    const PutOptions& options) const;
  Result<void> appear_new(Temporary& temporary, const std::string& key) const;
  Result<void> appear_over(Temporary& temporary, const std::string& key, const Precondition& precondition);
  Result<void> sync_parent(const std::string& key) const;
  Result<bool> is_directory_there(const std::string& directory) const;
  Result<std::vector<ObjectInfo>> looked_at(const std::string& directory, const std::vector<std::string>& names) const;
  Result<Children> level(const std::string& directory, const std::string& prefix) const;

  std::string name_, root_;
};

// Only a regular file is an object; a directory of that name counts as absent, and so does "file/", which is ENOTDIR.
Result<std::optional<struct stat>> FileStore::look(const std::string& key) const {
  struct stat status{};
  if (::stat(path_of(key).c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::optional<struct stat>();
    return fail(sys::errno_error(errno, "look at", path_of(key)));
  }
  if (!S_ISREG(status.st_mode)) return std::optional<struct stat>();
  return std::optional(status);
}

Result<std::optional<ObjectInfo>> FileStore::do_head(const std::string& key) {
  TRY(auto status, look(key));
  if (!status) return std::optional<ObjectInfo>();
  return std::optional(ObjectInfo{key, static_cast<std::uint64_t>(status->st_size), {}, modified_us(*status)});
}

Result<std::optional<std::string>> FileStore::do_get(const std::string& key, std::uint64_t max_bytes,
                                                     std::string* etag) {
  TRY(auto status, look(key));
  if (!status) return std::optional<std::string>();
  auto size = static_cast<std::uint64_t>(status->st_size);
  if (size > max_bytes) return too_large(key, size, max_bytes);
  auto bytes = sys::read_file(path_of(key), max_bytes);
  if (!bytes && bytes.error().kind == ErrorKind::not_found)
    return std::optional<std::string>();                               // removed since we looked
  if (!bytes && bytes.error().kind == ErrorKind::resource_exhausted) { // it has grown since we looked
    TRY(status, look(key));
    if (status && static_cast<std::uint64_t>(status->st_size) > max_bytes)
      return too_large(key, static_cast<std::uint64_t>(status->st_size), max_bytes);
  }
  if (!bytes) return fail(std::move(bytes).error());
  if (etag) *etag = sha256(*bytes).hex();
  return std::optional(std::move(*bytes));
}

Result<content::Rope> FileStore::do_open(const std::string& key) {
  TRY(auto status, look(key));
  if (!status) return absent(*this, key);
  auto size = static_cast<std::uint64_t>(status->st_size);
  tally()->bytes_read += size;
  return content::Rope::file(path_of(key), size);
}

Result<std::optional<Sha256>> FileStore::do_digest(const std::string& key) {
  TRY(auto found, content::digest_of_file(path_of(key)), "while reading " + key);
  if (!found) return std::optional<Sha256>();
  tally()->bytes_read += found->size;
  return std::optional(found->sha256);
}

// A new directory is an entry in its parent. If the parent is not synced, a power cut may lose the object's name.
Result<void> FileStore::make_directory(const std::string& directory) const {
  if (sys::is_directory(directory)) return {};
  auto parent = path::dirname(directory);
  if (parent != directory) TRY_DO(make_directory(parent));
  if (::mkdir(directory.c_str(), 0777) != 0 && !(errno == EEXIST && sys::is_directory(directory)))
    return fail(sys::errno_error(errno, "create directory", directory));
  return sys::sync_directory(parent);
}

Result<Temporary> FileStore::write_temporary(const std::string& key, const content::Rope& content,
                                             const PutOptions& options) const {
  auto directory = private_directory("tmp");
  TRY_DO(make_directory(directory));
  Temporary temporary(path::join(directory, fmt::format("{}-{}.partial", ::getpid(), sys::random_hex(8))));
  TRY(auto file, sys::File::create_new(temporary.path, 0666)); // the umask decides who may read it
  Sha256Hasher hasher;
  auto write = [&](std::span<const std::byte> bytes) -> Result<void> {
    TRY_DO(sys::check_interrupted());
    hasher.update(bytes);
    TRY_DO(file.write_at(temporary.size, bytes), "while storing " + key);
    temporary.size += bytes.size();
    if (options.on_progress) options.on_progress(temporary.size);
    return {};
  };
  TRY_DO(content::pump(content, write));
  temporary.sha256 = hasher.finish();
  if (options.sha256 && *options.sha256 != temporary.sha256) return other_bytes(key, *options.sha256, temporary.sha256);
  TRY_DO(file.sync(), "while storing " + key);
  return temporary;
}

// If the sync fails, the name exists, but it may not survive a power cut: the outcome is unknown and the caller must
// look.
Result<void> FileStore::sync_parent(const std::string& key) const {
  auto synced = sys::sync_directory(path::dirname(path_of(key)));
  if (synced) return {};
  return fail(Error::of(ErrorKind::outcome_unknown, "R004",
                        fmt::format("`{}` was changed, but {} did not confirm it", key, describe()))
                  .with_detail(synced.error().message)
                  .with_hint("run the same command again: it looks first"));
}

Result<void> FileStore::appear_new(Temporary& temporary, const std::string& key) const {
  if (::link(temporary.path.c_str(), path_of(key).c_str()) != 0) {
    auto why = errno;
    // Nobody would find an object that took the name, and writers of pages would try again and again.
    if (why == EEXIST && sys::is_directory(path_of(key))) why = EISDIR;
    struct stat link{};
    bool dangling = why == EEXIST && ::lstat(path_of(key).c_str(), &link) == 0 && S_ISLNK(link.st_mode) &&
                    ::access(path_of(key).c_str(), F_OK) != 0;
    if (why == EEXIST && !dangling) return taken(*this, key);
    auto error = sys::errno_error(dangling ? ELOOP : why, "create", path_of(key));
    if (dangling) error.hint = "a symbolic link of that name leads nowhere: remove it";
    return fail(std::move(error));
  }
  ::unlink(temporary.path.c_str());
  temporary.path.clear();
  return sync_parent(key);
}

// Every replacing write holds the key's lock. Otherwise a second writer could rename between the comparison and the
// rename of the first one.
Result<void> FileStore::appear_over(Temporary& temporary, const std::string& key, const Precondition& precondition) {
  TRY(auto held, lock(key));
  if (precondition.kind == Precondition::Kind::if_match) {
    TRY(auto status, look(key));
    if (!status) return moved_on(*this, key);
    TRY(auto current, content::sha256_of_file(path_of(key)));
    if (current.hex() != precondition.etag) return moved_on(*this, key);
  }
  TRY_DO(sys::rename(temporary.path, path_of(key)));
  temporary.path.clear();
  return sync_parent(key);
}

Result<sys::FileLock> FileStore::lock(const std::string& key) const {
  auto directory = private_directory("locks");
  TRY_DO(make_directory(directory));
  return sys::FileLock::acquire(path::join(directory, sha256(key).hex().substr(0, k_lock_digits)));
}

Result<ObjectInfo> FileStore::do_put(const std::string& key, const content::Rope& content, const PutOptions& options) {
  bool if_absent = options.precondition.kind == Precondition::Kind::if_absent;
  if (if_absent) { // saves writing the bytes in vain; link(2) decides in the end
    TRY(auto status, look(key));
    if (status) return taken(*this, key);
  }
  TRY(auto temporary, write_temporary(key, content, options));
  TRY_DO(make_directory(path::dirname(path_of(key))), "while storing " + key);
  ObjectInfo info{key, temporary.size, temporary.sha256.hex(), 0};
  TRY_DO(if_absent ? appear_new(temporary, key) : appear_over(temporary, key, options.precondition));
  return info;
}

Result<void> FileStore::do_copy(const CopyRequest& request) {
  TRY(auto content, open(request.from));
  TRY_DO(put(request.to, content, request.options));
  return {};
}

Result<void> FileStore::do_remove(const std::string& key) {
  TRY(auto status, look(key));
  if (!status) // perhaps since a remove() that the disk did not confirm (R004), which the caller repeats
    return sys::is_directory(path::dirname(path_of(key))) ? sync_parent(key) : Result<void>{};
  TRY(auto held, lock(key));
  TRY_DO(sys::remove_file(path_of(key)));
  return sync_parent(key);
}

// The listing. Other processes add and remove files meanwhile: one that disappears between two calls counts as absent.

/// Whether there is such a directory to list.
Result<bool> FileStore::is_directory_there(const std::string& directory) const {
  if (!directory.empty()) TRY_DO(check_key(directory.substr(0, directory.size() - 1)));
  auto base = path::join(root_, directory);
  struct stat status{};
  if (::stat(base.c_str(), &status) == 0) return S_ISDIR(status.st_mode);
  if (errno == ENOENT || errno == ENOTDIR) return false;
  // A directory that cannot be seen is not an empty one.
  return fail(sys::errno_error(errno, "look at", base).with_context("while listing " + describe()));
}

/// The objects of these names in `directory`, in the same order; a name that is gone by now is left out. Most of the
/// time of a large listing is here, so several threads look.
Result<std::vector<ObjectInfo>> FileStore::looked_at(const std::string& directory,
                                                     const std::vector<std::string>& names) const {
  if (names.empty()) return std::vector<ObjectInfo>();
  auto base = path::join(root_, directory);
  sys::File opened(::open(base.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.is_open())
    return errno == ENOENT ? Result<std::vector<ObjectInfo>>() : fail(sys::errno_error(errno, "list", base));
  std::vector<ObjectInfo> found(names.size());
  auto look_at = [&](std::size_t i) -> Result<void> {
    struct stat status{};
    bool seen = ::fstatat(opened.descriptor(), names[i].c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
    bool gone = !seen && (errno == ENOENT || errno == ESTALE); // on NFS the handle of a removed file is stale
    if (!seen && !gone) return fail(sys::errno_error(errno, "look at", path::join(base, names[i])));
    if (seen && S_ISREG(status.st_mode))
      found[i] = {directory + names[i], static_cast<std::uint64_t>(status.st_size), {}, modified_us(status)};
    return {};
  };
  auto chunks = (names.size() + k_looks_at_once - 1) / k_looks_at_once;
  TRY_DO(parallel_for(chunks, k_lookers, [&](std::size_t chunk) -> Result<void> {
    auto end = std::min(names.size(), (chunk + 1) * k_looks_at_once);
    for (auto i = chunk * k_looks_at_once; i < end; ++i) TRY_DO(look_at(i));
    return {};
  }));
  std::erase_if(found, [](const ObjectInfo& object) { return object.key.empty(); });
  return found;
}

Result<Children> FileStore::level(const std::string& directory, const std::string& prefix) const {
  Children found;
  TRY(bool there, is_directory_there(directory));
  if (!there) return found;
  auto entries = sys::list_entry_types(path::join(root_, directory));
  if (!entries && entries.error().kind == ErrorKind::not_found) return found;
  if (!entries) return fail(std::move(entries).error().with_context("while listing " + describe()));
  std::vector<std::string> files;
  for (auto& entry : *entries) {
    bool file = entry.type == sys::EntryType::file, is_directory = entry.type == sys::EntryType::directory;
    if (!file && !is_directory) continue;
    auto key = directory + entry.name;
    if (!check_key(key)) continue; // also .quarry, whose temporaries come and go
    bool within = key.starts_with(prefix);
    if (is_directory && (within || prefix.starts_with(key + "/"))) found.directories.push_back(key + "/");
    if (file && within) files.push_back(std::move(entry.name));
  }
  TRY(found.objects, looked_at(directory, files), "while listing " + describe());
  return found;
}

std::string directory_of(const std::string& prefix) {
  auto slash = prefix.rfind('/');
  return slash == std::string::npos ? std::string() : prefix.substr(0, slash + 1);
}

Result<std::vector<ObjectInfo>> FileStore::do_list(const std::string& prefix) {
  std::vector<ObjectInfo> found;
  std::vector<std::string> open = {directory_of(prefix)};
  while (!open.empty()) {
    auto directory = std::move(open.back());
    open.pop_back();
    TRY(auto children, level(directory, prefix));
    std::move(children.objects.begin(), children.objects.end(), std::back_inserter(found));
    std::move(children.directories.begin(), children.directories.end(), std::back_inserter(open));
    if (found.size() + open.size() > k_objects_max)
      return fail(ErrorKind::resource_exhausted, "D005",
                  fmt::format("{} holds more than {} objects", describe(), k_objects_max));
  }
  // One directory, which is sorted already, is what has the most objects.
  if (!std::ranges::is_sorted(found, {}, &ObjectInfo::key)) std::ranges::sort(found, {}, &ObjectInfo::key);
  return found;
}

Result<std::vector<std::string>> FileStore::do_keys(const std::string& prefix) {
  std::vector<std::string> found, open = {directory_of(prefix)};
  while (!open.empty()) {
    auto directory = std::move(open.back());
    open.pop_back();
    TRY(bool there, is_directory_there(directory));
    if (!there) continue;
    auto entries = sys::list_entry_types(path::join(root_, directory));
    if (!entries && entries.error().kind == ErrorKind::not_found) continue;
    if (!entries) return fail(std::move(entries).error().with_context("while listing " + describe()));
    for (const auto& entry : *entries) {
      auto key = directory + entry.name;
      bool within = key.starts_with(prefix), leads = within || prefix.starts_with(key + "/");
      bool listed = entry.type == sys::EntryType::file ? within : entry.type == sys::EntryType::directory && leads;
      if (!listed || !check_key(key)) continue;
      if (entry.type == sys::EntryType::file)
        found.push_back(std::move(key));
      else
        open.push_back(key + "/");
    }
    if (found.size() + open.size() > k_objects_max)
      return fail(ErrorKind::resource_exhausted, "D005",
                  fmt::format("{} holds more than {} objects", describe(), k_objects_max));
  }
  if (!std::ranges::is_sorted(found)) std::ranges::sort(found);
  return found;
}

Result<Children> FileStore::do_children(const std::string& prefix) {
  TRY(auto found, level(directory_of(prefix), prefix));
  std::erase_if(found.directories, [&](const std::string& directory) { return !directory.starts_with(prefix); });
  std::sort(found.directories.begin(), found.directories.end());
  return found;
}

Result<std::uint64_t> FileStore::remove_leftovers(std::int64_t before_us) {
  auto directory = private_directory("tmp");
  if (!sys::is_directory(directory)) return std::uint64_t{0};
  TRY(auto entries, sys::list_directory(directory));
  std::uint64_t removed = 0;
  for (const auto& entry : entries) {
    auto path = path::join(directory, entry.path);
    if (entry.type != sys::EntryType::file || entry.modified_ns / 1000 >= before_us) continue;
    TRY_DO(sys::remove_file(path));
    ++removed;
  }
  return removed;
}

} // namespace

Result<std::unique_ptr<ObjectStore>> open_file_store(const std::string& root) {
  TRY(auto absolute, sys::absolute(root));
  if (sys::exists(absolute) && !sys::is_directory(absolute))
    return fail(
        ErrorKind::invalid_argument, "R006", fmt::format("{} is not a directory, so it cannot be a store", root),
        "name a directory: `--store file:PATH`; `quarry config show --origin` says where the setting comes from");
  return std::unique_ptr<ObjectStore>(std::make_unique<FileStore>(root, absolute));
}

} // namespace quarry::store
