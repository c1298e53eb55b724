#pragma once
// Proof that an environment holds what a set says: every file of an installed distribution is compared with the RECORD
// of the wheel it came from (or with the members of the sdist), and nothing else lies among them.
#include "base/result.hpp"
#include "venv/installed.hpp"
#include "venv/receipt.hpp"
#include "venv/source.hpp"
#include <string>
#include <vector>

namespace quarry::venv {

struct Proof {
  std::vector<InstalledFile> files;      ///< of the source, sorted by project
  std::vector<OtherDistribution> others; ///< in the environment, from elsewhere
};

/// Against the wheels and sdists themselves, whose bytes are verified first (`verified` as in verify_files). corrupt
/// V031: a file that differs, is missing or does not belong; V032: a distribution of one of the source's projects that
/// none of its files gives. not_found V033 when no project of the source is installed at all.
/// `packages`: what was asked for, for the hint; empty: the receipt's, or what is installed.
Result<Proof> prove(const Environment& environment, const Source& source, unsigned workers, VerifiedPaths& verified,
                    const std::vector<std::string>& packages = {});

/// The sets that these files are in: the newest sealed one that holds all of them, if there is one; else every set that
/// holds some, by time of the seal.
std::vector<registry::SetDigest> holding_sets(const Source& source, const std::vector<InstalledFile>& files);

/// Whether packages of the receipt unpack files of which RECORD will have no digest, as those of TheRock's own scripts:
/// then prove_unchanged() fails once that is done, and prove() with the wheels does not. Pure.
bool unpacks_without_digests(const std::vector<Distribution>& distributions, const Receipt& receipt);

/// Without the source: the files of the receipt against the environment's own RECORDs, which must be as they were.
/// Unpacked files must have a digest there, or be links to such files of `distributions`; TheRock's own scripts write
/// none, so what they unpack is refused. V031, V032.
Result<void> prove_unchanged(const std::vector<Distribution>& distributions, const Environment& environment,
                             const Receipt& receipt, unsigned workers);
Result<void> prove_unchanged(const Environment& environment, const Receipt& receipt, unsigned workers);

} // namespace quarry::venv
