#pragma once
// What a build left in its directory, and which keys of the run's place it belongs to.
#include "artifact/source.hpp"
#include "run/layout.hpp"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quarry::artifact {

struct OutputFile {
  enum class Kind : std::uint8_t { archive, tarball, manifest, log } kind = Kind::log;
  std::string name; ///< below the directory of its kind: "a_lib_generic.tar.zst", "nested/x.log"
  std::string key;
  content::Rope content;
  /// Archives and tarballs: the digest in the checksum file, else computed.
  std::optional<Sha256> sha256 = {};
  /// The store and key of the object that it copies, so that a store can do it without the bytes coming here.
  std::shared_ptr<store::ObjectStore> store = {};
  std::string from = {};
};

struct OutputsRequest {
  std::string directory; ///< of the build
  run::Layout layout;
  std::string group;         ///< empty: directly below logs/ and manifests/
  std::string stage = {};    ///< of a staged build: logs/{stage}/{group}/, and manifests/ without the group
  bool build_failed = false; ///< what is missing or unfinished is a warning and left out
  bool artifacts = true;     ///< false: logs and manifests only
  bool manifests = true, logs = true;
  bool ninja_logs = false;  ///< every .ninja_log below the directory as logs/ninja_logs.tar.gz
  bool ccache_logs = false; ///< logs/ccache/ as logs/ccache_logs.tar.zst, and not file by file
  unsigned jobs = 1;
};

struct Outputs {
  std::vector<OutputFile> files; ///< by kind, then name
  Findings findings;             ///< warnings: A042 missing, A043 left out
};

/// `artifacts/` (or the directory itself): archives with their checksum files, also where the directory that one was
/// packed from stands beside it; `tarballs/`; `logs/` with all below it;
/// `manifests/*.json` and therock_manifest.json where today's builds have it. not_found A040 when a build that
/// succeeded left neither archives nor tarballs; A006 and A011 for an artifact with two archives or a bad checksum
/// file; A044 for logs to pack beyond 1 GiB; D00x.
Result<Outputs> collect_outputs(const OutputsRequest& request);

/// Where logs go below the run's prefix; either may be empty.
struct LogPlace {
  std::string stage, group;
};
std::string logs_directory(const run::Layout& layout, const LogPlace& place);

} // namespace quarry::artifact
