#pragma once
// Lists the files of a wheel or a source distribution, so that two packages can be compared. Nothing is unpacked to the
// disk; deflated bytes that are read later are kept in temporary files without a name.
#include "base/result.hpp"
#include "content/rope.hpp"
#include "digest/sha256.hpp"
#include "dist/metadata.hpp"
#include "dist/name.hpp"
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace quarry::zip {
class Reader;
}

namespace quarry::inspect {

struct Entry {
  std::uint64_t size = 0;
  bool executable = false;
  std::string link; ///< the text of a symlink in a tar; empty: it is a file
  Sha256 digest;    ///< of a file
  /// Returns the bytes for reading in any order. Inflates a deflated member into a temporary file first.
  std::function<Result<content::Rope>()> open = {};
};
/// By path, without the package's own version: a wheel's two directories are `dist-info/…` and `data/…`, and an sdist's
/// top directory is omitted.
using Entries = std::map<std::string, Entry>;

struct Package {
  dist::DistributionKind kind = dist::DistributionKind::wheel;
  std::string project, version, tags; ///< project normalised; tags of a wheel: "py3-none-linux_x86_64"
  std::string file;                   ///< base name
  std::uint64_t size = 0;
  Sha256 sha256;
  dist::Metadata metadata;
  dist::WheelInfo wheel; ///< of a wheel
  std::vector<dist::EntryPoint> entry_points;
  /// All files except those that are compared as values: METADATA or PKG-INFO, WHEEL, RECORD, entry_points.txt.
  Entries entries;
  std::shared_ptr<const zip::Reader> zip; ///< of a wheel: the archive that `entries` are read from
  /// "Project" for a wheel, "project (sdist)" for the other: how reports and tables of differences call it.
  std::string label() const;
};

struct ReadOptions {
  unsigned workers = 1;
  std::string spool_directory = "/tmp"; ///< for temporary files; must exist
  Findings* defects =
      nullptr; ///< if set: gets those of a wheel, which is read in spite of them if its archive is sound
};

/// Returns the wheels and sdists of a directory or of its `dist/`, sorted; or `path` itself if it is one. Fails with
/// not_found Q004 and D001.
Result<std::vector<std::string>> package_files(const std::string& path);
/// corrupt W010 for a wheel that is not sound, Q005 for an sdist; M002, M003 for an invalid name.
Result<Package> read_package(const std::string& path, const ReadOptions& options);
/// The same for a package whose bytes are anywhere; `path` is what messages call it and ends in the file name.
Result<Package> read_package(const content::Rope& bytes, const std::string& path, const ReadOptions& options);

/// "x.tar", "x.tar.xz", … : an archive inside a package, such as the development files.
bool is_payload(const std::string& path);
/// Returns the entries of a payload. Fails with T0xx as reading any tar does.
Result<Entries> read_payload(const std::string& path, const Entry& entry, const ReadOptions& options);

} // namespace quarry::inspect
