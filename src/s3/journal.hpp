#pragma once
// Remembers the parts of a multipart upload on this machine, so that the next run can resume it. The journal is only a
// hint: the server's list of parts decides. One small file per object below the user's state directory, locked while it
// is in use.
#include "base/result.hpp"
#include "sys/file.hpp"
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace quarry::s3 {

struct JournalPlace {
  std::string directory; ///< empty: no journals are written
};

/// Returns `quarry/uploads` below $XDG_STATE_HOME or, if that is unset or empty, below $HOME/.local/state. Returns an
/// empty directory if that path is not absolute: a relative $XDG_STATE_HOME means no journals. Pure.
JournalPlace journal_place(const std::map<std::string, std::string>& environment);

struct JournalPart {
  std::string etag;
  std::uint64_t crc64nvme = 0, size = 0;
};

struct JournalEntry {
  std::string upload_id, nonce, sha256; ///< sha256: of the whole content, which must be known beforehand
  std::string headers; ///< sha256 of the headers that the upload was started with; empty in journals of old programs
  std::uint64_t size = 0, part_size = 0;
  std::map<unsigned, JournalPart> parts;
};

/// The journal of one object, locked exclusively until it is destroyed: a second put of the same object, in this
/// process or another one, works without a journal. A put removes the file when it has succeeded, and when it has
/// failed and has ended its upload. Otherwise the file stays, until a later put of the same object in parts, with a
/// known sha256, removes it. It has about 150 bytes per part: no key of the object, no credentials.
class Journal {
public:
  /// Opens or creates the journal of `object` (configured endpoint, bucket and key). Returns nullopt if that fails or
  /// the journal is locked: the upload then works, but cannot be resumed. Never waits.
  static std::optional<Journal> open(const JournalPlace& place, const std::string& object);
  const std::optional<JournalEntry>& entry() const { return entry_; } ///< of an earlier run; after begin() the new one
  // Errors of writing are ignored.
  void begin(const JournalEntry& entry);              ///< empties the file and writes `entry` without its parts
  void add(unsigned number, const JournalPart& part); ///< appends a part to the file, not to entry(); thread-safe
  void remove();                                      ///< removes the file

private:
  Journal(sys::File file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  sys::File file_;
  std::string path_;
  std::optional<JournalEntry> entry_;
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
};

} // namespace quarry::s3
