#pragma once
// Verified artifacts into a directory: each is checked completely before it becomes visible, and appears at once or not
// at all.
#include "artifact/source.hpp"
#include "artifact/unpack.hpp"
#include <string>
#include <vector>

namespace quarry::artifact {

enum class FetchForm : std::uint8_t {
  exploded, ///< DIR/{name}_{component}_{target}/
  archives, ///< DIR/{archive} and its checksum file, digest verified, not opened
  flat,     ///< all base directories merged into DIR
};

struct FetchOptions {
  FetchForm form = FetchForm::exploded;
  bool allow_unverified = false;
  std::uint64_t max_ratio = 60; ///< see UnpackOptions
  unsigned jobs = 1;            ///< threads for all artifacts together
  unsigned at_once = 0;         ///< artifacts; 0: as many as jobs. More where reading waits for a network
  bool remote = false;          ///< it does: memory is for transfers, see codec_for()
  std::function<void(std::uint64_t)> on_bytes =
      {}; ///< archive bytes (or bytes copied) since the last call, from any thread
};

struct Fetched {
  enum class State : std::uint8_t { fetched, kept, failed }; ///< kept: was complete from an earlier fetch
  Name name;
  std::string source; ///< file or directory it came from
  State state = State::fetched;
  bool exploded = false; ///< copied from a directory, which has no checksum
  bool verified = false; ///< against a checksum file; when kept without `rehashed`: by the fetch that completed it
  bool rehashed = false; ///< kept, and its bytes were read and hashed again
  std::optional<Sha256> digest;
  std::uint64_t archive_bytes = 0, files = 0, bytes = 0;
  tar::CasePairs case_pairs;  ///< see Unpacked; only of what was fetched now
  std::optional<Error> error; ///< when failed
};

struct FetchReport {
  std::vector<Fetched> artifacts; ///< in the order of `items`
  Findings findings = {};         ///< what was left as it is: A052
  std::uint64_t failures() const;
  /// Some are complete, and what the others lack may be there later: neither damage nor this machine.
  bool partial() const;
};

/// Fetches `items` into `output_directory` (created when missing). One artifact that fails does not stop the others:
/// its error is in the report, nothing of it is visible. What an earlier fetch completed from the same bytes is kept;
/// what it left unfinished is removed. A second fetch into the directory waits for the first. Error of the whole:
/// cancelled, A014 (a directory of that name which no fetch made), A015, A016 and A050 (flat form: two owners of one
/// path; a file that no fetch made; links that are not sound in one tree), A051 (the hidden directory is a link), D00x
/// for the output directory itself. Completeness survives the end of a process at any point. What is kept was compared
/// entry by entry with what the earlier fetch recorded: types, sizes, times of modification, executable bits and texts
/// of links. Its bytes are not read again, except those of archives.
Result<FetchReport> fetch(const std::vector<SourceItem>& items, const std::string& output_directory,
                          const FetchOptions& options);

/// The error of a report with failures: the worst one's kind (corrupt before everything else), each failure, what is
/// complete.
Error failure_of(const FetchReport& report, const std::string& output_directory);

} // namespace quarry::artifact
