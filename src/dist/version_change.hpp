#pragma once
// A release candidate becomes the release: which versions change, and where text names them. Pure, thread-safe.
#include "base/result.hpp"
#include "dist/version.hpp"
#include <optional>
#include <string>
#include <string_view>

namespace quarry::dist {

/// From one version of the SDK to another. A version of another project changes with it if its local segment names the
/// SDK as frameworks do: 2.9.0+rocm7.2.0rc1 becomes 2.9.0+rocm7.2.0.
class VersionChange {
public:
  struct Ends {
    std::string candidate, release; ///< "7.2.0rc1", "7.2.0"
  };
  /// Fails with invalid_argument M004 for what is not a version, and M016 unless both are versions of one release and
  /// the second one sorts above the first.
  static Result<VersionChange> create(const Ends& ends);

  /// The version after the change, in normal form; nullopt for one that stays, and for text that is not a version.
  std::optional<std::string> of(std::string_view version) const;

  const Version& candidate() const { return read_.candidate; }
  const Version& release() const { return read_.release; }

private:
  struct Read {
    Version candidate, release;
  };
  explicit VersionChange(Read read) : read_(std::move(read)) {}
  Read read_;
};

/// METADATA or PKG-INFO after the change: Version, and what `==` and `===` name in Requires-Dist. Other lines and the
/// description stay byte for byte.
std::string changed_metadata(std::string_view metadata, const VersionChange& change);
/// Lines of requirements, such as `requires.txt` of an egg-info directory, after the change.
std::string changed_requirements(std::string_view lines, const VersionChange& change);
/// Source text after the change: string literals in one or two quotes that hold such a version and nothing else.
std::string changed_literals(std::string_view source, const VersionChange& change);
/// Whether changed_literals() is for a file of this name: modules that say which version a package is, or needs.
bool names_version(std::string_view file_name);

} // namespace quarry::dist
