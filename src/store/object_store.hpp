#pragma once
// An object store as S3 defines it: keys, bytes, ETags and conditional writes. Backends: memory, file, s3, and http,
// which only reads. All pass object_store_test.cpp. docs/concurrency.md says what is guaranteed and how it is used.
//
// Guarantees: a reader finds no object, the complete old one, or the complete new one. When put() returns, the object
// is on the disk, or the server has confirmed it. If put() fails with outcome_unknown, the write may have happened. A
// store is thread-safe; its threads may wait for the disk or the network.
//
// Errors of all functions:
//   R001 not_found              R002 already_exists (if-absent)      R003 precondition_failed (if-match)
//   R004 outcome_unknown        R005 invalid key                     R006 no backend for the locator
//   R007 larger than max_bytes  R008 not the promised sha256         R009 other bytes are there (put_once.hpp)
//   R030 the store can only be read (invalid_argument)
//   D00x of the machine, H00x of the network, K0xx of an S3 server
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

/// Whether a key may end in one slash. Installers request `…/simple/rocm/`: in S3 that can be the key of an object, on
/// a disk it is a directory.
enum class SlashKeys : std::uint8_t { refused, allowed };

/// Checks a key; fails with invalid_argument (R005). A valid key has components separated by '/', none of them empty,
/// "." or ".."; no control characters; at most 1024 bytes (S3) and 255 per component (Linux). Its first component is
/// not ".quarry": backends keep their own objects there. With SlashKeys::allowed it may end in one slash. Pure.
Result<void> check_key(std::string_view key, SlashKeys slash_keys = SlashKeys::refused);

struct ObjectInfo {
  std::string key;
  std::uint64_t size = 0;
  /// Opaque; changes with the bytes. In the file and memory stores it is the sha256 of the content. head() and list()
  /// of the file store do not read the content, so they leave it empty: take the ETag for if_match() from get() or
  /// put().
  std::string etag;
  std::int64_t modified_us = 0; ///< UTC, when it was last written; 0: unknown
  /// The headers that readers get. Only head() of s3 and http fills them.
  std::string content_type = {}, cache_control = {}, content_encoding = {};
  /// The digest that was promised and checked when the object was written (PutOptions::sha256). Only head() of s3 fills
  /// it.
  std::optional<Sha256> recorded_sha256 = {};
};

/// One level of a listing: what S3 returns for a listing with the delimiter '/'.
struct Children {
  std::vector<ObjectInfo> objects;      ///< keys with the prefix and without a further '/'; sorted bytewise
  std::vector<std::string> directories; ///< keys with the prefix, cut behind the next '/': "42-linux/"; sorted, unique.
                                        ///< In the file store they may be empty.
};

/// A condition that a write has to meet; evaluated atomically with the write if conditional_writes() is true.
/// Exception: an s3 object above 5 GiB, on a server that does not check conditions at the end of an upload
/// (s3/put.hpp).
struct Precondition {
  enum class Kind : std::uint8_t { none, if_absent, if_match } kind = Kind::none;
  std::string etag;
  static Precondition if_absent() { return {Kind::if_absent, {}}; }
  static Precondition if_match(std::string etag) { return {Kind::if_match, std::move(etag)}; }
};

struct PutOptions {
  Precondition precondition;
  std::string content_type, cache_control;
  /// Called with the total of bytes written so far, by one thread at a time, perhaps not the caller's. The total falls
  /// when an attempt is repeated.
  std::function<void(std::uint64_t)> on_progress;
  /// The digest that the content must have. With other bytes put() fails with corrupt (R008), and no object appears.
  std::optional<Sha256> sha256 = {};
};

/// Counts of calls since the store was opened, for `writes` in JSON and for tests: puts and copies that succeeded, and
/// all other calls. A copy may also count as a get and a put. Retries and looks of the store itself are not counted.
struct Counters {
  std::uint64_t puts = 0, gets = 0, heads = 0, lists = 0, removes = 0, copies = 0, bytes_written = 0, bytes_read = 0;
  std::uint64_t ranges = 0; ///< requests for ranges of objects from open(); s3 and http
};

