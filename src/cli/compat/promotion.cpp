#include "cli/compat/script.hpp"
#include "gate/incumbent.hpp"

#include <nlohmann/json.hpp>

namespace quarry::cli::compat {

namespace {

Result<int> promote_by_rule(Context& context, const Arguments&) {
  auto variable = [&](const char* name) { return context.variable(name); };
  auto answer = gate::incumbent_rule({variable("BUILD_RESULT"), variable("TEST_RESULT"), variable("TEST_RUNS_ON"),
                                      variable("BYPASS_TESTS_FOR_RELEASES"), variable("GITHUB_REF_NAME")});
  std::string upload = answer.upload ? "true" : "false";
  context.out.data("upload=" + upload + "\n");
  context.out.note(answer.why);
  if (answer.untested)
    context.out.note("no test has passed on these wheels; `quarry gate` decides from evidence of their files");
  TRY_DO(tell_job(context, "GITHUB_ENV", {{"upload", upload}}));
  context.out.document({{"upload", answer.upload}, {"why", answer.why}, {"untested", answer.untested}});
  return 0;
}

Script promotion_script() {
  return {.name = "promote_wheels_based_on_policy",
          .summary = "whether wheels are to be promoted, by TheRock's rule of February 2026",
          .description =
              "Reads BUILD_RESULT, TEST_RESULT, TEST_RUNS_ON, BYPASS_TESTS_FOR_RELEASES and GITHUB_REF_NAME, and "
              "writes `upload=true` or `upload=false` to GITHUB_ENV. It answers as the script did, also where that "
              "opens what failed: a branch release/therock-… is promoted whatever its results are, and any text in "
              "BYPASS_TESTS_FOR_RELEASES counts. A note says when no test has passed.\n\n"
              "The words of a job prove nothing about files. `quarry gate --policy incumbent-feb` asks the same of "
              "evidence.",
          .operands = {},
          .flags = {},
          .refused = {},
          .only_feb = {},
          .only_aug = {},
          .examples = {{"quarry compat promote_wheels_based_on_policy", "upload=true"}},
          .exit_codes = {},
          .schema = "quarry.compat-promotion/1",
          .run = promote_by_rule};
}

} // namespace

std::vector<Command> promotion_scripts() { return {command_of(promotion_script())}; }

} // namespace quarry::cli::compat
