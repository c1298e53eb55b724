#pragma once
// A strict zip reader: refuses everything on which two honest readers could disagree (rows Z1-Z15 of
// docs/formats/zip.md).
#include "base/finding.hpp"
#include "base/result.hpp"
#include "content/rope.hpp"
#include "digest/sha256.hpp"
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::zip {

struct Member {
  std::string name;
  std::uint64_t size = 0, stored_size = 0;
  std::uint64_t header_offset = 0, data_offset = 0;
  std::uint32_t crc = 0;
  std::uint16_t method = 0; ///< 0 stored, 8 deflate
  unsigned mode = 0;        ///< Unix mode with type bits, whoever made the entry, as pip and uv read it; 0: none
  bool is_directory = false;
  bool executable() const { return (mode & 0170000) == 0100000 && (mode & 0111); }
};

struct Limits {
  std::uint64_t entries_max = 1'000'000;
  std::uint64_t declared_bytes_max = 256ull << 30;
  std::uint64_t ratio_max = 60; ///< see expansion_allowed()
};

/// How many bytes the members of an archive of that size may have together: 256 MiB and `ratio_max` times the archive,
/// at most `declared_bytes_max`. Members are read in pieces, so the danger is the disk's space and time: to inflate and
/// hash 256 MiB takes 0.3 s.
std::uint64_t expansion_allowed(std::uint64_t archive_bytes, const Limits& limits = {});

/// For each chunk of a member (codec::k_chunk_bytes), the offset in the stored bytes where it begins, if the chunk
/// before ends with an empty stored block, as Quarry's writer and flushes of other programs leave one; else 0. The
/// first chunk begins at 0.
using Cuts = std::vector<std::uint64_t>;

struct Reading {
  Cuts* cuts = nullptr; ///< gets those of a deflated member, if it is not null
  /// If there are any, the chunks stand in these in turn, so that each stays unchanged until one less than their number
  /// have come after it: another thread may look at it meanwhile.
  std::span<std::vector<std::byte>> buffers = {};
};

class Reader {
public:
  /// Reads and checks the whole framing: end records, central directory, every local header, that records are back to
  /// back. A defect becomes a Finding (code Zxxx, place = `name`!member); nullopt when the archive cannot be walked at
  /// all.
  static std::optional<Reader> open(content::Rope archive, std::string name, Findings& findings,
                                    const Limits& limits = {});

  const std::vector<Member>& members() const { return members_; }
  const Member* find(std::string_view name) const;
  const content::Rope& archive() const { return archive_; }
  /// Inflates one member in chunks of at most 1 MiB; checks size and CRC (corrupt Z005). Stops between
  /// two chunks when the program is interrupted (cancelled D006). Thread-safe.
  Result<void> read(const Member& member, const std::function<Result<void>(std::span<const std::byte>)>& tap,
                    const Reading& how = {}) const;
  Result<std::string> read_all(const Member& member, std::uint64_t max_bytes) const;

private:
  Reader(content::Rope archive, std::string name) : archive_(std::move(archive)), name_(std::move(name)) {}
  content::Rope archive_;
  std::string name_;
  std::vector<Member> members_;
  std::vector<std::uint32_t> by_name_; ///< the members' numbers, sorted by their names
};

} // namespace quarry::zip