class ObjectStore {
public:
  virtual ~ObjectStore() = default;
  virtual std::string describe() const = 0; ///< "file:/srv/store", for messages
  /// Returns what is known of an object without its bytes; nullopt if it does not exist. A server that hides absent
  /// objects denies access instead (store/denied.hpp). One request, or a stat.
  virtual Result<std::optional<ObjectInfo>> head(const std::string& key) = 0;
  /// Returns the bytes of an object, and its ETag in `etag`; nullopt if it does not exist. Fails with
  /// resource_exhausted (R007) if the object has more than `max_bytes`, and in s3 and http with corrupt (K020) if a
  /// `.json` object begins with '<': a proxy answered. One request; the bytes are in memory.
  virtual Result<std::optional<std::string>> get(const std::string& key, std::uint64_t max_bytes,
                                                 std::string* etag = nullptr) = 0;
  /// Returns the content of an object, which is read when the rope is read: for large objects. The rope may outlive the
  /// store, but not the store's clock. Fails with not_found (R001). Costs a head(); in s3 and http reading then costs
  /// one request per range. Bytes of two versions are never mixed: if the object is replaced meanwhile, reading fails
  /// with corrupt (K022; D008 in the file store, which may also still have the old version open).
  virtual Result<content::Rope> open(const std::string& key) = 0;
  /// Writes an object if the precondition holds, and returns its size and its ETag, which is empty if another writer
  /// has already replaced the object or the server gave none. Fails with outcome_unknown (R004) if the write may have
  /// happened. After any other error nothing has changed: R002, R003 (also for if-match when the object does not
  /// exist), R005, R008. Costs one request, or in s3 above 8 MiB one per part and two more; there the first write with
  /// a condition, of more than 8 MiB or to a key with a slash at its end also costs what conditional_writes() does. For
  /// if-match the file store reads and hashes the old object.
  virtual Result<ObjectInfo> put(const std::string& key, const content::Rope& content, const PutOptions& options) = 0;
  /// Copies an object inside this store, with the precondition and errors of put(); also not_found (R001), and corrupt
  /// (K022) if the source is replaced meanwhile. s3 copies on the server if the server can evaluate the precondition
  /// there and has recorded the digest in `options.sha256`, if that is set; otherwise the bytes pass through this
  /// machine. s3 keeps the source's content type and cache control where `options` has none.
  virtual Result<void> copy(const std::string& from, const std::string& to, const PutOptions& options) = 0;
  /// Copies an object of another store to `to` here, on the server, with the headers that `options` has. Returns true
  /// if it did; false if these two stores cannot do that, in which case nothing was written and the caller must send
  /// the bytes itself. Only s3 can, between stores of one service, if the server evaluates if-absent there; if-match
  /// always gives false. If `options.sha256` is set, only an object with exactly this recorded digest is copied; for
  /// another one it returns false. Costs a head and the copy. Fails with not_found (R001), already_exists (R002),
  /// outcome_unknown (R004) and corrupt (K022), if the source is replaced meanwhile.
  virtual Result<bool> copy_from(ObjectStore& source, const std::string& from, const std::string& to,
                                 const PutOptions& options) {
    static_cast<void>(source), static_cast<void>(from), static_cast<void>(to), static_cast<void>(options);
    return false;
  }
  /// Removes an object. Succeeds if it does not exist. It takes no precondition, so it may remove what another writer
  /// has just written; the caller must look afterwards if that matters. One request.
  virtual Result<void> remove(const std::string& key) = 0;
  /// Returns all objects whose keys begin with `prefix`, sorted bytewise; their ETags may be empty. One request per
  /// 1000 objects. The listing is not a snapshot: objects that are written meanwhile may be included or not.
  virtual Result<std::vector<ObjectInfo>> list(const std::string& prefix) = 0;
  /// Returns one level: the objects and directories whose keys begin with `prefix`. The prefix need not end at a slash:
  /// "42-" finds "42-linux/". One request per 1000 entries of this level, however much lies below; a backend without
  /// support uses list().
  virtual Result<Children> children(const std::string& prefix);
  virtual Counters counters() const = 0;
  /// Whether preconditions are evaluated atomically with the write. If false, the store looks before it writes, which
  /// is safe for one writer and not for several; or it can only be read. Free, except in s3: the first call on each
  /// opened store reads what is known of the server, or probes it with about 20 requests (s3/capabilities.hpp); it
  /// fails with K003 if it may not write these.
  virtual Result<bool> conditional_writes() { return true; }
  /// Whether objects can be written under keys that end in one slash, besides objects below them. If false, writing
  /// one fails with R005, removing one does nothing, and reading one finds nothing, except on a web server. The web
  /// pages of some stores (consoles) write an empty object `a/` to show a directory: list() omits such objects, and
  /// put() refuses to write one (R005). Costs the same as conditional_writes().
  virtual Result<bool> slash_keys() { return false; }
  /// Returns the URL under which a plain client finds `key`, percent-encoded: "file:///srv/store/k". No I/O.
  virtual std::string url(const std::string& key) const = 0;
  /// Removes what killed writers left behind: multipart uploads that were begun before `before_us`, and temporary files
  /// that were last written before it, in microseconds since 1970, UTC, by the clock of the server or disk. A writer
  /// that still works on one of them then fails. Objects of a killed probe (s3/capabilities.hpp) stay. Returns how many
  /// were removed. One listing, and one request for each.
  virtual Result<std::uint64_t> remove_leftovers(std::int64_t before_us) {
    static_cast<void>(before_us);
    return std::uint64_t{0};
  }
};

