#pragma once
// A distribution on disk, verified, as the record that pages are made from.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "registry/records.hpp"
#include "wheel/proof.hpp"
#include "wheel/wheel.hpp"
#include <optional>
#include <string>

namespace quarry::index {

struct Described {
  registry::FileRecord file; ///< without key, upload_time and yanked
  std::string sidecar;       ///< bytes of `{file}.metadata`; wheels only, else empty
  Findings warnings = {};    ///< of a sound distribution
  /// Whether a wheel holds a file that is called like a shared object or DLL; nullopt: nobody looked.
  std::optional<bool> holds_library = {};
  bool hashed = true; ///< false: the digests are those of a proof, and nobody has read the whole file yet
};

/// A wheel is verified as every reader does (W010 unless sound). A source distribution (.tar.gz, .zip) is read
/// to its end, its PKG-INFO must agree with the file's name (corrupt I002), and its fields must be readable for
/// installers (failed M005, M010, M011; warnings below metadata 2.1). The file's name itself: M002, M003.
Result<Described> describe(const std::string& path, unsigned workers = 1);

/// describe() for a wheel that `prover` remembers as packed and read back here: reads the archive's directory and
/// METADATA, and takes the file's sha256 from the proof. Whoever stores the file must compare its bytes with that.
/// nullopt: there is no proof of this file, or the file has changed since; describe() has the verdict then.
std::optional<Described> describe_proven(const std::string& path, const wheel::Prover& prover);

/// The bytes that belong beside a wheel as `{file}.metadata`: a copy of its METADATA. corrupt I004 unless the report is
/// of a sound wheel. A source distribution never gets a sidecar: pip installs what has one without building, so without
/// its dependencies.
Result<std::string> sidecar_for(const wheel::VerifyReport& report);
/// corrupt I004 unless `sidecar` is byte for byte the METADATA of the wheel.
Result<void> check_sidecar(std::string_view sidecar, const wheel::VerifyReport& report, std::string_view what);

/// PKG-INFO of a source distribution; the whole archive is read and checked. corrupt I002, and T0xx, Z0xx from the
/// archive.
Result<dist::Metadata> read_sdist_metadata(const std::string& path);

} // namespace quarry::index
