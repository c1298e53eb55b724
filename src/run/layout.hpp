#pragma once
// Where a run's outputs live: one pure type computes every key (docs/formats/run-layout.md). A key is relative to the
// store's root. Errors: L020 (a part that cannot stand in a key).
#include "base/data_text.hpp"
#include "base/platform.hpp"
#include "base/result.hpp"
#include <string>
#include <string_view>
#include <vector>

namespace quarry::run {

/// One path component of a key: letters, digits and `._-+~:@` (what artifacts, groups and wheels need), no leading '.',
/// at most 255 bytes; so it means the same in a key, a directory and, percent-encoded, a URL. invalid_argument L020
/// with the name.
Result<void> check_component(NamedText component);
/// As check_component, without `+~:@`, and not ending in "-linux" or "-windows".
Result<void> check_run_id(std::string_view run_id);
Result<void> check_platform(const Platform& platform);
/// As check_component, and none of the names that stand beside groups (dist, simple, simple-json, seals, retired,
/// merged, index.html, pages.json). Empty is allowed: "directly below".
Result<void> check_group(std::string_view group);

/// How packages lie below `python/`: ours, or flat as today's scripts write it.
enum class PackageForm : std::uint8_t {
  quarry, ///< python/{group}/{dist/, simple/, simple-json/, seals/, index.html}
  feb,    ///< python/{group}/ holds files and index.html
  aug,    ///< as feb, but all areas in python/; packages for all targets, and groups "multi-arch…", in python/ itself
};

/// Keys of one package directory; those that end in '/' are prefixes.
struct PackageDirectory {
  std::string root, dist, simple, simple_json, index_html, seals;
};

class Layout {
public:
  struct Parts {
    std::string external_repo; ///< "owner-repo" with or without the '/', or empty
    std::string run_id;
    Platform platform;
  };
  static Result<Layout> create(Parts parts);
  /// From a prefix such as "owner-repo/42-linux/" (as find_runs returns it), with or without the last '/'.
  static Result<Layout> parse(std::string_view prefix);

  const std::string& external_repo() const { return external_repo_; } ///< "owner-repo/" or empty
  const std::string& run_id() const { return run_id_; }
  const Platform& platform() const { return platform_; }

  std::string prefix() const; ///< "{external_repo}{run_id}-{platform}/"
  Result<std::string> artifact(std::string_view file) const;
  Result<std::string> log(std::string_view group, std::string_view name) const;      ///< logs/{group}/{name}
  Result<std::string> manifest(std::string_view group, std::string_view name) const; ///< manifests/{group}/{name}
  Result<std::string> tarball(std::string_view file) const;
  /// `area` is one of package_areas().
  Result<PackageDirectory> packages(std::string_view area, std::string_view group,
                                    PackageForm form = PackageForm::quarry) const;
  Result<PackageDirectory> python(std::string_view group) const { return packages("python", group); }

private:
  Layout() = default;
  std::string external_repo_, run_id_;
  Platform platform_;
};

/// The run that a package directory belongs to: "42-linux" of "42-linux/python/g". Empty: it is in no area of a run.
std::string run_of(std::string_view directory);
/// The artifact group of a package directory of a run: "g" of "42-linux/python/g"; empty if it has none.
std::string group_of(std::string_view directory);
/// The directories below a run that hold packages.
const std::vector<std::string>& package_areas();

} // namespace quarry::run
