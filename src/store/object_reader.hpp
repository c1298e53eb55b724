#pragma once
// Reading an object store: looking at objects, reading them, listing them. Functions that only read take an
// ObjectReader; object_store.hpp has the rest of the store, and the errors of all its functions.
//
// Each function says what it costs: requests to a server, bytes that are read, or system calls in the file store. The
// store in memory costs none of these, only copying. Checking a key costs nothing; an invalid one fails with R005
// before anything is sent.
#include "base/result.hpp"
#include "content/rope.hpp"
#include <cstdint>
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
/// "." or ".."; no control characters; at most 1024 bytes and 255 per component (Linux). S3 has the same limit of 1024
/// for the store's prefix and the key together, which only the server checks (K005). Its first component is not
/// ".quarry": backends keep their own objects there. With SlashKeys::allowed it may end in one slash. Pure.
Result<void> check_key(std::string_view key, SlashKeys slash_keys = SlashKeys::refused);

struct ObjectInfo {
  std::string key;
  std::uint64_t size = 0;
  /// Opaque; changes with the bytes. In the file and memory stores it is the content's sha256 in hex. head(), list()
  /// and children() of the file store do not read the content, so they leave it empty: take the ETag for if_match()
  /// from get() or put().
  std::string etag;
  std::int64_t modified_us = 0; ///< UTC, when it was last written; 0: unknown
  /// The headers that readers get. Only head() of s3 and http fills them.
  std::string content_type = {}, cache_control = {}, content_encoding = {};
  /// The digest that the writer recorded. It proves nothing, since another tool may record anything. put() records
  /// PutOptions::sha256 after it has compared the bytes. Copies on the server do not read the bytes: copy() records the
  /// digest of the source; copy_from() records PutOptions::sha256, compared with the bytes only if hash_source is set.
  /// Only head() of s3 fills it.
  std::optional<Sha256> recorded_sha256 = {};
};

/// One level of a listing: what S3 returns for a listing with the delimiter '/'.
struct Children {
  std::vector<ObjectInfo> objects; ///< keys with the prefix and without a further '/'; sorted bytewise
  /// Keys with the prefix, cut after the next '/': "42-linux/"; sorted, unique. list() of such a directory may return
  /// nothing: it may have only objects that list() omits, and in the file store it may be empty.
  std::vector<std::string> directories;
};

/// Counts of calls since the store was opened, for `writes` in JSON and for tests:
///   - put(): one put, if it succeeds;
///   - copy(): one copy and one put, if it succeeds; the file and memory stores count one get as well, even if it
///     fails;
///   - copy_from(): one copy and one put, if it returns true;
///   - get(), open(), digest(), root_page(): one get, even if it fails; open() and digest() of an http object without
///     ETag and Last-Modified count two, because open() reads the object at once. digest() counts bytes as open() and
///     its rope do; in the file store, only once it has read them all;
///   - head(): one head; remove(): one remove; list(), keys(), children(): one list; even if it fails.
/// A call with an invalid key counts nothing. (The prefix of a listing is not a key.) Requests that the store sends by
/// itself do not count, such as retries and HEADs that look at an object. In the file and memory stores open() counts
/// the whole object as read, s3 and http count what the rope fetches.
struct Counters {
  std::uint64_t puts = 0, gets = 0, heads = 0, lists = 0, removes = 0, copies = 0, bytes_written = 0, bytes_read = 0;
  /// Requests of ropes from open(), without retries: one per range; in http also one each time that a rope asks for the
  /// rest of a range or for a whole object.
  std::uint64_t ranges = 0;
};

struct AtomicCounters; // counting.hpp

/// What can be read of a store. The public functions check keys and count calls, once for all backends; a backend
/// implements the private `do_` functions. The prefix of a listing is not checked here. Thread-safe; the functions may
/// wait for the disk or the network. Destroy a store only after all its calls have returned; ropes from open() may
/// outlive it.
class ObjectReader {
public:
  ObjectReader();
  ObjectReader(const ObjectReader&) = delete;
  ObjectReader& operator=(const ObjectReader&) = delete;
  virtual ~ObjectReader();

  virtual std::string describe() const = 0; ///< "file:/srv/store", for messages; no I/O
  /// Returns the URL under which a plain client finds `key`, percent-encoded: "file:///srv/store/k". No I/O.
  virtual std::string url(const std::string& key) const = 0;
  virtual Counters counters() const; ///< no I/O

