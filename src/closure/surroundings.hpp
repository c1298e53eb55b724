#pragma once
// What people see together with a set: the channel that it moves to. Asked for one project at a time, and for the
// requirements of a package only when the search tries it, because a channel may show thousands of packages.
#include "base/result.hpp"
#include "closure/package.hpp"
#include <string>
#include <vector>

namespace quarry::closure {

class Surroundings {
public:
  virtual ~Surroundings() = default;
  /// The packages of the project, by their names and tags; requirements need not be known yet.
  virtual Result<std::vector<Package>> packages(const std::string& project) const = 0;
  /// One of packages(), with what it requires.
  virtual Result<const Package*> with_requirements(const Package& package) const = 0;
  /// Whether the project is never taken from a base index: it is shown, or it is one of those that are built here, and
  /// what is held back of it must not come from elsewhere. Pure.
  virtual bool owns(const std::string& project) const = 0;
};

} // namespace quarry::closure
