#include "cli/find.hpp"

#include "artifact/pattern.hpp"
#include "base/codes.hpp"
#include "base/text.hpp"
#include "cli/artifacts.hpp"
#include "cli/families.hpp"
#include "cli/records.hpp"
#include "matrix/expand.hpp"
#include "store/object_store.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::cli {

namespace {

using artifact::SourceItem;
constexpr const char* k_region = "us-east-2"; // of all of TheRock's buckets

/// A group and the targets that stand for it where archives are split by target.
struct Group {
  std::string name;
  std::vector<std::string> targets;
  bool has(const SourceItem& item) const {
    auto fits = [&](const std::string& target) {
      return item.name.target == target || item.name.target_base() == target;
    };
    return !item.absent && (fits(name) || std::any_of(targets.begin(), targets.end(), fits));
  }
};

class Finder {
public:
  Finder(const Context& context, const FindRequest& request) : context_(context), request_(request) {}

  Result<FindResult> run() {
    TRY_DO(prepare());
    TRY(auto runs, candidates());
    FindResult result;
    for (auto& run : runs) {
      TRY(auto candidate, examine(std::move(run)));
      if (candidate.lacks.empty()) {
        result.found = std::move(candidate);
        break;
      }
      result.passed_over.push_back(std::move(candidate));
    }
    return result;
  }

private:
  Result<void> prepare() {
    environment_ = context_.environment;
    if (request_.store.empty()) assume_public_bucket(environment_);
    for (const auto& expression : request_.required) {
      TRY(auto pattern, artifact::Pattern::compile(expression));
      required_.emplace_back(expression, std::move(pattern));
    }
    if (request_.groups.empty()) return {};
    TRY(auto families, load_families(context_, ""));
    for (const auto& name : request_.groups) {
      auto targets = matrix::expand_targets(families, {name}); // of a family that nobody knows there are none
      groups_.push_back({name, targets ? std::move(*targets) : std::vector<std::string>()});
      groups_.back().targets.insert(groups_.back().targets.end(), request_.targets.begin(), request_.targets.end());
    }
    return {};
  }

  Result<std::vector<forge::Run>> candidates() {
    TRY(auto access, forge::access_from(context_.environment));
    auto settings = net::settings_from(context_.environment);
    settings.trace = tracer(context_);
    forge::GitHub github(std::move(access), net::make_client(std::move(settings)), context_.clock);
    if (!request_.run_id.empty()) {
      TRY(auto run, github.run(request_.repository, request_.run_id));
      return std::vector<forge::Run>{std::move(run)};
    }
    forge::RunQuery query{request_.repository, request_.workflow, "", request_.branch, request_.good, request_.limit};
    if (!request_.pull_request.empty()) {
      TRY(query.commit, github.pull_request_head(request_.repository, request_.pull_request));
    } else if (!request_.commit.empty()) {
      TRY(query.commit, github.commit(request_.repository, request_.commit));
    } else if (query.branch.empty()) {
      TRY(query.branch, github.default_branch(request_.repository));
    }
    return github.runs(query);
  }

  Result<Candidate> examine(forge::Run run) {
    Candidate candidate;
    run::Origin origin;
    origin.repository = run.facts.repository.empty() ? request_.repository : run.facts.repository;
    origin.fork =
        run.facts.head_repository.empty() || !run::same_repository(run.facts.head_repository, origin.repository);
    origin.release_type = request_.release_type;
    origin.updated_at_us = run.facts.updated_at_us;
    run::Wanted wanted;
    wanted.run = {"", run.facts.id, request_.platform};
    wanted.era = request_.era;
    wanted.bucket = request_.bucket;
    TRY(candidate.located, run::locate(origin, std::move(wanted)));
    candidate.run = std::move(run);
    candidate.place = request_.store.empty() ? "s3://" + candidate.located.location.bucket : request_.store;
    TRY(auto opened, store::open_store(candidate.place, {environment_, context_.clock, tracer(context_)}));
    candidate.store = std::move(opened);
    TRY_DO(look_at(candidate), fmt::format("while looking at run {}", candidate.run.facts.id));
    return candidate;
  }

  Result<void> look_at(Candidate& candidate) {
    artifact::RunRoot root{candidate.located.prefix + "/",
                           fmt::format("run:{} in {}", candidate.located.prefix, candidate.store->describe())};
    root.groups = request_.groups;
    root.remote = is_remote_place(candidate.place);
    auto source = artifact::source_of_root(candidate.store, root);
    if (!source && !source.error().is(codes::artifacts_not_listed)) return fail(std::move(source).error());
    if (source) candidate.source = std::move(*source);
    candidate.lacks = lack_of(candidate);
    return {};
  }

  std::string lack_of(const Candidate& candidate) const {
    const auto& items = candidate.source.items;
    if (!request_.pull_request.empty() && candidate.run.status != "completed") return "has not ended";
    if (request_.good && candidate.run.conclusion != "success") return "did not succeed";
    if (items.empty()) return "has no artifacts";
    if (!candidate.source.incomplete.empty()) return "is not complete: " + candidate.source.incomplete.front();
    std::vector<std::string> missing;
    for (const auto& group : groups_)
      if (std::none_of(items.begin(), items.end(), [&](const auto& item) { return group.has(item); }))
        missing.push_back(group.name);
    for (const auto& [expression, pattern] : required_)
      if (std::none_of(items.begin(), items.end(), [&, p = &pattern](const auto& item) {
            return !item.absent && (p->found_in(item.name.text()) || p->found_in(item.file));
          }))
        missing.push_back("/" + expression + "/");
    return missing.empty() ? "" : "has nothing for " + text::join(missing, ", ");
  }

  const Context& context_;
  const FindRequest& request_;
  std::map<std::string, std::string> environment_;
  std::vector<Group> groups_;
  std::vector<std::pair<std::string, artifact::Pattern>> required_;
};

std::string asked_for(const FindRequest& request) {
  if (!request.run_id.empty()) return "run " + request.run_id;
  if (!request.pull_request.empty()) return "pull request " + request.pull_request;
  if (!request.commit.empty()) return "commit " + request.commit;
  return request.branch.empty() ? "the default branch" : "branch " + request.branch;
}

} // namespace

Result<FindResult> find_artifacts(const Context& context, const FindRequest& request) {
  return Finder(context, request).run();
}

Error nothing_found(const FindRequest& request, const FindResult& result) {
  constexpr std::size_t k_shown_max = 10;
  auto of = fmt::format("{} of {}", asked_for(request), request.repository);
  auto error = Error::of(ErrorKind::not_found, "Y010", "");
  if (result.passed_over.empty()) {
    error.message = fmt::format("GitHub lists no {}workflow run for {}", request.good ? "successful " : "", of);
    error.hint = "check the name, `--workflow` and `--repo`";
    return error;
  }
  error.message =
      fmt::format("none of {} runs for {} has the artifacts for {}", result.passed_over.size(), of, request.platform);
  for (const auto& candidate : result.passed_over) {
    if (error.details.size() == k_shown_max) break;
    const auto& run = candidate.run;
    error.details.push_back(fmt::format("run {}  {}  {}", run.facts.id,
                                        run.conclusion.empty() ? run.status : run.conclusion, candidate.lacks));
  }
  error.hint = "look at more runs with `--limit`, or ask for less";
  return error;
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
