#pragma once
// What lies in a directory and can be published: verified, described, each distribution once.
#include "base/finding.hpp"
#include "base/platform.hpp"
#include "base/result.hpp"
#include "index/describe.hpp"
#include <functional>
#include <string>
#include <vector>

namespace quarry::publish {

/// Verifies one distribution on `workers` threads and says what it is: index::describe, or a fake in tests. Called by
/// several threads at once.
using Describe = std::function<Result<index::Described>(const std::string& path, unsigned workers)>;

struct Candidate {
  std::string path;          ///< on this machine
  registry::FileRecord file; ///< without key, upload_time and yanked
  std::string sidecar;       ///< bytes of `{file}.metadata`; wheels only
  bool hashed = true;        ///< false: the digest is that of a proof (index::describe_proven)
};

struct Collected {
  std::vector<Candidate> candidates; ///< sorted by file name
  /// P003: files that are not published; P016: several versions, if allowed; P046: several tags of a version, or
  /// several families; warnings of packages.
  Findings notes;
};

struct CollectOptions {
  std::string directory; ///< holds the packages, or a `dist/` with them
  Describe describe;
  unsigned workers = 1;
  std::function<void(std::uint64_t)> on_progress = {}; ///< bytes verified so far; by one thread at a time
  Platform platform = {};                              ///< that of every wheel that is not for any; empty: not asked
  bool several_versions = false;                       ///< allow more than one version of a project
};

/// Describes all distributions of a directory. Names are checked before the first file is read. Fails as
/// list_distributions() does, and with not_found P001 if there is nothing to publish; with invalid_argument P002 if two
/// files are one distribution, P015 for a wheel of another platform, P016 for several versions of a project unless they
/// are allowed, P060 for a package of libraries that holds none, P061 for a raw wheel and its repaired copy; and with
/// the errors of `describe`. Calls `describe` once for each file, on `workers` threads in total.
Result<Collected> collect(const CollectOptions& options);

/// The distributions that collect() would take: those in `directory`, or in its `dist/`.
struct Listing {
  std::string directory;
  std::vector<std::string> names;
  Findings notes; ///< P003
};
/// Lists them without reading them, sorted by name. Fails with not_found P001 if the directory does not exist, with
/// invalid_argument P002 if it and its `dist/` both hold packages, and with outcome_unknown P014 while `sdk build`
/// writes there or if its build was interrupted.
Result<Listing> list_distributions(const std::string& directory);

/// Returns what identifies a distribution, however its file name is spelled: project, version, tags. Fails with the
/// errors of dist::DistributionName::parse(). Pure.
Result<std::string> identity_of(const std::string& filename);
/// "py3-none-linux_x86_64" of a wheel's name; empty for a source distribution.
std::string tags_of(const std::string& filename);
/// Whether a name ends in .whl or .tar.gz and is not hidden. Pure.
bool is_distribution(std::string_view filename);

} // namespace quarry::publish
