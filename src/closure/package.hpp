#pragma once
// A package of a set as a resolver sees it: name, tags, and what it requires. Pure, thread-safe.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "dist/metadata.hpp"
#include "dist/name.hpp"
#include "dist/requirement.hpp"
#include "mirror/target.hpp"
#include "registry/records.hpp"
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::closure {

struct Package {
  std::string file, project; ///< base name; normalised
  dist::Version version;
  std::optional<dist::WheelTags> tags; ///< none: a source distribution
  std::string requires_python;
  std::vector<dist::Requirement> requirements;
  std::vector<std::string> extras; ///< normalised, sorted
  /// False for a source distribution that does not say what it requires before it is built.
  bool requirements_known = true;
  std::uint64_t size = 0;
  bool extras_known = true; ///< false for a source distribution whose build may add extras
  std::string unreadable;   ///< the first requirement that installers cannot read, and why; empty: all can be read
};

/// `metadata` is METADATA of a wheel or PKG-INFO of a source distribution. Fails with M002 or M003 for the file's name.
/// Linear in the fields.
Result<Package> package_of(const std::string& file, const dist::Metadata& metadata, std::uint64_t size);

/// Makes a package of a file of a sealed set. `metadata_text` is the METADATA that is stored next to a wheel; it is
/// empty for a source distribution, whose record has the requirements. Fails as package_of() does, and with M006.
Result<Package> package_of_record(const registry::FileRecord& file, std::string_view metadata_text);

/// The Pythons to resolve for if no tag of the set names one: those that ROCm's wheels are built for.
constexpr std::string_view k_pythons = "3.10,3.11,3.12,3.13";

struct SetTargets {
  std::vector<mirror::Target> targets; ///< each Python on each platform
  Findings notes;                      ///< Q408: tags of machines and Pythons that the resolver does not know
};
/// Returns the targets that people install the set on. `pythons` and `platforms` are lists with commas, as
/// `mirror sync` takes them; an empty list stands for those that the wheels' tags name, or for k_pythons and linux if
/// no tag names one. Fails with U002.
Result<SetTargets> targets_of(const std::vector<Package>& set, const std::string& pythons,
                              const std::optional<std::string>& platforms);

} // namespace quarry::closure
