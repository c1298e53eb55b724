#pragma once
// The stages of a staged build, and which artifacts go in and out of each: BUILD_TOPOLOGY.toml of TheRock's sources.
// Pure.
#include "base/result.hpp"
#include <map>
#include <set>
#include <string>
#include <vector>

namespace quarry::artifact {

struct BuildStage {
  std::string name, description;
  std::string type = "generic"; ///< "generic", or "per-arch": built once for each family
  std::vector<std::string> groups;
};

struct TopologyFile {
  std::string name; ///< for messages
  std::string text;
};

class Topology {
public:
  /// invalid_argument A095 (not TOML, a missing or malformed field, a stage or dependency that names what is not
  /// there). Other fields than those of stages, groups and artifacts are not looked at.
  static Result<Topology> parse(const TopologyFile& file);

  const std::vector<BuildStage>& stages() const { return stages_; } ///< in the document's order
  /// not_found A096, naming those that there are.
  Result<BuildStage> stage(const std::string& name) const;
  const std::set<std::string>& artifacts() const { return names_; }
  std::string type_of(const std::string& artifact) const; ///< "target-neutral" or "target-specific"
  /// The artifacts of the stage's groups.
  std::set<std::string> produced(const BuildStage& stage) const;
  /// What those need that the stage does not make: the artifacts of the groups that its groups depend on, the artifacts
  /// that its artifacts depend on, and all that these depend on.
  std::set<std::string> inbound(const BuildStage& stage) const;

private:
  struct Artifact {
    std::string group, type = "target-neutral";
    std::vector<std::string> needs;
  };
  Result<void> check(const std::string& file) const;
  void collect(const std::string& artifact, std::set<std::string>& into) const;

  std::vector<BuildStage> stages_;
  std::map<std::string, std::vector<std::string>> group_needs_;
  std::map<std::string, Artifact> artifacts_;
  std::set<std::string> names_;
};

} // namespace quarry::artifact
