#include "cli/find.hpp"

#include "cli/families.hpp"
#include "cli/records.hpp"
#include "matrix/expand.hpp"
#include "store/object_store.hpp"

namespace quarry::cli {

namespace {
constexpr const char* k_region = "us-east-2"; // of all of TheRock's buckets
} // namespace

Result<std::vector<artifact::GroupWanted>> groups_wanted(const Context& context, const GroupWords& words) {
  std::vector<artifact::GroupWanted> groups;
  if (words.groups.empty()) return groups;
  TRY(auto families, load_families(context, ""));
  for (const auto& name : words.groups) {
    auto targets = matrix::expand_targets(families, {name}); // of a family that nobody knows there are none
    groups.push_back({name, targets ? std::move(*targets) : std::vector<std::string>()});
    auto& all = groups.back().targets;
    all.insert(all.end(), words.targets.begin(), words.targets.end());
  }
  return groups;
}

Result<artifact::FindResult> find_artifacts(const Context& context, const artifact::FindRequest& request) {
  TRY(auto access, forge::access_from(context.environment));
  auto settings = net::settings_from(context.environment);
  settings.trace = tracer(context);
  forge::GitHub github(std::move(access), net::make_client(std::move(settings)), context.clock);
  auto environment = context.environment;
  if (request.store.empty()) assume_public_bucket(environment);
  return artifact::find_run(request, github, {std::move(environment), context.clock, tracer(context)});
}

std::string repository_of(const Context& context, const Arguments& arguments) {
  if (auto said = arguments.get("--repo"); !said.empty()) return said;
  auto of_job = context.variable("GITHUB_REPOSITORY");
  return of_job.empty() ? std::string(run::k_home_repository) : of_job;
}

void assume_public_bucket(std::map<std::string, std::string>& environment) {
  auto missing = [&](const char* name) {
    auto found = environment.find(name);
    return found == environment.end() || found->second.empty();
  };
  if (missing("AWS_REGION") && missing("AWS_DEFAULT_REGION")) environment["AWS_REGION"] = k_region;
  bool signs = !missing("AWS_ACCESS_KEY_ID") || !missing("AWS_ROLE_ARN") || !missing("AWS_PROFILE");
  if (!signs && missing("QUARRY_S3_ANONYMOUS")) environment["QUARRY_S3_ANONYMOUS"] = "1";
}

} // namespace quarry::cli
