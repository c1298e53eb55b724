#pragma once
// The version that the SDK's packages bear, from the kind of release (docs/formats/versions.md). Pure, thread-safe.
// Errors: invalid_argument N001 (release type), N002 (base version), N003 (date), N004 (commit), N005 (number of the
// prerelease), N006 (the suffix makes no version), N007 (not a version file).
#include "base/data_text.hpp"
#include "base/result.hpp"
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::version {

enum class PackageType : std::uint8_t { wheel, deb, rpm };
/// "rocm_package_version", "rocm_deb_package_version", "rocm_rpm_package_version": today's names of the outputs.
std::string_view output_name(PackageType type);

/// What decides. Only what the release type needs has to be there.
struct VersionRequest {
  std::string release_type;                 ///< release, prerelease, nightly, nightly-bkc, ci, dev, dev-bkc
  std::string base;                         ///< "7.12.0"
  std::string commit;                       ///< 40 hex digits
  std::string date;                         ///< YYYYMMDD, of today
  std::string base_date;                    ///< YYYYMMDD, of the configuration that a bkc release builds on
  std::optional<std::string> prerelease;    ///< number of the release candidate
  std::optional<std::string> custom_suffix; ///< instead of the release type's
};

/// Release types, in the order in which their versions must sort, newest first; `feb`: those of February 2026.
const std::vector<std::string>& version_release_types(bool feb);
/// Does a version of this type need a commit?
bool needs_commit(std::string_view release_type, PackageType type);

/// A wheel's version is in PEP 440's normal form.
Result<std::string> compute_version(const VersionRequest& request, PackageType type);

/// version.json: `rocm-version`, and `release-metadata.base-date` where there is one.
struct VersionFile {
  std::string base, base_date;
};
Result<VersionFile> parse_version_file(NamedText named);

/// "20261121" for a time in microseconds since 1970, UTC.
std::string date_of(std::int64_t us);

} // namespace quarry::version
