#include "forge/github.hpp"

#include "base/text.hpp"
#include "forge/answers.hpp"
#include "sys/clock.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::forge {

namespace {
constexpr std::uint64_t k_answer_bytes_max = 32u << 20; // 100 runs of about 20 KiB each, with room
constexpr std::uint64_t k_deadline_ms = 60'000;
constexpr std::size_t k_page = 100; // GitHub's largest

// An answer that says "later" is told, not waited for: the limit ends at the full hour.
constexpr net::RetryLimits k_limits{.attempts_max = 4, .elapsed_max_ms = 60'000, .retry_after_max_ms = 10'000};

Unexpected strange(const std::string& what) {
  return fail(ErrorKind::unavailable, "Y006", fmt::format("the answer about {} is not GitHub's", what),
              "look at GITHUB_API_URL, or at the proxy on the way");
}

Result<Json> document(const std::string& body, const std::string& what) {
  auto parsed = json::parse({body, what});
  if (!parsed || !parsed->is_object()) return strange(what);
  return std::move(*parsed);
}

std::string query_of(const RunQuery& query, std::size_t page) {

  auto text = fmt::format("per_page={}&page={}&exclude_pull_requests=true", std::min(k_page, query.limit), page);
  auto add = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) text += fmt::format("&{}={}", name, text::replace_all(text::percent_encode(value), "/", "%2F"));
  };
  add("head_sha", query.commit);
  add("branch", query.branch);
  add("status", query.successful ? "success" : "");
  return text;
}

bool is_commit(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) && text.find_first_not_of("0123456789abcdef") == text.npos;
}
} // namespace

Result<std::string> GitHub::get(const Question& question) const {
  net::Request request;
  request.url = access_.api;
  request.url.path += question.path;
  request.url.query = question.query;
  request.headers = {{"accept", question.accept}, {"x-github-api-version", "2022-11-28"}};
  if (!access_.token.empty()) request.headers.emplace_back("authorization", "Bearer " + access_.token);
  request.response_bytes_max = k_answer_bytes_max;
  request.deadline_ms = k_deadline_ms;
  TRY(auto response, net::fetch(*transport_, request, {k_limits, 3}, clock_),
      "while asking GitHub for " + question.what);
  if (auto refused = refusal_of(response, {question.what, access_.token_source, clock_.now_us()}))
    return fail(std::move(*refused));
  return std::move(response.body);
}

Result<Run> GitHub::run(const std::string& repository, const std::string& id) const {
  TRY_DO(run::check_repository(repository));
  auto what = fmt::format("run {} of {}", id, repository);
  if (!text::parse_u64(id))
    return fail(ErrorKind::not_found, "Y004", fmt::format("GitHub knows no {}: its ids are numbers", what));
  TRY(auto body, get({fmt::format("/repos/{}/actions/runs/{}", repository, id), "", what}));
  TRY(auto object, document(body, what));
  return parse_run(object, what);
}

Result<std::vector<Run>> GitHub::runs(const RunQuery& query) const {
  TRY_DO(run::check_repository(query.repository));
  auto what = fmt::format("{} in {}", query.workflow.empty() ? "workflow runs" : "workflow " + query.workflow,
                          query.repository);
  auto path = fmt::format("/repos/{}/actions/", query.repository);
  if (!query.workflow.empty()) path += fmt::format("workflows/{}/", text::percent_encode(query.workflow));
  auto limit = std::min(query.limit, k_runs_max);
  std::vector<Run> found;
  for (std::size_t page = 1; found.size() < limit; ++page) {
    TRY(auto body, get({path + "runs", query_of(query, page), what}));
    TRY(auto answer, document(body, what));
    if (!answer.contains("workflow_runs") || !answer["workflow_runs"].is_array()) return strange(what);
    const auto& list = answer["workflow_runs"];
    for (const auto& entry : list) {
      TRY(auto run, parse_run(entry, what));
      if (found.size() < limit) found.push_back(std::move(run));
    }
    if (list.size() < std::min(k_page, query.limit)) break;
  }
  std::stable_sort(found.begin(), found.end(), [](const Run& a, const Run& b) { return a.created_at > b.created_at; });
  return found;
}

Result<std::string> GitHub::commit(const std::string& repository, const std::string& reference) const {
  TRY_DO(run::check_repository(repository));
  if (is_commit(reference)) return reference;
  auto what = fmt::format("commit {} in {}", reference, repository);
  TRY(auto body, get({fmt::format("/repos/{}/commits/{}", repository, text::percent_encode(reference)), "", what,
                      "application/vnd.github.sha"}));
  auto sha = std::string(text::trim(body));
  if (!is_commit(sha)) return strange(what);
  return sha;
}

Result<std::string> GitHub::pull_request_head(const std::string& repository, const std::string& number) const {
  TRY_DO(run::check_repository(repository));
  auto what = fmt::format("pull request {} of {}", number, repository);
  if (!text::parse_u64(number))
    return fail(ErrorKind::not_found, "Y004", fmt::format("GitHub knows no {}", what), "they are numbers");
  TRY(auto body, get({fmt::format("/repos/{}/pulls/{}", repository, number), "", what}));
  TRY(auto object, document(body, what));
  auto head = object.find("head");
  auto sha = head != object.end() && head->is_object() ? json::string_or(*head, "sha", "") : std::string();
  if (!is_commit(sha)) return strange(what);
  return sha;
}

Result<std::string> GitHub::default_branch(const std::string& repository) const {
  TRY_DO(run::check_repository(repository));
  auto what = "repository " + repository;
  TRY(auto body, get({"/repos/" + repository, "", what}));
  TRY(auto object, document(body, what));
  auto branch = json::string_or(object, "default_branch", "");
  if (branch.empty()) return strange(what);
  return branch;
}

} // namespace quarry::forge
