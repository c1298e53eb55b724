#include "artifact/find_run.hpp"

#include "artifact/pattern.hpp"
#include "base/codes.hpp"
#include "base/text.hpp"
#include "run/github.hpp"
#include "store/object_store.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::artifact {

namespace {

/// An expression, as it was written and as it is compared.
using Patterns = std::vector<std::pair<std::string, Pattern>>;

Result<Patterns> patterns_of(const FindRequest& request) {
  Patterns patterns;
  for (const auto& expression : request.required) {
    TRY(auto pattern, Pattern::compile(expression));
    patterns.emplace_back(expression, std::move(pattern));
  }
  return patterns;
}

Result<std::vector<forge::Run>> runs_of(const FindRequest& request, const forge::GitHub& github) {
  if (!request.run_id.empty()) {
    TRY(auto run, github.run(request.repository, request.run_id));
    return std::vector<forge::Run>{std::move(run)};
  }
  forge::RunQuery query{request.repository, request.workflow, "", request.branch, request.good, request.limit};
  if (!request.pull_request.empty()) {
    TRY(query.commit, github.pull_request_head(request.repository, request.pull_request));
  } else if (!request.commit.empty()) {
    TRY(query.commit, github.commit(request.repository, request.commit));
  } else if (query.branch.empty()) {
    TRY(query.branch, github.default_branch(request.repository));
  }
  return github.runs(query);
}

/// Where the run's outputs lie.
Result<Candidate> candidate_of(const FindRequest& request, forge::Run run, const store::Surroundings& surroundings) {
  Candidate candidate;
  run::Origin origin;
  origin.repository = run.facts.repository.empty() ? request.repository : run.facts.repository;
  origin.fork =
      run.facts.head_repository.empty() || !run::same_repository(run.facts.head_repository, origin.repository);
  origin.release_type = request.release_type.empty()
                            ? run::release_type_of({run.workflow, run.title, run.event}, request.era)
                            : request.release_type;
  origin.updated_at_us = run.facts.updated_at_us;
  run::Wanted wanted;
  wanted.run = {"", run.facts.id, request.platform};
  wanted.era = request.era;
  wanted.bucket = request.bucket;
  TRY(candidate.located, run::locate(origin, std::move(wanted)));
  candidate.run = std::move(run);
  candidate.place = request.store.empty() ? "s3://" + candidate.located.location.bucket : request.store;
  TRY(auto opened, store::open_store(candidate.place, surroundings));
  candidate.store = std::move(opened);
  return candidate;
}

/// What lies there; nothing where the listing is missing.
Result<void> look_at(const FindRequest& request, Candidate& candidate) {
  RunRoot root{candidate.located.prefix + "/",
               fmt::format("run:{} in {}", candidate.located.prefix, candidate.store->describe())};
  for (const auto& group : request.groups) root.groups.push_back(group.name);
  root.remote = !candidate.store->url("").starts_with("file:");
  auto source = source_of_root(candidate.store, root);
  if (!source && !source.error().is(codes::artifacts_not_listed)) return fail(std::move(source).error());
  if (source) candidate.source = std::move(*source);
  return {};
}

bool has(const SourceItem& item, const GroupWanted& group) {
  auto fits = [&](const std::string& target) {
    return item.name.target == target || item.name.target_base() == target;
  };
  return !item.absent && (fits(group.name) || std::any_of(group.targets.begin(), group.targets.end(), fits));
}
bool has(const SourceItem& item, const Pattern& pattern) {
  return !item.absent && (pattern.found_in(item.name.text()) || pattern.found_in(item.file));
}

std::string lack_of(const FindRequest& request, const Candidate& candidate, const Patterns& required) {
  const auto& items = candidate.source.items;
  if (!request.pull_request.empty() && candidate.run.status != "completed") return "has not ended";
  if (request.good && candidate.run.conclusion != "success") return "did not succeed";
  if (items.empty()) return "has no artifacts";
  if (!candidate.source.incomplete.empty()) return "is not complete: " + candidate.source.incomplete.front();
  auto none_has = [&](const auto& wanted) {
    return std::none_of(items.begin(), items.end(), [&](const auto& item) { return has(item, wanted); });
  };
  std::vector<std::string> missing;
  for (const auto& group : request.groups)
    if (none_has(group)) missing.push_back(group.name);
  for (const auto& [expression, pattern] : required)
    if (none_has(pattern)) missing.push_back("/" + expression + "/");
  return missing.empty() ? "" : "has nothing for " + text::join(missing, ", ");
}

std::string asked_for(const FindRequest& request) {
  if (!request.run_id.empty()) return "run " + request.run_id;
  if (!request.pull_request.empty()) return "pull request " + request.pull_request;
  if (!request.commit.empty()) return "commit " + request.commit;
  return request.branch.empty() ? "the default branch" : "branch " + request.branch;
}

} // namespace

Result<FindResult> find_run(const FindRequest& request, const forge::GitHub& github,
                            const store::Surroundings& surroundings) {
  TRY(auto required, patterns_of(request));
  TRY(auto runs, runs_of(request, github));
  FindResult result;
  for (auto& run : runs) {
    auto id = run.facts.id;
    TRY(auto candidate, candidate_of(request, std::move(run), surroundings));
    TRY_DO(look_at(request, candidate), fmt::format("while looking at run {}", id));
    candidate.lacks = lack_of(request, candidate, required);
    if (candidate.lacks.empty()) {
      result.found = std::move(candidate);
      break;
    }
    result.passed_over.push_back(std::move(candidate));
  }
  return result;
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
  auto runs = result.passed_over.size();
  auto who = runs == 1 ? fmt::format("the one run for {} does not have", of)
                       : fmt::format("none of {} runs for {} has", runs, of);
  error.message = fmt::format("{} the artifacts for {}", who, request.platform);
  for (const auto& candidate : result.passed_over) {
    if (error.details.size() == k_shown_max) break;
    const auto& run = candidate.run;
    error.details.push_back(fmt::format("run {}  {}  {}", run.facts.id,
                                        run.conclusion.empty() ? run.status : run.conclusion, candidate.lacks));
  }
  error.hint = "look at more runs with `--limit`, or ask for less";
  return error;
}

} // namespace quarry::artifact
