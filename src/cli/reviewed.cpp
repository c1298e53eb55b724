#include "cli/reviewed.hpp"

#include "registry/reviewed.hpp"
#include <fmt/core.h>

namespace quarry::cli {

Result<void> check_execute(const Arguments& arguments) {
  if (!arguments.has("--dry-run") || !arguments.has("--execute")) return {};
  return fail(ErrorKind::invalid_argument, "O006", "--dry-run and --execute exclude each other",
              "look first, then execute the digest that is printed");
}

Result<void> check_reviewed(const Arguments& arguments, const registry::PlanDigest& plan) {
  if (!arguments.has("--execute")) return {};
  TRY(auto reviewed, registry::ReviewedPlan::parse(arguments.get("--execute")));
  if (reviewed.names(plan)) return {};
  return fail(Error::of(ErrorKind::precondition_failed, "O011",
                        "the plan that was reviewed is not the plan that would be executed now")
                  .with_detail("reviewed  " + reviewed.digits())
                  .with_detail("now       " + plan.hex())
                  .with_hint("nothing was changed: look at `--dry-run` again, then execute its digest"));
}

} // namespace quarry::cli
