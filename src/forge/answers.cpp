#include "forge/answers.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::forge {

namespace {
constexpr std::size_t k_message_bytes_max = 300;  // GitHub's sentences have about 100
constexpr std::uint64_t k_reset_max = 1ull << 40; // seconds; keeps the product small

/// GitHub's own sentence, as one line.
std::string message_of(const net::Response& response) {
  auto body = json::parse({response.body, "the answer"});
  if (!body || !body->is_object()) return {};
  auto message = json::string_or(*body, "message", "").substr(0, k_message_bytes_max);
  for (auto& c : message)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  return message;
}

bool is_limit(const net::Response& response) {
  if (response.status != 403 && response.status != 429) return false;
  return response.status == 429 || net::header(response.headers, "x-ratelimit-remaining") == "0" ||
         !net::header(response.headers, "retry-after").empty() ||
         text::lower(message_of(response)).find("rate limit") != std::string::npos;
}

/// Microseconds since 1970 when GitHub takes requests again; nullopt: it does not say.
std::optional<std::int64_t> reset_of(const net::Response& response, std::int64_t now_us) {
  auto seconds = [&](const char* name) { return text::parse_u64(net::header(response.headers, name)); };
  if (auto wait = seconds("retry-after"); wait && *wait < k_reset_max)
    return now_us + static_cast<std::int64_t>(*wait) * 1'000'000;
  auto reset = seconds("x-ratelimit-reset");
  if (!reset || *reset >= k_reset_max) return std::nullopt;
  return static_cast<std::int64_t>(*reset) * 1'000'000;
}

Error limit_reached(const net::Response& response, const Asked& asked) {
  auto error = Error::of(ErrorKind::unavailable, "Y002", "GitHub's limit of requests is reached");
  auto limit = net::header(response.headers, "x-ratelimit-limit");
  if (text::parse_u64(limit)) error.details.push_back(fmt::format("limit     {} requests an hour", limit));
  if (auto reset = reset_of(response, asked.now_us)) {
    auto wait = std::max<std::int64_t>(0, *reset - asked.now_us) / 1'000'000;
    error.details.push_back(fmt::format("ends      {}, in {}", sys::rfc3339(*reset - *reset % 1'000'000),
                                        units::seconds(static_cast<double>(wait))));
  }
  error.details.push_back("token     " + asked.token_source);
  bool anonymous = asked.token_source == "none";
  error.hint =
      anonymous ? "set GH_TOKEN (5,000 requests an hour instead of 60), or run it again then" : "run it again then";
  return error;
}

Error with_message(Error error, const net::Response& response) {
  if (auto message = message_of(response); !message.empty()) error.details.push_back("GitHub says  " + message);
  return error;
}

std::string member(const Json& object, std::string_view key) {
  auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}
} // namespace

std::optional<Error> refusal_of(const net::Response& response, const Asked& asked) {
  if (response.ok()) return std::nullopt;
  bool anonymous = asked.token_source == "none";
  if (is_limit(response)) return limit_reached(response, asked);
  switch (response.status) {
  case 401:
    if (anonymous)
      return with_message({ErrorKind::unauthenticated,
                           "Y003",
                           fmt::format("GitHub wants a token for {}", asked.what),
                           {},
                           {},
                           "set GH_TOKEN, or log in with `gh auth login`"},
                          response);
    return with_message({ErrorKind::unauthenticated,
                         "Y003",
                         fmt::format("GitHub refuses the token of {}", asked.token_source),
                         {},
                         {},
                         "take a valid one, or unset it: public repositories need none"},
                        response);
  case 404:
  case 422: // a commit that is not there
    return with_message({ErrorKind::not_found,
                         "Y004",
                         fmt::format("GitHub knows no {}", asked.what),
                         {},
                         {},
                         anonymous ? "check the name; a private repository needs GH_TOKEN"
                                   : "check the name, and whether the token may read that repository"},
                        response);
  case 403:
    return with_message({ErrorKind::unauthenticated,
                         "Y005",
                         fmt::format("GitHub does not allow to read {}", asked.what),
                         {"token     " + asked.token_source},
                         {},
                         "give the token `actions: read` and `contents: read` for that repository"},
                        response);
  default:
    return with_message({ErrorKind::unavailable,
                         "Y006",
                         fmt::format("GitHub answers with status {} for {}", response.status, asked.what),
                         {},
                         {},
                         "run it again later; the state of the service is at its status page"},
                        response);
  }
}

Result<Run> parse_run(const Json& object, const std::string& what) {
  if (!object.is_object())
    return fail(ErrorKind::unavailable, "Y006", fmt::format("the answer about {} is not a workflow run", what),
                "look at GITHUB_API_URL, or at the proxy on the way");
  TRY(auto canonical, json::canonical(object));
  Run run;
  auto facts = run::parse_workflow_run({canonical, what});
  if (!facts)
    return fail(ErrorKind::unavailable, "Y006", "the answer is not a workflow run: " + facts.error().message,
                "look at GITHUB_API_URL, or at the proxy on the way");
  run.facts = std::move(*facts);
  if (run.facts.id.empty())
    return fail(ErrorKind::unavailable, "Y006", fmt::format("the answer about {} has no id", what));
  auto path = member(object, "path"); // ".github/workflows/ci.yml@refs/heads/main"
  path = path.substr(0, path.find('@'));
  run.workflow = path.substr(path.rfind('/') + 1);
  for (auto [key, value] : {std::pair{"head_branch", &run.branch},
                            {"head_sha", &run.commit},
                            {"display_title", &run.title},
                            {"event", &run.event},
                            {"status", &run.status},
                            {"conclusion", &run.conclusion},
                            {"created_at", &run.created_at},
                            {"html_url", &run.html_url}})
    *value = member(object, key);
  return run;
}

} // namespace quarry::forge
