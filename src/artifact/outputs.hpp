#pragma once
// What a build left in its directory, and which keys of the run's place it belongs to.
#include "artifact/source.hpp"
#include "run/layout.hpp"
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
};

struct OutputsRequest {
  std::string directory; ///< of the build
  run::Layout layout;
  std::string group;         ///< empty: directly below logs/ and manifests/
  bool build_failed = false; ///< what is missing or unfinished is a warning and left out
  bool artifacts = true;     ///< false: logs and manifests only
  bool ninja_logs = false;   ///< every .ninja_log below the directory as logs/ninja_logs.tar.gz
  unsigned jobs = 1;
};

struct Outputs {
  std::vector<OutputFile> files; ///< by kind, then name
  Findings findings;             ///< warnings: A042 missing, A043 left out
};

/// `artifacts/` (or the directory itself): archives with their checksum files; `tarballs/`; `logs/` with all below it;
/// `manifests/*.json` and therock_manifest.json where today's builds have it. not_found A040 when a build that
/// succeeded left no artifacts; A006 and A011 for an archive that stands there twice or has a bad checksum file; A044
/// for ninja logs beyond 1 GiB; D00x.
Result<Outputs> collect_outputs(const OutputsRequest& request);

} // namespace quarry::artifact
