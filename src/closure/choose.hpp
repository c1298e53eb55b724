#pragma once
// Which version of each project an installer would take, for one target: what a lock writes down.
#include "base/finding.hpp"
#include "closure/closure_rules.hpp"
#include "index/read_page.hpp"
#include <map>
#include <string>
#include <vector>

namespace quarry::closure {

struct ChosenVersion {
  std::string version;                   ///< in normal form
  std::vector<std::string> files;        ///< names of files of the set that fit the target best
  std::vector<index::PageFile> upstream; ///< the same of the base index
};
/// An extra that was asked for by the caller, and that the chosen version does not have. Installers ignore it.
struct UnknownExtra {
  std::string project, version, extra;
  std::vector<std::string> known; ///< the extras that this version has
};
struct Chosen {
  std::map<std::string, ChosenVersion> projects;
  std::vector<UnknownExtra> unknown_extras;
  Findings gaps; ///< as check_closure() has them; nothing is chosen then
};

/// The extras of each version of a project in the set, sorted. Pure.
std::vector<std::string> extras_of(const std::vector<Package>& set, const std::string& project);

/// What `wanted` needs on question.targets.front(), from the set, else from the base index. Errors and time: one search
/// as check_closure() makes for each package.
Result<Chosen> choose_versions(const std::vector<Package>& set, const std::vector<dist::Requirement>& wanted,
                               const ClosureQuestion& question);

} // namespace quarry::closure
