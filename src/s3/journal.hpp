#pragma once
// What this machine knows of an upload in parts, so that the next run goes on with it: a hint, never the truth (the
// server's list of parts is). One small file per object below the user's state directory, locked while it is used.
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
  std::string directory; ///< empty: nothing is kept
};

/// Below $XDG_STATE_HOME, else ~/.local/state: quarry/uploads. Nowhere if neither variable is an absolute path.
JournalPlace journal_place(const std::map<std::string, std::string>& environment);

struct JournalPart {
  std::string etag;
  std::uint64_t crc64nvme = 0, size = 0;
};

struct JournalEntry {
  std::string upload_id, nonce, sha256; ///< sha256 of the whole content, known before
  std::uint64_t size = 0, part_size = 0;
  std::map<unsigned, JournalPart> parts;
};

/// The journal of one object, held exclusively; a second process that stores the same object gets none.
class Journal {
public:
  /// `object` names endpoint, bucket and key. Failures to keep a journal only mean that nothing is resumed.
  static std::optional<Journal> open(const JournalPlace& place, const std::string& object);
  const std::optional<JournalEntry>& entry() const { return entry_; }
  void begin(const JournalEntry& entry);
  void add(unsigned number, const JournalPart& part); ///< thread-safe
  void remove();

private:
  Journal(sys::File file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  sys::File file_;
  std::string path_;
  std::optional<JournalEntry> entry_;
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
};

} // namespace quarry::s3
