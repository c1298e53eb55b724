#include "forge/answers.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace quarry::forge {
namespace {

constexpr std::int64_t k_now = 1'769'000'000'000'000; // 2026-01-21T12:53:20Z

struct Case {
  int status;
  net::Headers headers;
  std::string body, code;
  int exit_code;
};

TEST(Answers, RefusalsByWhatToDo) {
  const Case table[] = {
      {401, {}, R"({"message": "Bad credentials"})", "Y003", 4},
      {404, {}, R"({"message": "Not Found"})", "Y004", 3},
      {422, {}, R"({"message": "No commit found for SHA: abc"})", "Y004", 3},
      {403, {{"x-ratelimit-remaining", "12"}}, R"({"message": "Resource not accessible"})", "Y005", 4},
      {403, {{"x-ratelimit-remaining", "0"}}, "", "Y002", 5},
      {403, {}, R"({"message": "You have exceeded a secondary rate limit"})", "Y002", 5},
      {429, {}, "", "Y002", 5},
      {500, {}, "<html>", "Y006", 5},
      {302, {}, "", "Y006", 5},
  };
  for (const auto& row : table) {
    auto refused = refusal_of({row.status, row.headers, row.body}, {"run 1 of a/b", "none", k_now});
    ASSERT_TRUE(refused) << row.status;
    EXPECT_EQ(refused->code, row.code) << row.status << row.body;
    EXPECT_EQ(traits(refused->kind).exit_code, row.exit_code) << row.status;
  }
  auto asks = [](const std::string& token) {
    return render(*refusal_of({401, {}, "{}"}, {"run 1 of a/b", token, k_now}));
  };
  EXPECT_NE(asks("none").find("wants a token"), std::string::npos);
  EXPECT_NE(asks("GH_TOKEN").find("refuses the token of GH_TOKEN"), std::string::npos);
  EXPECT_FALSE(refusal_of({200, {}, "{}"}, {"run 1 of a/b", "none", k_now}));
}

TEST(Answers, ALimitSaysWhenItEnds) {
  auto of = [](net::Headers headers, const std::string& token) {
    headers.emplace_back("x-ratelimit-remaining", "0");
    return render(*refusal_of({403, std::move(headers), ""}, {"run 1 of a/b", token, k_now}));
  };
  auto text = of({{"x-ratelimit-limit", "60"}, {"x-ratelimit-reset", "1769000600"}}, "none");
  EXPECT_NE(text.find("60 requests an hour"), text.npos) << text;
  EXPECT_NE(text.find("ends      2026-01-21T13:03:20"), text.npos) << text;
  EXPECT_NE(text.find("in 10 min"), text.npos) << text;
  EXPECT_NE(text.find("set GH_TOKEN"), text.npos) << text;
  text = of({{"retry-after", "60"}, {"x-ratelimit-reset", "1769000600"}}, "GH_TOKEN");
  EXPECT_NE(text.find("2026-01-21T12:54:20"), text.npos) << text;
  EXPECT_EQ(text.find("set GH_TOKEN"), text.npos) << text;
  for (auto bad : {"", "soon", "99999999999999999999", "-1"})
    EXPECT_EQ(of({{"x-ratelimit-reset", bad}}, "none").find("ends "), std::string::npos) << bad;
}

TEST(Answers, AMessageOfTheServerStaysOnItsLine) {
  auto refused = refusal_of({401, {}, R"({"message": "one\ntwo\u001b[31m"})"}, {"run", "GH_TOKEN", k_now});
  EXPECT_EQ(refused->details[0], "GitHub says  one two [31m");
}

TEST(Answers, ARunIsReadWithItsWorkflowsFile) {
  auto object = Json::parse(R"({"id": 42, "path": ".github/workflows/ci.yml@refs/heads/a/b", "head_branch": null,
      "head_sha": "abc", "status": "in_progress", "conclusion": null, "updated_at": "2026-01-22T20:33:08Z",
      "repository": {"full_name": "ROCm/TheRock"}, "head_repository": null})");
  auto run = parse_run(object, "run 42");
  ASSERT_TRUE(run);
  EXPECT_EQ(run->facts.id, "42");
  EXPECT_EQ(run->facts.head_repository, "");
  EXPECT_EQ(run->workflow, "ci.yml");
  EXPECT_EQ(run->branch, "");
  EXPECT_EQ(run->conclusion, "");
  for (auto missing : {"id", "head_repository"}) {
    auto less = object;
    less.erase(missing);
    EXPECT_EQ(parse_run(less, "run 42").error().code, "Y006") << missing;
  }
  EXPECT_EQ(parse_run(Json::array(), "run 42").error().code, "Y006");
}

} // namespace
} // namespace quarry::forge
