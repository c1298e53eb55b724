#pragma once
// A deterministic parallel zip writer with the container profile of wheels (PKWARE APPNOTE 6.3.10; PyPI's stricter
// rules). The bytes depend on names, content, profile, order and Entry::old_stream alone: never on workers, timing,
// umask, time zone, locale or CPU.
#include "base/result.hpp"
#include "codec/profile.hpp"
#include "content/rope.hpp"
#include "digest/sha256.hpp"
#include "sys/file.hpp"
#include "zip/reader.hpp"
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace quarry::zip {

/// An older deflate stream that holds parts of an entry: of a file that has changed elsewhere.
struct OldStream {
  struct Place {
    std::uint64_t begin = 0;
    std::uint32_t size = 0;
  };
  content::Rope bytes;
  /// The chunks of the entry (codec::k_chunk_bytes), by number, that are in the stream, and which bytes of it give
  /// each.
  std::map<std::uint64_t, Place> chunks;
};

struct Entry {
  std::string name; ///< relative, '/' separated; checked before writing (Z001, Z013, Z014, Z017, Z018)
  content::Rope data;
  bool executable = false; ///< 0755 instead of 0644
  /// May be null. A chunk is taken from it as it was packed there, by whatever profile, if it inflates to exactly the
  /// chunk; else the chunk is packed. Not in Profile::stored.
  std::shared_ptr<const OldStream> old_stream = {};
};

struct Written {
  std::string name;
  std::uint64_t size = 0, stored_size = 0;
  std::uint32_t crc = 0;
  Sha256 sha256;
  /// The stored bytes of each chunk of a new, deflated entry that has several; else empty.
  std::vector<std::uint32_t> pieces = {};
  std::vector<std::size_t> taken = {}; ///< the numbers of those pieces that are Entry::old_stream's, ascending
};

struct Options {
  codec::Profile profile = codec::Profile::release;
  unsigned workers = 1; ///< deflate threads, at least 1
  std::function<void(std::uint64_t bytes_done)>
      on_progress;              ///< uncompressed bytes so far; from any one thread at a time
  std::uint64_t ratio_max = 60; ///< Z016 for what a reader with this ratio would refuse
};

struct Report {
  std::vector<Written> entries;
  std::uint64_t size = 0; ///< of the archive
  std::uint64_t input_bytes = 0;
};

/// Called once all `entries` are written: returns the last entries (a wheel's RECORD needs the digests of the others).
using Tail = std::function<Result<std::vector<Entry>>(std::span<const Written>)>;

/// Writes the archive to `into` from offset 0, in the order given. RSS is O(workers), not O(file). On failure `into`
/// holds rubbish: write to an AtomicFile. Local headers are written late, so who wants the archive's digest reads it
/// once it is complete. Z016 for what would be refused when it is read (expansion_allowed()).
Result<Report> write(const std::vector<Entry>& entries, const Tail& tail, const Options& options,
                     const sys::File& into);

/// What rewrite() makes an archive of: one entry. Either a member of the old archive, or a new entry.
struct Part {
  const Member* kept = nullptr; ///< of `Rewriting::source`; null: `added`
  Entry added = {};             ///< of a kept member only the name counts: its new one; empty: it stays
};
struct Rewriting {
  const Reader& source;
  std::vector<Part> parts; ///< in this order
  Tail tail = {};          ///< the last entries, if any
};
/// Writes an archive of members of another one, whose stored bytes are copied as they are, and of new entries. Nothing
/// that is kept is inflated, so the sha256 of these entries in the report is zero. Costs reading and writing the stored
/// bytes once, in pieces, and packing what is new. Fails with Z001, Z013, Z014, Z016, Z017 and Z018 as write() does,
/// and with Z023. On failure `into` holds rubbish. Progress counts stored bytes that were copied and bytes that were
/// packed.
Result<Report> rewrite(const Rewriting& rewriting, const Options& options, const sys::File& into);

} // namespace quarry::zip