  /// Returns what is known of an object without its bytes; nullopt if it does not exist. In s3 an object of a bucket
  /// that does not exist counts as absent, also for open(); get() and list() fail with K002. If a server hides absent
  /// objects, head(), get() and open() of an absent object fail with an error for which is_denied() (store/denied.hpp)
  /// is true. Fails with K020 if an S3 server does not say the size. Costs one HEAD request and no bytes. In s3 a HEAD
  /// that is refused may cost one more request, a GET of one byte, and may be sent again (Bucket::call()). In the file
  /// store it costs one stat, whatever the size of the file. The file is not read, so its ETag and digest stay unknown.
  Result<std::optional<ObjectInfo>> head(const std::string& key);
  /// Returns the bytes of an object, and its ETag in `etag` on success; nullopt if it does not exist. Fails with
  /// resource_exhausted (R007) if the object has more than `max_bytes`, and in s3 and http with corrupt (K020) if a
  /// `.json` object begins with '<', after white space: a proxy answered. A GET that ends early is repeated in s3. In
  /// http it is repeated only if no byte of the object has come; after that it fails with H005, or with H004 if no byte
  /// came for a minute (or QUARRY_STALL_SECONDS, if shorter), and the caller may repeat it. Costs one GET request and
  /// all bytes, which are then in memory; a larger object costs the first piece of its bytes. In the file store it
  /// costs one stat and reading the file, which is also hashed if `etag` is given.
  Result<std::optional<std::string>> get(const std::string& key, std::uint64_t max_bytes, std::string* etag = nullptr);
  /// Returns the page that a web server shows at the store's root, such as its listing of a directory; nullopt if it
  /// has none, and in every other backend. (Below the root such a page has a key that ends with a slash.) Fails and
  /// costs as get() does.
  Result<std::optional<std::string>> root_page(std::uint64_t max_bytes);
  /// Returns the content of an object, which is read when the rope is read: for large objects. The rope may outlive the
  /// store, but not the store's clock. Fails with not_found (R001). Costs what head() costs; but an http object without
  /// ETag and Last-Modified is read whole at once and stays in memory (open_http_store()). Reading the rope:
  ///   - costs one request per range in s3 and http. A range has as many bytes as the read asks for, but not less than
  ///     a smallest size and not more than 2 MiB. A longer read takes several ranges. Only the last range of an object
  ///     may be smaller. The smallest size is 64 KiB at first. It grows to 2 MiB while ranges follow each other in
  ///     order, within one read or over several. Then further ranges of 2 MiB are fetched before a read asks for them,
  ///     each by a thread. If n ropes of a store read ahead now, each has max(2, 8 / n) ranges in flight. Each rope
  ///     keeps the range that was read last and those ahead in memory, up to 16 MiB, until it is destroyed or read
  ///     elsewhere. Threads that read one rope wait for each other.
  ///   - never mixes two versions. If the object is replaced or removed after open(), s3 and http fail with corrupt
  ///     (K022) when they fetch the next range. If the object was removed and the server hides absent objects, s3 fails
  ///     with K003 and http with H011. The memory store gives the old version. In the file store the first read opens
  ///     the file, and so fixes the version; D008 if its size is not that at open(). Later reads give that version. If
  ///     one must open the file again, a replaced object is D008. A removed object is not_found (D001) at any opening.
  ///     The ropes of a process have at most 64 files open between reads; a read that is running may have one more. A
  ///     rope that is read whole by its first call keeps no file open. One exception: on a web server without strong
  ///     ETags an object counts as the same version if its weak ETag and its Last-Modified (to 1 s) are the same; a
  ///     server may send only one of the two.
  ///   - may be repeated after any other error.
  Result<content::Rope> open(const std::string& key);
  /// Returns the sha256 of an object's bytes, which it reads; nullopt if the object does not exist. Fails and costs as
  /// open() and reading the whole rope do. In the file store a small file costs no stat by name.
  Result<std::optional<Sha256>> digest(const std::string& key);
  /// Returns all objects whose keys begin with `prefix`, sorted bytewise; their ETags may be empty. Omits a backend's
  /// own objects, keys that check_key() refuses with SlashKeys::allowed, and directory markers (slash_keys()). In the
  /// file store it follows a symbolic link only in the directories that `prefix` names, and omits all others; head(),
  /// get() and open() follow all. The listing is not a snapshot: objects that are written meanwhile may be included or
  /// not. Costs one request per 1000 objects. In the file store it reads the directory that `prefix` names up to its
  /// last '/', and the matching directories below: one readdir and one stat per directory, and one stat per matching
  /// file, or per entry where the file system does not keep the types of entries. All entries are in memory.
  Result<std::vector<ObjectInfo>> list(const std::string& prefix);
  /// Returns the keys of list(). Costs the same, but in the file store no stat per file where the file system keeps the
  /// types of entries: half of a large listing's time.
  Result<std::vector<std::string>> keys(const std::string& prefix);
  /// Returns one level of list(): the objects and directories whose keys begin with `prefix`. The prefix need not end
  /// at a slash: "42-" finds "42-linux/". Costs one request per 1000 entries of this level, however much lies below; in
  /// the file store the readdir of one directory and stats as in list(). A backend without support pays for list().
  Result<Children> children(const std::string& prefix);

protected:
  /// The public functions count, with two exceptions that the backend counts: the bytes and ranges that do_open() and
  /// its ropes read, since ropes may outlive the store; and the put, with its bytes, that is part of a copy.
  const std::shared_ptr<AtomicCounters>& tally() const { return tally_; }

private:
  virtual Result<std::optional<ObjectInfo>> do_head(const std::string& key) = 0;
  virtual Result<std::optional<std::string>> do_get(const std::string& key, std::uint64_t max_bytes,
                                                    std::string* etag) = 0;
  virtual Result<std::optional<std::string>> do_root_page(std::uint64_t max_bytes); ///< nullopt
  virtual Result<content::Rope> do_open(const std::string& key) = 0;
  virtual Result<std::optional<Sha256>> do_digest(const std::string& key); ///< by do_open()
  virtual Result<std::vector<ObjectInfo>> do_list(const std::string& prefix) = 0;
  virtual Result<std::vector<std::string>> do_keys(const std::string& prefix); ///< by do_list()
  virtual Result<Children> do_children(const std::string& prefix);             ///< by do_list()

  std::shared_ptr<AtomicCounters> tally_;
};

} // namespace quarry::store
