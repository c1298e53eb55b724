#pragma once
// Removes the code of GPU targets that nobody asked for from a library, a program or a bundle. Sizes, addresses and
// places stay: what goes is overwritten with zeros, which compress to nothing. docs/formats/device-code.md describes
// the result.
#include "base/result.hpp"
#include "content/rope.hpp"
#include "content/spool.hpp"
#include "gpu/contents.hpp"
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::gpu {

/// Whether code for `code` runs on none of `devices` (processors). A variant counts as its processor, a generic
/// processor serves all that it covers. Code for a processor that is not known here is never unwanted: it may be
/// generic (`amdgcnspirv`).
bool is_unwanted(const Target& code, const std::vector<std::string>& devices);

struct ThinRequest {
  std::vector<std::string> devices;      ///< processors: code that serves one of them stays
  std::string spool_directory;           ///< for a bundle that is decompressed: it must exist and have room
  std::shared_ptr<content::Spool> spool; ///< gets bundles that were compressed again; the result reads from it
};

struct Thinned {
  /// As long as the original, but for a compressed bundle or a kpack archive. The original itself if nothing was
  /// removed.
  content::Rope file;
  bool changed = false;
  Contents before, after;
  std::vector<std::string> left; ///< sentences: code that nobody asked for and that stays, with the reason
};

/// Drops the entries of unwanted targets from the tables of bundles, and zeros their code. A compressed bundle is
/// decompressed, thinned, and compressed again with the same version and method; if it does not fit into its old place,
/// it stays as it is. A file that is one compressed bundle gets shorter. The host's entry always stays. From a kpack
/// archive blobs and rows leave, so that it gets shorter, too; one that would be left without code stays as it is. So
/// do signed Windows files and bare code objects. The members of a static library are thinned one by one, in their
/// places.
///
/// The result is proven before it is returned: outside tables, a Windows file's checksum and zeroed code every byte is
/// the original's, the bundles read back hold exactly what was kept, the rows of an archive name the same bytes, and
/// the rules for ELF files find nothing that they did not find before.
///
/// Fails with corrupt (G101) if a container is damaged, if code stands in the table of its bundle, in another section
/// or in another bundle; with unsupported (G116) if the thinned file breaks a rule for ELF files that the original
/// keeps; with internal (G116) if another part of the proof fails; and if the file or the spools cannot be read or
/// written. Cost: headers and tables; compressed bundles are unpacked, packed and unpacked again. Memory: the tables,
/// and a zstd window of 128 MiB. One thread.
Result<Thinned> thin(const content::Rope& file, std::string_view name, const ThinRequest& request);

} // namespace quarry::gpu
