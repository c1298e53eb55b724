#pragma once
// What a wheel or a source distribution holds, file by file, so that two of them can be compared. Nothing is unpacked:
// bytes that are wanted later go through files without names.
#include "base/result.hpp"
#include "content/rope.hpp"
#include "digest/sha256.hpp"
#include "dist/metadata.hpp"
#include "dist/name.hpp"
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace quarry::inspect {

struct Entry {
  std::uint64_t size = 0;
  bool executable = false;
  std::string link; ///< of a symlink (in a tar): its text; empty: a file
  Sha256 digest;    ///< of a file
  /// The bytes, at any place; spooled where they are deflated.
  std::function<Result<content::Rope>()> open = {};
};
/// By path. A wheel's own version does not stand in it: `dist-info/…` and `data/…` for its two directories. An sdist's
/// top directory is left out.
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
  /// All but what is compared as values: METADATA or PKG-INFO, WHEEL, RECORD, entry_points.txt.
  Entries entries;
  /// "Project" for a wheel, "project (sdist)" for the other: how reports and tables of differences call it.
  std::string label() const;
};

struct ReadOptions {
  unsigned workers = 1;
  std::string spool_directory = "/tmp"; ///< must exist; with room for what is spooled
};

/// The wheels and sdists of a directory, or of its `dist/`, sorted; or the one that `path` is. not_found Q004, D001.
Result<std::vector<std::string>> package_files(const std::string& path);
/// corrupt W010 for a wheel that is not sound, Q005 for an sdist; M002, M003 for an invalid name.
Result<Package> read_package(const std::string& path, const ReadOptions& options);

/// "x.tar", "x.tar.xz", … : an archive inside a package, such as the development files.
bool is_payload(const std::string& path);
/// Its entries. T0xx as every tar.
Result<Entries> read_payload(const std::string& path, const Entry& entry, const ReadOptions& options);

} // namespace quarry::inspect
