#pragma once
// What GitHub knows about workflow runs, commits and pull requests: GET requests of its REST API (docs.github.com,
// "REST API endpoints for workflow runs", "… for commits", "… for pull requests", "Rate limits for the REST API";
// version 2022-11-28). Thread-safe. Errors: unavailable Y002 (limit of requests: when it ends), unauthenticated Y003
// (the token is refused) and Y005 (it may not), not_found Y004, unavailable Y006 (an answer that is not GitHub's), and
// H00x of the network.
#include "base/result.hpp"
#include "forge/access.hpp"
#include "net/fetch.hpp"
#include "run/github.hpp"
#include <memory>
#include <string>
#include <vector>

namespace quarry::forge {

struct Run {
  run::WorkflowRun facts; ///< by which buckets are chosen
  std::string workflow;   ///< file name, "ci.yml"
  std::string title;      ///< `run-name` of the workflow, or what started it
  std::string branch, commit, event;
  std::string status;     ///< "completed", "in_progress", …
  std::string conclusion; ///< "success", "failure", …; empty while it runs
  std::string created_at, html_url;
};

struct RunQuery {
  std::string repository; ///< "owner/name"
  std::string workflow;   ///< file name; empty: all
  std::string commit;     ///< 40 hex digits, or empty
  std::string branch;     ///< or empty
  bool successful = false;
  std::size_t limit = 50; ///< at most k_runs_max
};
constexpr std::size_t k_runs_max = 1000; ///< GitHub gives no more for one search

class GitHub {
public:
  GitHub(Access access, std::shared_ptr<net::Transport> transport, const sys::Clock& clock)
      : access_(std::move(access)), transport_(std::move(transport)), clock_(clock) {}

  Result<Run> run(const std::string& repository, const std::string& id) const;
  Result<std::vector<Run>> runs(const RunQuery& query) const; ///< newest first
  /// The whole name of a commit, from its beginning, a branch or a tag.
  Result<std::string> commit(const std::string& repository, const std::string& reference) const;
  /// The newest commit of a pull request's branch, which its runs are of (also where they test a merge).
  Result<std::string> pull_request_head(const std::string& repository, const std::string& number) const;
  Result<std::string> default_branch(const std::string& repository) const;

private:
  struct Question {
    std::string path, query;
    std::string what; ///< what is asked for, for errors
    std::string accept = "application/vnd.github+json";
  };
  Result<std::string> get(const Question& question) const;
  Access access_;
  std::shared_ptr<net::Transport> transport_;
  const sys::Clock& clock_;
};

} // namespace quarry::forge
