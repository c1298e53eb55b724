#pragma once
// The newest run that has certain artifacts: GitHub says which runs there are, the store says what they left.
#include "artifact/source.hpp"
#include "base/platform.hpp"
#include "cli/command.hpp"
#include "forge/github.hpp"
#include "run/location.hpp"
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace quarry::cli {

struct FindRequest {
  std::string repository;
  std::string run_id, commit, branch; ///< at most one of these and the next; none: the default branch
  std::string pull_request;           ///< number: completed runs of its newest commit
  bool good = false;                  ///< only runs that succeeded
  std::string workflow;               ///< file name; empty: any
  Platform platform;
  std::vector<std::string> groups;   ///< families or targets, each of which must have an artifact of its own
  std::vector<std::string> targets;  ///< an artifact of one of these counts for each group, too
  std::vector<std::string> required; ///< expressions, each of which must fit an artifact
  std::size_t limit = 50;            ///< runs to look at
  run::Era era = run::Era::quarry;
  std::string release_type, bucket, store; ///< as for `run locate`; a store instead of today's bucket
};

struct Candidate {
  forge::Run run;
  run::Located located;
  std::string place; ///< locator of its store
  std::shared_ptr<store::ObjectStore> store;
  artifact::Source source;
  std::string lacks; ///< what is missing; empty: nothing
};

struct FindResult {
  std::optional<Candidate> found;
  std::vector<Candidate> passed_over; ///< newer runs, each with what it lacks
};

/// Y00x when GitHub does not answer; what the store fails with; A020. Finding nothing is a success.
Result<FindResult> find_artifacts(const Context& context, const FindRequest& request);
/// not_found Y010, with what each run lacks.
Error nothing_found(const FindRequest& request, const FindResult& result);

/// --repo, else GITHUB_REPOSITORY, else ROCm/TheRock.
std::string repository_of(const Context& context, const Arguments& arguments);
/// Today's buckets are public and in one region: without a sign of credentials nothing is signed.
void assume_public_bucket(std::map<std::string, std::string>& environment);

} // namespace quarry::cli