/// What a store gets from the process; the clock must outlive the store and the ropes from open().
struct Surroundings {
  std::map<std::string, std::string> environment;
  const sys::Clock& clock;
  /// Gets a line for each request and its answer, without secrets; may be empty. Called from the store's threads.
  std::function<void(std::string_view)> trace = {};
};

/// A store in memory, for tests and dry runs: objects of up to 1 GiB (D003). With a clock, which must outlive the
/// store, objects have the time at which they were written.
std::unique_ptr<ObjectStore> make_memory_store(const sys::Clock* clock = nullptr,
                                               SlashKeys slash_keys = SlashKeys::allowed);
/// A store in a directory: objects are plain files below `root`, which the first put creates. A put writes and syncs a
/// temporary file. An if-absent put then link(2)s it to its name. Every other put locks the key, compares the ETag if
/// it has to, and renames the file over the old one. Safe between processes. Fails with invalid_argument (R006) if
/// `root` is not a directory. Its functions:
///   open()    opens the file at the first read; if it was replaced by then, by one of the same size, that one is read
///   remove()  keeps directories that become empty; fails with R004 if the disk does not confirm it: repeat it
///   list()    also children(): R005 if the part of the prefix up to its last '/' is not a valid key; list() D005 above
///             10 million objects
Result<std::unique_ptr<ObjectStore>> open_file_store(const std::string& root);
/// Files on a web server below `url`, which can be read: listing and writing fail with invalid_argument (R030), and
/// remove_leftovers() finds nothing. Fails with H001 (not a URL) and R006 (a URL with a query); plain http to another
/// machine fails with H010 at the first request. open() reads in ranges; if the server ignores them, it fetches the
/// object once, whole, into a temporary file. An object without ETag and Last-Modified is held in memory, up to 16 MiB
/// (H011).
Result<std::unique_ptr<ObjectStore>> open_http_store(const std::string& url, const Surroundings& surroundings);
/// Opens the store of a locator: "file:PATH", "file:///PATH", a bare directory, "s3://bucket/prefix" or
/// "https://host/path". Only file:///PATH is percent-decoded. Fails with R006 for any other scheme, and as the
/// backend's own function does (s3_store.hpp). Sends nothing yet.
Result<std::unique_ptr<ObjectStore>> open_store(const std::string& locator, const Surroundings& surroundings);

} // namespace quarry::store
