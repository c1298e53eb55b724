#pragma once
// Objects in a bucket, as S3 sees them. Backends: memory, file, s3, http (read-only). All pass object_store_test.cpp.
// Thread-safe. Errors: not_found R001, already_exists R002 (if-absent), precondition_failed R003 (if-match),
// outcome_unknown R004, bad key R005, no backend R006, larger than asked R007, not the promised bytes R008, read-only
// R030; D00x from the machine, H00x from the network, K0xx from an S3 server.
#include "base/result.hpp"
#include "content/rope.hpp"
#include "sys/clock.hpp"
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::store {

/// Whether a key may end in one slash. Installers ask for `…/simple/rocm/`: on S3 that is the key of an object, on a
/// disk the name of a directory.
enum class SlashKeys : std::uint8_t { refused, allowed };

/// A key: '/'-separated, no empty, "." or ".." component, no control characters, at most 1024 bytes (S3), 255 per
/// component (Linux); the first component is not ".quarry", where the file store keeps its own things. With
/// SlashKeys::allowed one slash may follow. invalid_argument R005.
Result<void> check_key(std::string_view key, SlashKeys slash_keys = SlashKeys::refused);

struct ObjectInfo {
  std::string key;
  std::uint64_t size = 0;
  /// Opaque; in the file store the sha256 of the content, which head() of that store does not read: empty from it.
  std::string etag;
  std::int64_t modified_us = 0; ///< UTC, when it was last written; 0: unknown
  /// What readers get as headers; from head() of s3 and http only.
  std::string content_type = {}, cache_control = {}, content_encoding = {};
  /// What was promised, and checked, when it was written (PutOptions::sha256); from head() of s3 only.
  std::optional<Sha256> recorded_sha256 = {};
};

/// One level of a listing: what S3 answers to a listing with the delimiter '/'.
struct Children {
  std::vector<ObjectInfo> objects;      ///< keys with the prefix and without a further '/'; sorted bytewise
  std::vector<std::string> directories; ///< keys with the prefix, cut behind the next '/': "42-linux/"; sorted, unique
};

struct Precondition {
  enum class Kind : std::uint8_t { none, if_absent, if_match } kind = Kind::none;
  std::string etag;
  static Precondition if_absent() { return {Kind::if_absent, {}}; }
  static Precondition if_match(std::string etag) { return {Kind::if_match, std::move(etag)}; }
};

struct PutOptions {
  Precondition precondition;
  std::string content_type, cache_control;
  /// Called with bytes written so far.
  std::function<void(std::uint64_t)> on_progress;
  /// What was checked is what is stored: other bytes are corrupt R008, and no name appears.
  std::optional<Sha256> sha256 = {};
};

struct Counters { ///< what a command did to the store, for `writes` in JSON and for tests
  std::uint64_t puts = 0, gets = 0, heads = 0, lists = 0, removes = 0, copies = 0, bytes_written = 0, bytes_read = 0;
  std::uint64_t ranges = 0; ///< parts of objects that open() gave, each a request of its own; s3 and http
};

class ObjectStore {
public:
  virtual ~ObjectStore() = default;
  virtual std::string describe() const = 0;                                   ///< "file:/srv/store", for messages
  virtual Result<std::optional<ObjectInfo>> head(const std::string& key) = 0; ///< nullopt: it is not there
  virtual Result<std::optional<std::string>> get(const std::string& key, std::uint64_t max_bytes,
                                                 std::string* etag = nullptr) = 0;
  virtual Result<content::Rope> open(const std::string& key) = 0; ///< large objects; not_found R001
  virtual Result<ObjectInfo> put(const std::string& key, const content::Rope& content, const PutOptions& options) = 0;
  virtual Result<void> copy(const std::string& from, const std::string& to,
                            const PutOptions& options) = 0; ///< no bytes through us where the backend can
  /// An object of another store, under `to` here: true, and no bytes through us; false: these two stores cannot, and
  /// nothing was done. With `options.sha256` only what is recorded to have it. not_found R001, already_exists R002.
  virtual Result<bool> copy_from(ObjectStore& source, const std::string& from, const std::string& to,
                                 const PutOptions& options) {
    static_cast<void>(source), static_cast<void>(from), static_cast<void>(to), static_cast<void>(options);
    return false;
  }
  virtual Result<void> remove(const std::string& key) = 0;                     ///< absent is success
  virtual Result<std::vector<ObjectInfo>> list(const std::string& prefix) = 0; ///< sorted bytewise; etag may be empty
  /// The objects and directories whose keys begin with `prefix`, which may end inside a name ("42-"). Costs one request
  /// per 1000 entries of this level, whatever lies below it; without support of the backend, list().
  virtual Result<Children> children(const std::string& prefix);
  virtual Counters counters() const = 0;
  /// Whether if_absent and if_match hold against rivals. Where not, they are looked up before the write: right for one
  /// writer, not for several.
  virtual Result<bool> conditional_writes() { return true; }
  /// Whether objects can be written under keys that end in one slash, beside objects below them. Where not, writing one
  /// is R005, and reading one finds nothing. Such an object is never empty: consoles write empty ones to show a
  /// directory, so list() omits those and put() refuses them (R005). Costs what conditional_writes() costs: s3 asks the
  /// server once.
  virtual Result<bool> slash_keys() { return false; }
  /// The URL under which a plain client finds `key`: "file:///srv/store/k" (percent-encoded).
  virtual std::string url(const std::string& key) const = 0;
  /// Removes what killed writers left behind (unfinished temporaries) and that was last touched before `older_than_us`;
  /// how many.
  virtual Result<std::uint64_t> remove_leftovers(std::int64_t older_than_us) {
    static_cast<void>(older_than_us);
    return std::uint64_t{0};
  }
};

/// What a store takes from its surroundings; the clock must outlive it.
struct Surroundings {
  std::map<std::string, std::string> environment;
  const sys::Clock& clock;
  std::function<void(std::string_view)> trace = {}; ///< gets a line for each request and its answer; may be empty
};

/// With a clock, objects carry the time they were written.
std::unique_ptr<ObjectStore> make_memory_store(const sys::Clock* clock = nullptr,
                                               SlashKeys slash_keys = SlashKeys::allowed);
/// Objects are plain files below `root` (created by the first put): put if-absent = link(2) of a finished, synced
/// temporary; if-match = lock file, compare, rename. When put returns, content and name are on the disk.
Result<std::unique_ptr<ObjectStore>> open_file_store(const std::string& root);
/// Plain files on a web server below `url` (https, or http to this machine): reads, with ranges; no listing, no writes
/// (unsupported R030).
Result<std::unique_ptr<ObjectStore>> open_http_store(const std::string& url, const Surroundings& surroundings);
/// "file:PATH", "file:///PATH", a bare directory, "s3://bucket/prefix", "https://host/path"; unsupported R006 for
/// schemes that this build has no backend for.
Result<std::unique_ptr<ObjectStore>> open_store(const std::string& locator, const Surroundings& surroundings);

} // namespace quarry::store
