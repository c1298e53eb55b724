#include "run/github.hpp"

#include "sys/clock.hpp"
#include <gtest/gtest.h>

namespace quarry::run {
namespace {

TEST(WorkflowRun, ReadsWhatMatters) {
  auto run = parse_workflow_run({
      R"({"id": 19680190301, "updated_at": "2025-11-25T12:00:00Z", "repository": {"full_name": "ROCm/TheRock"},
    "head_repository": {"full_name": "someone/TheRock"}, "name": "CI"})",
      "run.json"});
  ASSERT_TRUE(run) << render(run.error());
  EXPECT_EQ(run->id, "19680190301");
  EXPECT_EQ(run->repository, "ROCm/TheRock");
  EXPECT_EQ(run->head_repository, "someone/TheRock");
  EXPECT_EQ(run->updated_at_us, *sys::parse_rfc3339("2025-11-25T12:00:00Z"));
}

TEST(WorkflowRun, ADeletedForkIsKnown) {
  auto run = parse_workflow_run({R"({"head_repository": null})", "run.json"});
  ASSERT_TRUE(run);
  EXPECT_EQ(run->head_repository, "");
  EXPECT_EQ(run->id, "");
  EXPECT_FALSE(run->updated_at_us);
}

TEST(WorkflowRun, AReleaseSaysItsType) {
  auto aug = [](ReleaseRun run) { return release_type_of(run, Era::aug); };
  EXPECT_EQ(aug({"multi_arch_release.yml", "Multi-Arch Release (nightly-bkc) | Linux: all | Windows: none", ""}),
            "nightly-bkc");
  EXPECT_EQ(aug({"multi_arch_release_asan.yml", "Multi-Arch Release ASAN", "workflow_dispatch"}), "dev");
  EXPECT_EQ(aug({"multi_arch_release.yml", "Multi-Arch Release", "schedule"}), "nightly");
  EXPECT_EQ(aug({"multi_arch_ci.yml", "Fix the build (nightly)", "push"}), "");
  EXPECT_EQ(aug({"multi_arch_release.yml", "Fix the build (nightly)", "push"}), "dev") << "a commit's title";
  EXPECT_EQ(aug({"multi_arch_release.yml", "Repair (nightly)", "pull_request_target"}), "dev");
  EXPECT_EQ(aug({"multi_arch_release.yml", "prerelease of nightly", "schedule"}), "nightly") << "not in parentheses";
  EXPECT_EQ(aug({"multi_arch_release.yml", "a ) b ( nightly", "workflow_dispatch"}), "dev");
  auto title = "Release portable Linux packages (gfx94X,gfx110X, prerelease)";
  EXPECT_EQ(release_type_of({"release_portable_linux_packages.yml", title, ""}, Era::feb), "prerelease");
}

TEST(WorkflowRun, RefusesOtherDocuments) {
  struct Case {
    const char *json, *code;
  };
  for (auto c :
       {Case{"", "B002"}, Case{"[]", "L021"}, Case{"{}", "L021"}, Case{R"({"head_repository": {}})", "L021"},
        Case{R"({"head_repository": "a/b"})", "L021"}, Case{R"({"head_repository": {"full_name": "a"}})", "L022"},
        Case{R"({"head_repository": null, "id": "42"})", "L021"},
        Case{R"({"head_repository": null, "updated_at": 7})", "L021"},
        Case{R"({"head_repository": null, "updated_at": "yesterday"})", "L021"},
        Case{R"({"head_repository": null, "repository": 1})", "L021"},
        Case{R"({"head_repository": null, "head_repository": null})", "B002"}}) {
    auto run = parse_workflow_run({c.json, "run.json"});
    ASSERT_FALSE(run) << c.json;
    EXPECT_EQ(run.error().code, c.code) << c.json;
  }
}

