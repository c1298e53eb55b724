#pragma once
// What another machine says it has installed, compared with the files of a source: the digests that `rocm-sdk test`
// reports (docs/formats/test-report.md) against the same digests of the wheels themselves. Nothing of the machine
// is seen; a machine that lies is believed.
#include "venv/receipt.hpp"
#include "venv/source.hpp"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace quarry::venv {

struct Claim { ///< one installed distribution
  std::string project, version;
  Sha256 content;                      ///< over "path,sha256,size" of what its wheel lists
  std::optional<Sha256> payload;       ///< devel: of the inner tar, as long as it is not unpacked
  std::optional<Sha256> expanded;      ///< devel: over the unpacked files, without links
  std::map<std::string, Sha256> files; ///< of what that machine built from an sdist, by path
};

/// The file of the source that each claim is about; each candidate is verified first (`verified` as in verify_files).
/// corrupt V035: no file of the source gives this distribution (another version, other files). Sorted by project.
Result<std::vector<InstalledFile>> match_claims(const Source& source, const std::vector<Claim>& claims,
                                                VerifiedPaths& verified);

} // namespace quarry::venv
