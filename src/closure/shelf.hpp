#pragma once
// Private to the room.
// What one target can take of each project: files of the set, and of a base index those projects that the set does not
// have. The base index is asked once for each project, and for METADATA of a version only when the search tries it.
#include "closure/package.hpp"
#include "closure/surroundings.hpp"
#include "mirror/resolve.hpp"
#include <deque>
#include <map>
#include <optional>
#include <set>
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
  bool known = false;
  bool in_set = false;                ///< the set has it, or what stands beside the set
  bool has_source = false;            ///< the base index has a source distribution, which is not a choice
  std::vector<Edition> editions;      ///< with a file for the target, newest first
  std::vector<dist::Version> without; ///< versions that have none
};

/// Where packages come from, in this order; the first that has a project owns it.
struct Sources {
  const std::vector<Package>& set;
  const Surroundings* beside = nullptr; ///< what people see together with the set; may be null
  mirror::Candidates* base = nullptr;   ///< may be null
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
  /// The sources outlive it.
  Shelf(const Sources& sources, const mirror::Target& target);
  const mirror::Target& target() const { return target_; }
  /// Fails as the sources do, but for a project that the base index does not have: that one is not `known`.
  Result<const Project*> project(const std::string& name);
  Result<const Needs*> needs(const Edition& edition);

private:
  Result<void> add_beside(const std::string& name, Project& project);
  void add_files_of_set(const Package& package, Project& project) const;
  void add_upstream(const index::PageFile& file, Project& project) const;
  bool python_allows(const std::string& requires_python) const;

  std::multimap<std::string, const Package*, std::less<>> set_;
  Sources sources_;
  const mirror::Target& target_;
  std::deque<Package> beside_; ///< as met; requirements are read when they are asked for
  std::map<std::string, Project> projects_;
  std::map<const Edition*, Needs> needs_;
};

} // namespace quarry::closure
