#pragma once
// Private to the room.
// The versions of each project that one target can install. They come from the set, or from the base index if the set
// does not have the project. The base index is read once for each project; METADATA of a version is read only when the
// search tries that version.
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
  bool in_set = false;                ///< the set or its surroundings have the project
  bool has_source = false;            ///< the base index has a source distribution, which is never chosen
  std::vector<Edition> editions;      ///< versions that have a file for the target, newest first
  std::vector<dist::Version> without; ///< versions that have no file for the target
};

/// Where packages come from, in this order. The first source that has a project is its only source.
struct Sources {
  const std::vector<Package>& set;
  const Surroundings* beside = nullptr; ///< the channel that the set moves to; may be null
  mirror::Candidates* base = nullptr;   ///< may be null
};

/// What an edition requires: the union over its files, because two wheels of one version may differ.
struct Needs {
  std::vector<dist::Requirement> requirements;
  std::vector<std::string> extras;
  bool readable = true;     ///< false: installers could not read its METADATA, so it cannot be chosen
  bool extras_known = true; ///< false: it is built from source, and the build may add extras
};

class Shelf {
public:
  /// The sources must outlive the shelf.
  Shelf(const Sources& sources, const mirror::Target& target);
  const mirror::Target& target() const { return target_; }
  /// Returns the project; with `known` false if no source has it. Fails as the sources do.
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
  std::deque<Package> beside_; ///< packages of the surroundings that were asked for so far
  std::map<std::string, Project> projects_;
  std::map<const Edition*, Needs> needs_;
};

} // namespace quarry::closure
