#include "artifact/find_run.hpp"

#include "store/object_store.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "sys/tree.hpp"
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::artifact {
namespace {

using ::testing::ElementsAre;

/// GitHub with two runs of one branch; the newer one is 43.
class TwoRuns final : public net::Transport {
public:
  std::string newer_conclusion = "success";
  net::Answer send(const net::Request& request) override {
    auto run = [](int id, const std::string& conclusion) {
      return fmt::format(
          R"({{"id":{0},"path":".github/workflows/ci.yml","status":"completed","conclusion":"{1}",)"
          R"("head_branch":"main","head_sha":"{2}","event":"push","created_at":"2026-01-{0}T00:00:00Z",)"
          R"("updated_at":"2026-01-20T00:00:00Z","html_url":"https://github.com/o/r/runs/{0}",)"
          R"("repository":{{"full_name":"ROCm/TheRock"}},"head_repository":{{"full_name":"ROCm/TheRock"}}}})",
          id, conclusion, std::string(40, 'a'));
    };
    auto body = request.url.path.ends_with("/runs")
                    ? fmt::format(R"({{"workflow_runs":[{},{}]}})", run(13, newer_conclusion), run(12, "success"))
                    : std::string(R"({"default_branch":"main"})");
    return net::Response{200, {}, body};
  }
};

class FindRun : public ::testing::Test {
protected:
  void SetUp() override {
    root_ = *sys::make_temporary_directory(::testing::TempDir(), "find-run-");
    request_.repository = "ROCm/TheRock";
    request_.platform = Platform::linux;
    request_.store = root_;
    leave(12, "blas_lib_gfx94X-dcgpu.tar.zst");
    leave(12, "base_lib_generic.tar.zst");
  }
  void TearDown() override { EXPECT_TRUE(sys::remove_tree(root_)); }

  void leave(int run, const std::string& archive) {
    auto store = std::move(*store::open_file_store(root_));
    ASSERT_TRUE(store->put(fmt::format("{}-linux/{}", run, archive), content::Rope::literal("x"), {}));
  }
  FindResult find() {
    forge::GitHub github({net::parse_url("https://api.github.com").value(), "", "none"}, github_, clock_);
    auto result = find_run(request_, github, {{}, clock_});
    EXPECT_TRUE(result) << render(result.error());
    return result ? std::move(*result) : FindResult();
  }

  sys::FixedClock clock_{1'769'000'000'000'000};
  std::shared_ptr<TwoRuns> github_ = std::make_shared<TwoRuns>();
  std::string root_;
  FindRequest request_;
};

TEST_F(FindRun, TheNewestRunThatLacksNothing) {
  auto result = find();
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->run.facts.id, "12");
  ASSERT_EQ(result.passed_over.size(), 1u);
  EXPECT_EQ(result.passed_over[0].lacks, "has no artifacts");
  leave(13, "base_lib_generic.tar.zst");
  EXPECT_EQ(find().found->run.facts.id, "13");
}

TEST_F(FindRun, ARunMustHaveEachGroupAndEachExpression) {
  leave(13, "base_lib_generic.tar.zst");
  request_.groups = {{"gfx94X-dcgpu", {"gfx942"}}};
  request_.required = {"blas_lib_.*"};
  auto result = find();
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->run.facts.id, "12");
  EXPECT_EQ(result.passed_over.at(0).lacks, "has nothing for gfx94X-dcgpu, /blas_lib_.*/");
  leave(13, "blas_lib_gfx942.tar.zst"); // split by target: one of the family's targets stands for it
  EXPECT_EQ(find().found->run.facts.id, "13");
}

TEST_F(FindRun, ARunThatFailedIsPassedOverOnRequest) {
  leave(13, "base_lib_generic.tar.zst");
  github_->newer_conclusion = "failure";
  EXPECT_EQ(find().found->run.facts.id, "13");
  request_.good = true;
  EXPECT_EQ(find().passed_over.at(0).lacks, "did not succeed");
}

TEST_F(FindRun, WhereNothingFitsEachRunSaysWhatItLacks) {
  request_.required = {"nothing"};
  auto result = find();
  EXPECT_FALSE(result.found);
  auto error = nothing_found(request_, result);
  EXPECT_EQ(error.code, "Y010");
  EXPECT_THAT(error.details,
              ElementsAre("run 13  success  has no artifacts", "run 12  success  has nothing for /nothing/"));
  EXPECT_TRUE(error.message.starts_with("none of 2 runs for ")) << error.message;
  result.passed_over.pop_back();
  error = nothing_found(request_, result);
  EXPECT_TRUE(error.message.starts_with("the one run for ")) << error.message;
}

} // namespace
} // namespace quarry::artifact
