#pragma once
// Untested history: files that another tool published in a directory, taken over as they were found
// (docs/formats/distributions.md, "Untested history"). A record names them; it is not a set. A gate never sees it, and
// it never satisfies a cell. `{directory}/history/{digest}.json`, immutable.
#include "base/result.hpp"
#include "registry/registry.hpp"
#include <string>
#include <vector>

namespace quarry::registry {

/// How somebody knows the sha256 of a file that was found.
namespace digest_source {
inline constexpr const char* k_read = "read";   ///< all its bytes were read
inline constexpr const char* k_store = "store"; ///< the store checked it when the file was written
inline constexpr const char* k_page = "page";   ///< the other tool's page says it
} // namespace digest_source

struct HistoryFile {
  std::string filename, project, version; ///< project normalised
  std::uint64_t size = 0;
  std::string etag;             ///< empty: the store has none
  std::optional<Sha256> sha256; ///< empty: not known
  std::string digest_from;      ///< a digest_source; empty without sha256
  std::optional<Sha256> metadata_sha256;
  std::string requires_python; ///< empty: none
  std::string upload_time;     ///< when the object was last written; empty: not known
  std::string key;             ///< from the store's root; ends in the file's name
  std::string yanked;          ///< empty: not yanked; else the reason
  std::string unknown = {};
  bool operator==(const HistoryFile&) const = default;
};

struct HistoryRecord {
  std::string directory;
  std::vector<HistoryFile> files; ///< sorted by filename, each name once, at least one
  Timestamp time;                 ///< when the files were taken over
  std::string who, why, tool;     ///< may be empty
  /// Names of packages that this move was allowed to leave out (`--replace`), sorted. Older programs did not write it.
  std::vector<std::string> given_up = {};
  std::string unknown = {};
};
using HistoryDigest = DigestOf<HistoryRecord>;

/// Returns the canonical bytes, without a newline at the end.
std::string to_json(const HistoryRecord& record);
/// Reads the record at this key. Its hash and its directory are not compared with the key. Fails with not_found R010,
/// B002 to B004, R007, and corrupt R012 for invalid fields. One read.
Result<HistoryRecord> read_history(ObjectReader& store, const std::string& key);
/// `{directory}/history/`, below which the records are.
std::string history_prefix(const std::string& directory);
/// Writes the record if-absent. One that read_history() could not read is not written: R012, R007. Other costs and
/// errors are those of store::put_once(): R009 if the name has other bytes.
Result<HistoryDigest> put_history(ObjectStore& store, const HistoryRecord& record);

/// What a page shows of a file of the history. A file of which nobody knows the sha256 has one of zeros: pages then
/// show no hash. Pure.
FileRecord shown_file(const HistoryFile& file);

/// The digests of all records of a directory, sorted. One listing.
Result<std::vector<HistoryDigest>> history_digests(ObjectReader& store, const std::string& directory);
/// All records, sorted by digest: their hashes and their directory agree with their keys. Costs and fails as
/// history_of().
Result<std::vector<Stored<HistoryRecord>>> history_records(ObjectReader& store, const std::string& directory);

struct History {
  /// The files of all records, sorted by filename, each name once. If two records have it, the lower digest counts.
  std::vector<HistoryFile> files;
  std::string token;                      ///< changes with the records; empty without any
  std::vector<std::string> given_up = {}; ///< by all records
};
/// Returns what was taken over in a directory. Fails with corrupt (R011, R012, B002 to B004), R007, and with not_found
/// R010 if a record is removed between the listing and its read. One listing, and a read per record, one after the
/// other.
Result<History> history_of(ObjectReader& store, const std::string& directory);
struct DistributionRecord;
/// Leaves out what pages of this distribution must not list: a file that was sealed there after it had been taken over,
/// and that a yank took out. A file that a rollback took out stays listed, as it was before it was sealed. Costs a read
/// for each move if a file of the history is blocked, and fails then as distribution_moves(); else no request.
Result<void> hide_yanked(ObjectReader& store, const DistributionRecord& distribution, History& history);
/// `files`, then those of the history whose names none of them has: a sealed set counts before the history. The result
/// as a whole is not sorted. Pure.
std::vector<FileRecord> with_history(std::vector<FileRecord> files, const History& history);
/// Only the token: one listing.
Result<std::string> history_token(ObjectReader& store, const std::string& directory);

} // namespace quarry::registry
