#pragma once
// How commands ask for the newest run that has certain artifacts (artifact/find_run.hpp).
#include "artifact/find_run.hpp"
#include "cli/command.hpp"
#include <map>
#include <string>
#include <vector>

namespace quarry::cli {

/// What `--artifact-group` and `--amdgpu-target` ask for: of a family its targets count, too, where archives are split
/// by target.
struct GroupWords {
  std::vector<std::string> groups, targets;
};
Result<std::vector<artifact::GroupWanted>> groups_wanted(const Context& context, const GroupWords& words);

/// artifact::find_run() with this command's environment.
Result<artifact::FindResult> find_artifacts(const Context& context, const artifact::FindRequest& request);

/// --repo, else GITHUB_REPOSITORY, else ROCm/TheRock.
std::string repository_of(const Context& context, const Arguments& arguments);
/// Today's buckets are public and in one region: without a sign of credentials nothing is signed.
void assume_public_bucket(std::map<std::string, std::string>& environment);

} // namespace quarry::cli
