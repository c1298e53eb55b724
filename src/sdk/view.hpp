#pragma once
// One tree out of many artifacts: what a selection of a recipe sees. Paths are relative to the artifacts' base
// directories.
#include "artifact/catalogue.hpp"
#include "base/finding.hpp"
#include "base/result.hpp"
#include "sdk/recipe.hpp"
#include "sys/tree.hpp"
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quarry::sdk {

struct SourceEntry {
  sys::EntryType type = sys::EntryType::file;
  std::uint64_t size = 0;
  bool executable = false;
  std::string link;     ///< raw text of a symlink
  std::string disk;     ///< absolute or working-directory path of the bytes
  std::string artifact; ///< who brought it: "blas_lib_gfx103X-dgpu"
};

class View {
public:
  std::map<std::string, SourceEntry> entries; ///< sorted bytewise; directories included
  const SourceEntry* find(const std::string& path) const;
  /// Follows links, also in the directories on the way, as the kernel would inside this tree: the path of a file or
  /// directory. nullopt: dangling, leaving the tree, absolute, or more than 40 hops (a loop).
  std::optional<std::string> resolve(const std::string& path) const;
};

/// Lists each artifact's trees once, however many packages look at them. Not thread-safe.
class ArtifactTrees {
public:
  struct File {
    std::string path; ///< below its base
    SourceEntry entry;
  };
  Result<const std::vector<File>*> of(const artifact::ExplodedArtifact& artifact);

private:
  std::map<std::string, std::vector<File>> cache_;
};

struct SelectionContext {
  const artifact::Catalogue& catalogue;
  const Recipe& recipe;
  const Package& package;
  std::string family; ///< empty for packages without one
};

/// Does `selection` take this artifact (name, component, target)?
bool selects(const SelectionContext& context, const Selection& selection, const artifact::ExplodedArtifact& artifact);
/// The merged tree of all selections of a package. corrupt S010: two artifacts bring different content for one path.
Result<View> merged_view(const SelectionContext& context, ArtifactTrees& trees);

} // namespace quarry::sdk
