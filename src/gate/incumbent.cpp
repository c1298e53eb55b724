#include "gate/incumbent.hpp"

#include "base/text.hpp"
#include <fmt/core.h>

namespace quarry::gate {

IncumbentAnswer incumbent_rule(const IncumbentQuestion& asked) {
  bool built = text::lower(asked.build_result) == "success", passed = text::lower(asked.test_result) == "success";
  if (asked.ref.starts_with("release/therock-"))
    return {true, fmt::format("{} is a release branch", asked.ref), !built || !passed};
  if (!built) return {false, "the build did not succeed"};
  if (!asked.runner.empty() && !passed) return {false, fmt::format("the tests on {} did not succeed", asked.runner)};
  if (asked.runner.empty() && asked.bypass.empty())
    return {false, "there is neither a machine for tests nor a bypass of them"};
  if (asked.runner.empty()) return {true, "there is no machine, and tests are bypassed", !passed};
  return {true, "the tests succeeded"};
}

} // namespace quarry::gate
