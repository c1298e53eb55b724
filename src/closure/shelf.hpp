#pragma once
// Private to the room.
// What one target can take of each project: files of the set, and of a base index those projects that the set does not
// have. The base index is asked once for each project, and for METADATA of a version only when the search tries it.
#include "closure/package.hpp"
#include "mirror/resolve.hpp"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace quarry::closure {

struct Edition { ///< one version of a project
  dist::Version version;
  std::vector<const Package*> packages;  ///< of the set
  std::vector<index::PageFile> upstream; ///< of the base index
  int fit = 0;                           ///< mirror::fit() of its files; only the best fitting ones are kept
  bool yanked = false;
};

struct Project {
  bool known = false, in_set = false;
  bool has_source = false;            ///< the base index has a source distribution, which is not a choice
  std::vector<Edition> editions;      ///< with a file for the target, newest first
  std::vector<dist::Version> without; ///< versions that have none
};

/// What an edition requires, all its files together: two wheels of one version may differ.
struct Needs {
  std::vector<dist::Requirement> requirements;
  std::vector<std::string> extras;
  bool readable = true;     ///< false: installers could not read it, so it is not a choice
  bool extras_known = true; ///< false: a build may add some
};

class Shelf {
public:
  /// `set` and `base` outlive it; `base` may be null.
  Shelf(const std::vector<Package>& set, mirror::Candidates* base, const mirror::Target& target);
  const mirror::Target& target() const { return target_; }
  /// Fails as the base index does, but for a project that it does not have: that one is not `known`.
  Result<const Project*> project(const std::string& name);
  Result<const Needs*> needs(const Edition& edition);

private:
  void add_files_of_set(const Package& package, Project& project) const;
  void add_upstream(const index::PageFile& file, Project& project) const;
  bool python_allows(const std::string& requires_python) const;

  std::multimap<std::string, const Package*, std::less<>> set_;
  mirror::Candidates* base_;
  const mirror::Target& target_;
  std::map<std::string, Project> projects_;
  std::map<const Edition*, Needs> needs_;
};

} // namespace quarry::closure
