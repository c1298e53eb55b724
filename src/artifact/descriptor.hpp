#pragma once
// Artifact descriptors: which files of a build's stage directories belong to which component (docs/formats/artifact.md,
// "Descriptors"; the files ROCm's builds call `artifact-NAME.toml`). Parsing is pure and names file, line and key.
#include "artifact/source.hpp"
#include "base/data_text.hpp"
#include "base/platform.hpp"
#include "base/result.hpp"
#include <string>
#include <string_view>
#include <vector>

namespace quarry::artifact {

struct BaseRule {
  std::string directory; ///< below the build tree: "core/clr/stage"
  /// Globs over paths below `directory`, with the component's defaults where the descriptor wants them.
  std::vector<std::string> include = {}, exclude = {}, force_include = {};
  bool optional = false;  ///< on the platform that was asked for
  std::string place = {}; ///< "file:line: key", for messages
  /// `force_include` wins over `exclude`; without `include`, everything that is not excluded.
  bool takes(std::string_view path) const;
};

struct ComponentRule {
  std::string component;
  std::vector<std::string> extends; ///< components whose files are not taken again
  std::vector<BaseRule> bases;      ///< in the order of the file
};

struct Descriptor {
  std::string file, name;
  std::vector<ComponentRule> components; ///< each after those that it extends
  std::vector<std::string> unmatched_include, unmatched_exclude;
};

/// `platform` decides what `optional = "windows"` means. invalid_argument A023 (no TOML, or a file that is not called
/// artifact-NAME.toml), A024 (an unknown key, a wrong type, an unknown component, a circle of `extends`).
Result<Descriptor> parse_descriptor(NamedText named, const Platform& platform);

struct DescribedOptions {
  std::string target = "generic";
  Platform platform = Platform::linux;
};

/// What the descriptors make of the stage directories below `build`: an exploded item for each component that a
/// descriptor names, with the files that it takes. not_found A025 a stage directory that is missing and not optional;
/// failed A026 files that no component takes; already_exists A027 a stage directory that two descriptors name.
Result<Source> source_of_descriptors(const std::string& build, const std::vector<std::string>& files,
                                     const DescribedOptions& options);

} // namespace quarry::artifact
