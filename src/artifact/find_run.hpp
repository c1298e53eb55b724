#pragma once
// The newest run that has certain artifacts: GitHub says which runs there are, the store says what they left.
#include "artifact/source.hpp"
#include "base/platform.hpp"
#include "forge/github.hpp"
#include "run/location.hpp"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quarry::artifact {

/// A family or target that must have an artifact of its own; one of any of `targets` counts for it, too.
struct GroupWanted {
  std::string name;
  std::vector<std::string> targets;
};

struct FindRequest {
  std::string repository;
  std::string run_id, commit, branch; ///< at most one of these and the next; none: the default branch
  std::string pull_request;           ///< number: completed runs of its newest commit
  bool good = false;                  ///< only runs that succeeded
  std::string workflow;               ///< file name; empty: any
  Platform platform;
  std::vector<GroupWanted> groups;
  std::vector<std::string> required; ///< expressions, each of which must fit an artifact
  std::size_t limit = 50;            ///< runs to look at
  run::Era era = run::Era::quarry;
  std::string release_type;  ///< empty: what the name of a release workflow's run says; else as in `run locate`
  std::string bucket, store; ///< where runs lie, instead of today's bucket: as in `run locate`, or a store's locator
};

struct Candidate {
  forge::Run run;
  run::Located located;
  std::string place; ///< locator of its store
  std::shared_ptr<store::ObjectStore> store;
  Source source;
  std::string lacks; ///< what is missing; empty: nothing
};

struct FindResult {
  std::optional<Candidate> found;
  std::vector<Candidate> passed_over; ///< newer runs, each with what it lacks
};

/// Returns the newest run that lacks nothing, and the newer ones that do; finding none is a success. Fails with Y00x if
/// GitHub does not answer, with A020 for an invalid expression, and with the store's errors. Costs one or two requests
/// to GitHub per 100 runs, and a listing of each run that is looked at.
Result<FindResult> find_run(const FindRequest& request, const forge::GitHub& github,
                            const store::Surroundings& surroundings);
/// not_found Y010, with what each run lacks.
Error nothing_found(const FindRequest& request, const FindResult& result);

} // namespace quarry::artifact
