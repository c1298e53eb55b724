#include "cli/reviewed.hpp"

#include "cli/testing/world.hpp"
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {
namespace {

const registry::PlanDigest k_reviewed_plan(sha256("a plan"));

/// Prints how it would name its plan, and checks what `--execute` names.
Command planned_command() {
  return {.path = {"move"},
          .summary = "moves things",
          .description = "",
          .operands = {},
          .flags = {{.name = "--execute", .value = "DIGEST", .help = "the plan"},
                    {.name = "--dry-run", .value = "", .help = "look"}},
          .examples = {},
          .exit_codes = {},
          .schema = "quarry.move/1",
          .run = [](Context& context, const Arguments& arguments) -> Result<int> {
            TRY_DO(check_execute(context, arguments));
            TRY_DO(check_reviewed(arguments, k_reviewed_plan));
            context.out.note("next: " + digits_to_paste(context.out, k_reviewed_plan));
            context.out.document(Json::object());
            return 0;
          }};
}

class ReviewedDigest : public ::testing::Test {
protected:
  int run(const std::vector<std::string>& words) { return world_.run({planned_command()}, words); }
  testing::TestWorld world_;
  const std::string all_ = k_reviewed_plan.hex(), some_ = all_.substr(0, registry::k_plan_digits_min);
};

TEST_F(ReviewedDigest, IsPrintedWholeUnlessAPersonReadsIt) {
  EXPECT_EQ(run({"move"}), 0);
  EXPECT_EQ(world_.err, "next: " + all_ + "\n");
  world_.is_terminal = true;
  EXPECT_EQ(run({"move", "--color", "never"}), 0);
  EXPECT_EQ(world_.err, "next: " + some_ + "\n");
  EXPECT_EQ(run({"move", "--color", "never", "--json"}), 0);
  EXPECT_EQ(world_.err, "next: " + all_ + "\n");
}

TEST_F(ReviewedDigest, IsGivenWholeByAScript) {
  EXPECT_EQ(run({"move", "--execute", all_}), 0);
  EXPECT_EQ(run({"move", "--execute", some_}), 2);
  EXPECT_NE(world_.err.find("[O005]"), std::string::npos) << world_.err;
  EXPECT_NE(world_.err.find("16 of the 64 digits"), std::string::npos) << world_.err;
  EXPECT_EQ(run({"move", "--execute", all_.substr(0, 63)}), 2);
  world_.is_terminal = true;
  EXPECT_EQ(run({"move", "--execute", some_}), 0);
  EXPECT_EQ(run({"move", "--execute", some_, "--json"}), 2);
  EXPECT_EQ(run({"move", "--execute", all_, "--json"}), 0);
  EXPECT_EQ(run({"move", "--execute", some_.substr(1)}), 2) << "too few for anybody";
}

TEST_F(ReviewedDigest, ExcludesADryRun) {
  EXPECT_EQ(run({"move", "--execute", some_, "--dry-run"}), 2);
  EXPECT_NE(world_.err.find("[O006]"), std::string::npos) << world_.err;
}

} // namespace
} // namespace quarry::cli
