#pragma once
// One tree out of many artifacts: what a selection of a recipe sees. Paths are relative to the artifacts' base
// directories.
#include "artifact/catalogue.hpp"
#include "artifact/tree.hpp"
#include "base/finding.hpp"
#include "base/result.hpp"
#include "sdk/recipe.hpp"
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
  content::Rope data;   ///< of a file
  std::string place;    ///< where it lies, for messages
  std::string artifact; ///< who brought it: "blas_lib_gfx103X-dgpu"
};

class View {
public:
  std::map<std::string, SourceEntry> entries; ///< sorted bytewise; directories included
  /// Files that are executable in some artifacts only, with the artifacts that say so first: they are executable here.
  std::map<std::string, std::string> executable_in_some;
  const SourceEntry* find(const std::string& path) const;
  /// Follows links, also in the directories on the way, as the kernel would inside this tree: the path of a file or
  /// directory. nullopt: dangling, leaving the tree, absolute, or more than 40 hops (a loop).
  std::optional<std::string> resolve(const std::string& path) const;
  /// Why resolve() has no answer: the links lead in a circle, or through more than 40.
  bool leads_in_a_circle(const std::string& path) const;

private:
  struct Walk {
    std::optional<std::string> end;
    bool circle = false;
  };
  Walk walk(const std::string& path) const;
};

/// The artifacts of a catalogue, exploded or archived. Each is read once, when a package first asks for it, however
/// many look at it. Not thread-safe.
class ArtifactTrees {
public:
  struct File {
    std::string path; ///< below its base
    SourceEntry entry;
    bool taken = false; ///< a selection of some package takes it
  };
  ArtifactTrees(const artifact::Catalogue& catalogue, artifact::TreeOptions options);
  const std::vector<artifact::Name>& names() const { return names_; } ///< sorted
  /// Reads those that have not been read, several at a time; the first error in their order.
  Result<void> read_ahead(const std::vector<artifact::Name>& names, unsigned workers);
  Result<std::vector<File>*> of(const artifact::Name& name);
  /// What has been read so far.
  const std::map<artifact::Name, std::vector<File>>& all_read() const { return cache_; }
  const artifact::Catalogue& catalogue() const { return catalogue_; }

private:
  Result<std::vector<artifact::TreeFile>> read(const artifact::Name& name) const;
  std::vector<File>* keep(const artifact::Name& name, std::vector<artifact::TreeFile> files);
  const artifact::Catalogue& catalogue_;
  artifact::TreeReader reader_;
  std::vector<artifact::Name> names_;
  std::map<artifact::Name, std::vector<File>> cache_;
};

/// S045: a link that leads in a circle.
Finding circle(const std::string& path, const SourceEntry& entry, const std::string& place);

/// Finding S047: two paths that are one name on Windows and macOS (directories merge there), a name that an archive
/// cannot hold. The payload of the devel package is unpacked on any of them.
void check_names(const View& view, const std::string& place, Findings& findings);

struct SelectionContext {
  const Recipe& recipe;
  const Package& package;
  std::string family; ///< empty for packages without one
};

/// Does `selection` take this artifact (name, component, target)?
bool selects(const SelectionContext& context, const Selection& selection, const artifact::Name& name);
/// The merged tree of all selections of a package; marks in `trees` the files that it takes. A file with the same
/// content in two artifacts is executable if it is executable in one of them. corrupt S010: two artifacts bring
/// different content for one path.
Result<View> merged_view(const SelectionContext& context, ArtifactTrees& trees);

} // namespace quarry::sdk
