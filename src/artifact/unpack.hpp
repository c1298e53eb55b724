#pragma once
// One archive, read once: decompressed, hashed, parsed and (if asked) written, all in the same pass.
#include "artifact/source.hpp"
#include "base/result.hpp"
#include "digest/sha256.hpp"
#include "tar/tar.hpp"
#include <functional>
#include <string>
#include <vector>

namespace quarry::artifact {

struct UnpackOptions {
  codec::CodecOptions codec;
  bool allow_unverified = false;                  ///< an archive without checksum file is read all the same
  std::uint64_t max_ratio = tar::k_tar_ratio_max; ///< see tar::Limits::for_archive
  std::function<Result<void>(std::uint64_t)> on_bytes =
      {}; ///< compressed bytes read since the last call; an error stops; may be null
};

/// Threads and memory for `transfers` archives that are read side by side. From a disk: up to Permits::k_bytes_each for
/// each thread and one more. From a network (`remote`): what transfers read ahead needs the memory, and few of them or
/// none decode frames beside their streams. Besides, each needs the window that its archive was packed with: 2 MiB as
/// we pack, up to 128 MiB for `zstd --long`, 65 MiB for `xz -9`.
codec::CodecOptions codec_for(unsigned jobs, bool remote, std::size_t transfers);

struct Unpacked {
  Sha256 digest;         ///< of the archive
  bool verified = false; ///< equals what its checksum file says
  std::uint64_t archive_bytes = 0, files = 0, bytes = 0;
  std::vector<std::string> bases;
  tar::CasePairs case_pairs; ///< T007 instead for Windows
};

/// The whole archive into `into`, which sees the manifest, then what lies below its bases. Errors: A010 no checksum
/// file, A012 other bytes than promised, A007 manifest missing or not first, A008 a member outside its base
/// directories, and T0xx for what is wrong inside. Until it has returned, nothing that `into` saw is proven. `files`
/// and `bytes` stay 0.
Result<Unpacked> read_archive(const SourceItem& item, tar::Visitor& into, const UnpackOptions& options);
/// As read_archive, for an archive with a checksum (A010 without) and its uncompressed `stream`, which can be read at
/// any place: `into` does not see the data of large members. What is passed over here is proven by the checksum alone.
Result<Unpacked> index_archive(const SourceItem& item, const content::Rope& stream, tar::Visitor& into,
                               const UnpackOptions& options);
/// Extracts below `directory`, which must exist and be empty; on failure it holds rubbish.
Result<Unpacked> extract_archive(const SourceItem& item, const std::string& directory, const UnpackOptions& options);
/// The same checks; writes nothing.
Result<Unpacked> verify_archive(const SourceItem& item, const UnpackOptions& options);

/// A012 with what was expected and found.
Error checksum_error(const std::string& file, const Sha256& expected, const Sha256& found, std::uint64_t bytes_read,
                     std::uint64_t size);
Error no_checksum_error(const std::string& file);

} // namespace quarry::artifact