constexpr const char* k_fork = R"({"pull_request": {"head": {"repo": {"fork": true}}}})";
constexpr const char* k_branch = R"({"pull_request": {"head": {"repo": {"fork": false}}}})";
constexpr const char* k_deleted = R"({"pull_request": {"head": {"repo": null}}})";

TEST(Event, HasLabelsAndTheCommitBefore) {
  auto pull = parse_event({R"({"pull_request":{"labels":[{"name":"CI:Skip","color":"fff"},{"name":"gfx94X"}]}})", "x"});
  EXPECT_EQ(pull->labels, (std::vector<std::string>{"ci:skip", "gfx94x"}));
  EXPECT_EQ(parse_event({R"({"before":"0123"})", "x"})->before, "0123");
  EXPECT_EQ(parse_event({R"({"before":"0000000000"})", "x"})->before, "") << "the branch is new";
  EXPECT_EQ(parse_event({R"({"before":null})", "x"})->before, std::nullopt);
  EXPECT_EQ(parse_event({"[]", "x"}).error().code, "L021");
  EXPECT_EQ(parse_event({R"({"pull_request":{"labels":{}}})", "x"}).error().code, "L021");
  EXPECT_EQ(parse_event({R"({"pull_request":{"labels":[{"id":1}]}})", "x"}).error().code, "B003");
}

TEST(Fork, EachEraLooksWhereItLooked) {
  struct Case {
    Era era;
    const char *event, *payload, *variable;
    bool fork;
  };
  for (auto c : {Case{Era::feb, "pull_request", k_fork, "", false},
                 Case{Era::feb, "", nullptr, "true", true},
                 Case{Era::feb, "", nullptr, "false", false},
                 Case{Era::feb, "", nullptr, "True", true},
                 Case{Era::feb, "", nullptr, "1", true},
                 Case{Era::feb, "", nullptr, "", false},
                 Case{Era::aug, "pull_request", k_fork, "", true},
                 Case{Era::aug, "pull_request_target", k_fork, "", false},
                 Case{Era::aug, "pull_request_target", k_deleted, "true", false},
                 Case{Era::quarry, "pull_request_target", k_fork, "", false},
                 Case{Era::quarry, "pull_request_target", nullptr, "true", true},
                 Case{Era::aug, "pull_request", k_branch, "true", false},
                 Case{Era::aug, "pull_request", k_deleted, "", true},
                 Case{Era::aug, "push", nullptr, "true", false},
                 Case{Era::aug, "workflow_dispatch", k_fork, "", false},
                 Case{Era::quarry, "pull_request", k_branch, "", false},
                 Case{Era::quarry, "pull_request", k_branch, "true", true},
                 Case{Era::quarry, "pull_request", k_fork, "false", true},
                 Case{Era::quarry, "pull_request", nullptr, "false", false},
                 Case{Era::quarry, "", nullptr, "true", true}}) {
    auto fork = is_fork({c.event, c.payload ? std::optional<std::string>(c.payload) : std::nullopt, c.variable}, c.era);
    ASSERT_TRUE(fork) << render(fork.error());
    EXPECT_EQ(*fork, c.fork) << to_string(c.era) << " " << c.event << " " << (c.payload ? c.payload : "-") << " "
                             << c.variable;
  }
}

TEST(Fork, NeverGuesses) {
  EXPECT_EQ(is_fork({"pull_request", std::nullopt, ""}, Era::aug).error().code, "L025");
  EXPECT_EQ(is_fork({"pull_request", std::nullopt, ""}, Era::quarry).error().code, "L025");
  EXPECT_EQ(is_fork({"", std::nullopt, "maybe"}, Era::feb).error().code, "L025");
  for (auto bad : {"{}", "[]", R"({"pull_request": {"head": {}}})", R"({"pull_request": {"head": {"repo": {}}}})",
                   R"({"pull_request": {"head": {"repo": {"fork": "true"}}}})"})
    EXPECT_EQ(is_fork({"pull_request", bad, ""}, Era::aug).error().code, "L021") << bad;
}

} // namespace
} // namespace quarry::run
