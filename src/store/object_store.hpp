#pragma once
// An object store as S3 defines it: keys, bytes, ETags and conditional writes. Backends: memory, file, s3, and http,
// which only reads. docs/concurrency.md says what is guaranteed and how it is used.
// The interface grows in three steps: ObjectReader, ObjectWriter, and ObjectStore, which also copies on the server.
//
// Guarantees: a reader finds no object, the complete old one, or the complete new one. When put() returns, the object
// is on the disk, or the server has confirmed it. If put() fails with outcome_unknown, the write may have happened. A
// read that begins after put() has returned finds that object, unless a later write has replaced or removed it; s3 and
// http rely on the server for that. A store is thread-safe; its functions may wait for the disk or the network. One
// exception, in the file store: a new directory is synced only by the put() that made it. If that put() is still
// running, failed or was killed, a power cut may lose the directory with our object, on a file system that does not log
// in order.
//
// Errors of all functions:
//   R001 not_found              R002 already_exists (if-absent)      R003 precondition_failed (if-match)
//   R004 outcome_unknown        R005 invalid key                     R006 no backend for the locator
//   R007 larger than max_bytes  R008 not the promised sha256         R009 other bytes are there (put_once.hpp)
//   R030 the store can only be read (invalid_argument)
//   D00x of the machine, H00x of the network, K0xx of an S3 server
//   K005 has the kind not_found, precondition_failed or failed, as the server's answer says; K006 is unavailable
#include "base/result.hpp"
#include "content/rope.hpp"
#include "store/object_reader.hpp"
#include "sys/clock.hpp"
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace quarry::store {

/// A condition that a write has to meet; evaluated atomically with the write if conditional_writes() is true. Two
/// exceptions, both in s3: an object above 5 GiB, on a server that does not check conditions at the end of an upload
/// (s3/put.hpp); and an if-match at the end of an upload, on a server that checks only if-absent there
/// (s3/capabilities.hpp).
struct Precondition {
  enum class Kind : std::uint8_t { none, if_absent, if_match } kind = Kind::none;
  std::string etag;
  static Precondition if_absent() { return {Kind::if_absent, {}}; }
  /// The ETag must not be empty: the file and memory stores fail with R003 then, in s3 the server decides.
  static Precondition if_match(std::string etag) { return {Kind::if_match, std::move(etag)}; }
};

struct PutOptions {
  Precondition precondition;
  std::string content_type, cache_control;
  /// Called with the total of bytes written so far, by one thread at a time, perhaps not the caller's. The total falls
  /// when an attempt is repeated. Not called for a copy on the server, and perhaps not for an empty object.
  std::function<void(std::uint64_t)> on_progress;
  /// The digest that the content must have. With other bytes put() fails with corrupt (R008), and no object appears. s3
  /// records it (ObjectInfo::recorded_sha256), and needs it to resume an upload in parts. Some failures of put(), and a
  /// kill, leave the upload on the server (s3/put.hpp says which). Then the next put() of the same content, options and
  /// key on this machine sends only the missing parts. At Amazon both runs must have the same region configured. With
  /// if-match, a run that has seen the old object (by head(), get() or a write of its own) sends other headers than one
  /// that has not: then nothing is resumed.
  std::optional<Sha256> sha256 = {};
  /// For copy_from(), with `sha256`: the digest that the source's store recorded is not enough, because whoever may
  /// write objects may also write that. The source is read and hashed, too, and the server copies exactly the version
  /// that was read.
  bool hash_source = false;
  /// For copy_from(), with `sha256`: the recorded digest counts only for a source of this size, because another tool
  /// may have cut the object short and kept its metadata; nullopt: of any size. Without `sha256` it has no effect.
  std::optional<std::uint64_t> source_size = {};
};

/// What a backend is asked to copy.
struct CopyRequest {
  const std::string &from, &to;
  const PutOptions& options;
};

/// What can be read and written. A writer also reads: a compare-and-swap begins with the ETag that was read, and after
/// a lost reply the stored object is read back.
class ObjectWriter : public ObjectReader {
public:
  /// Writes an object if the precondition holds, and returns its size and its ETag, which is empty if another writer
  /// has already replaced the object or the server gave none. Fails with R002 (if-absent: it exists), R003 (if-match:
  /// another ETag or no object), R004, R005, R008, R030, D00x, H00x and K0xx, such as K013 above 445 GiB in s3, and
  /// with the errors of reading `content`. In s3 another writer may conflict with the last attempt (409). If that
  /// attempt was a PUT or the completion of an upload, put() fails with R003 for if-match, and with R002 for if-absent
  /// if an object exists now. Any other 409 is K005 (precondition_failed) or K006 (unavailable): repeat the call. If
  /// the reply to an earlier attempt was lost, R004 may be returned instead of any of these. After R004
  /// (outcome_unknown) the object may have been written. After any other error this write has left no object; in s3 it
  /// may have been there for a moment, and been replaced or removed since. A killed put leaves the old or the new
  /// state, and perhaps what remove_leftovers() removes and a journal of the upload on this machine (s3/journal.hpp). A
  /// put that was killed or failed may leave new empty directories in the file store. Costs all bytes, and:
  ///   s3     one PUT request. Above 8 MiB: one request for each part and two more; or, up to 5 GiB, a single PUT if
  ///          the write has a condition that the server checks only in a PUT. An unclear outcome costs a HEAD. A
  ///          condition that the server does not check costs up to two HEADs (s3/put.hpp). A write that has a
  ///          condition, or more than 8 MiB, or a key that ends in a slash, also costs what conditional_writes()
  ///          does, with its errors. A put may wait until other puts have released memory; an interruption does not
  ///          end that wait (s3/slabs.hpp). The time of a put is not limited as long as bytes move (s3/bucket.hpp).
  ///   file   two fsyncs, and one for each new directory; for if-absent a stat and a link, else a lock and a rename;
  ///          for if-match it also reads and hashes the old object.
  Result<ObjectInfo> put(const std::string& key, const content::Rope& content, const PutOptions& options);
  /// Removes an object. Succeeds if it does not exist. It takes no precondition, so it may remove what another writer
  /// has just written; the caller must look afterwards if that matters. After any error but R005 the object may be
  /// gone: repeat the call. Costs one DELETE request, and for a key that ends in a slash also what slash_keys() costs,
  /// with its errors; in the file store a stat and an fsync, and for an object that exists a lock and an unlink.
  Result<void> remove(const std::string& key);
  /// Whether preconditions are evaluated atomically with the write. If false, the server ignores if-absent, if-match or
  /// both. For what it ignores the store sends a HEAD before the write, which is safe for one writer and not for
  /// several. Also false for http. Free, except in s3 at a named endpoint: there the first call on each opened store
  /// reads what is known of the server, or probes it with about 20 requests (s3/capabilities.hpp). If the role may not
  /// write the probe's objects and the store has no record of capabilities, it fails with K003.
  virtual Result<bool> conditional_writes() { return true; }
  /// Whether objects can be written under keys that end in one slash, together with objects below them. If false, put()
  /// to such a key fails with R005, and remove() of it does nothing (in http R030). In s3, do not read such a key if
  /// this is false: some servers answer with the object of the name without the slash. The web pages of some stores
  /// (consoles) write an empty object `a/` for a directory: list() omits such objects, and put() refuses to write one
  /// (R005). Costs and fails as conditional_writes() does.
  virtual Result<bool> slash_keys() { return false; }
  /// Removes what killed writers left behind before `before_us` (microseconds since 1970, UTC, by the clock of the
  /// server or disk): temporary files that were last written before it, and multipart uploads that were begun before
  /// it. It ends all such uploads below the store's prefix, also those of other tools. A writer that still works on one
  /// of them then fails: with K005, with R004 while it completes the upload, or in the file store with D001. It does
  /// not remove uploads whose age the server does not say, nor the small objects that a killed probe left
  /// (s3/capabilities.hpp). Returns how many it removed or found gone; after an error some may be gone: repeat the
  /// call. Costs one request per 1000 uploads, or in the file store one readdir and a stat per file, and one request or
  /// unlink for each that it removes.
  virtual Result<std::uint64_t> remove_leftovers(std::int64_t before_us);

protected:
  /// Checks a key before a write: check_key(), and a slash at its end only if slash_keys() allows it. R005.
  Result<void> check_write(const std::string& key);

private:
  virtual Result<ObjectInfo> do_put(const std::string& key, const content::Rope& content,
                                    const PutOptions& options) = 0;
  virtual Result<void> do_remove(const std::string& key) = 0;
};

/// A whole store: reads, writes, and copies without sending the bytes, where the server can.
class ObjectStore : public ObjectWriter {
public:
  /// Copies an object inside this store, with the precondition and errors of put(); also not_found (R001). In two ways:
  ///   - On the server (s3 only). With a precondition, the server must check it in copies, and the source must not
  ///     be empty. `options.sha256`, if set, must be the digest that is recorded with the source.
  ///     The recorded digest is kept. Costs a HEAD and one COPY request, or, with a precondition or above 5 GiB, one
  ///     per 512 MiB and two more; with a precondition also what conditional_writes() costs. If the source changes
  ///     meanwhile, it fails with corrupt (K022: replaced) or not_found (K005: removed; K003 if absent objects are
  ///     hidden).
  ///   - Else through this machine: only `options.sha256` is recorded. Costs an open() and a put(). If the source
  ///     changes meanwhile, it fails as reading a rope from open() does.
  /// In both ways s3 keeps the source's content type, cache control, encoding, disposition, language and expiry where
  /// `options` does not say otherwise; user metadata is not kept. hash_source and source_size are not looked at: a
  /// recorded digest counts whatever the size of the source.
  Result<void> copy(const std::string& from, const std::string& to, const PutOptions& options);
  /// Copies an object of another store to `to` here, on the server. Headers as in copy(), but the digest of the source
  /// is not kept: only `options.sha256` is recorded. Returns true if it did; false if it cannot, in which case nothing
  /// was written and the caller must send the bytes itself. False:
  ///   - unless both are s3 stores of one service;
  ///   - for if-match, and for if-absent if the server does not evaluate it in copies or the source is empty;
  ///   - if `options.sha256` is set, and the recorded digest of the source is missing or differs, or the source has
  ///     another size than `options.source_size`.
  /// With `options.sha256` and `options.hash_source` the source is read as well, and other bytes are corrupt (R008).
  /// The credentials of this store must be able to read the source; if not, K003. Fails with R001, R002 and R004 as
  /// copy() does. If the source changes meanwhile, it fails as a copy on the server does (K022, K005 or K003). If the
  /// source changes while `hash_source` reads it, it fails as reading a rope from open() does. Costs what copy() on the
  /// server costs, and with `hash_source` reading the source; false may cost a HEAD and what conditional_writes() does.
  Result<bool> copy_from(ObjectReader& source, const std::string& from, const std::string& to,
                         const PutOptions& options);

private:
  /// The public functions check both keys and count the copy. Unlike do_put(), the backend itself counts the put and
  /// its bytes, and refuses an empty object under a key that ends in a slash (check_not_marker()).
  virtual Result<void> do_copy(const CopyRequest& request) = 0;
  virtual Result<bool> do_copy_from(ObjectReader& source, const CopyRequest& request);
};

/// What a store gets from the process; the clock must outlive the store and the ropes from open().
struct Surroundings {
  std::map<std::string, std::string> environment;
  const sys::Clock& clock;
  /// Gets a line for each request and its answer, without secrets; may be empty. Called from several threads at once,
  /// and by ropes from open() also after the store is destroyed: what it refers to must outlive them.
  std::function<void(std::string_view)> trace = {};
};

/// A store in memory, for tests and dry runs: objects of up to 1 GiB (D003). With a clock, which must outlive the
/// store, objects have the time at which they were written. Content type and cache control are not kept.
std::unique_ptr<ObjectStore> make_memory_store(const sys::Clock* clock = nullptr,
                                               SlashKeys slash_keys = SlashKeys::allowed);
/// A store in a directory: objects are plain files below `root`, which the first put creates. A put writes and syncs a
/// temporary file in `root`/.quarry/tmp, where remove_leftovers() treats every file as a leftover; locks are in
/// .quarry/locks. An if-absent put then link(2)s the file to its name, so the file system must have hard links. Every
/// other put locks the key, compares the ETag if it has to, and renames the file over the old one; remove() also locks.
/// The keys share 256 lock files, so these calls wait for writers of some other keys, too: without limit, and an
/// interruption does not end the wait. Safe between processes. An object `a` and an object `a/b` exclude each other.
/// If `a` exists, a put of `a/b` fails with D002. If `a/b` exists, a put of `a` fails with D001, or with R003 if it is
/// if-match. D002 has the kind of R002 (already_exists), so compare codes, not kinds. An if-absent put over a symbolic
/// link that leads nowhere fails with D001, too. A directory stays when its last object is removed, so `a` is then
/// still taken. Content type and cache control are not kept. Fails with invalid_argument (R006) if `root` exists and is
/// not a directory. Its functions:
///   open()    does not open the file yet: ObjectReader::open() says what follows if the object is replaced
///   remove()  keeps directories that become empty; R004 if the disk does not confirm it: repeat it, it syncs again
///   list()    also keys() and children(): R005 if the part of the prefix up to its last '/' is not a valid key.
///             list() and keys(): D005 above 10 million objects and directories still to read
Result<std::unique_ptr<ObjectStore>> open_file_store(const std::string& root);
/// Files on a web server below `url`, for reading only: listing and writing fail with invalid_argument (R030; R005 to
/// write a key that ends in a slash), copy_from() is false, and remove_leftovers() finds nothing. Fails with H001 (not
/// a URL) and R006 (a URL with a query); plain http to another machine fails with H010 at the first request, unless
/// QUARRY_ALLOW_PLAIN_HTTP is 1. 404 and 410 mean that an object does not exist; any other status than 2xx is H011
/// (unauthenticated for 401 and 403, else unavailable). head() and open() need Content-Length (H011, unsupported). Up
/// to 5 redirects are followed; one more, or one from https to http, is H009. A rope from open() reads in ranges. Once
/// the server has answered a request for a part of an object with the whole object (200), each rope of this store
/// fetches its object whole, to a temporary file in $TMPDIR or /tmp; if that is cut, it begins at the first byte again,
/// up to 5 times. A failure of the network, and 408, 409, 429, 500 and 502 to 504, are tried again: 6 attempts at most,
/// as in s3. A request is not tried again after the first byte of its body. If a range is cut after that, a rope asks
/// for the rest of it with a new request, up to 5 times; each new request has 6 attempts, too. open() itself fetches an
/// object without ETag and Last-Modified and holds it in memory. Such an object may have up to 16 MiB; a larger one is
/// H011. One whose size changes between the HEAD and the GET of open() is K022.
Result<std::unique_ptr<ObjectStore>> open_http_store(const std::string& url, const Surroundings& surroundings);
/// Opens the store of a locator: "file:PATH", "file:///PATH", a bare directory, "s3://bucket/prefix" or
/// "https://host/path" (or http). Only the path of file:// is percent-decoded; "file://localhost/PATH" is
/// "file:///PATH". Fails with R006 for another host after file://, as in "file://x/y"; for any other scheme, which is
/// two or more letters, digits, '+' or '-' before the first ':' (a directory "ab:c" needs "file:"); for an empty
/// locator or path; and as the backend's own function does (s3_store.hpp). Sends nothing yet.
Result<std::unique_ptr<ObjectStore>> open_store(const std::string& locator, const Surroundings& surroundings);

} // namespace quarry::store
