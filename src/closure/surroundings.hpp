#pragma once
// The packages that people see together with a set: those of the channel that it moves to. A channel may show
// thousands of packages, so they are read project by project, and requirements only when the search tries a package.
#include "base/result.hpp"
#include "closure/package.hpp"
#include <string>
#include <vector>

namespace quarry::closure {

class Surroundings {
public:
  virtual ~Surroundings() = default;
  /// Returns the packages of the project with their names and tags; their requirements may still be missing.
  virtual Result<std::vector<Package>> packages(const std::string& project) const = 0;
  /// Returns the package, which packages() returned, with its requirements.
  virtual Result<const Package*> with_requirements(const Package& package) const = 0;
  /// Whether the project must never come from a base index: the channel shows it, or it is built here. A version of it
  /// that the gate holds back must not be replaced by a stranger's. Pure.
  virtual bool owns(const std::string& project) const = 0;
};

} // namespace quarry::closure
