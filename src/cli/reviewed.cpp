#include "cli/reviewed.hpp"

#include "registry/reviewed.hpp"
#include <fmt/core.h>

namespace quarry::cli {

namespace {
bool is_read_by_a_person(const Output& out) { return out.data_look().columns > 0 && !out.json(); }
} // namespace

Result<void> check_execute(const Context& context, const Arguments& arguments) {
  if (!arguments.has("--execute")) return {};
  if (arguments.has("--dry-run"))
    return fail(ErrorKind::invalid_argument, "O006", "--dry-run and --execute exclude each other",
                "look first, then execute the digest that is printed");
  TRY(auto reviewed, registry::ReviewedPlan::parse(arguments.get("--execute")));
  constexpr auto k_all = registry::PlanDigest::k_digits;
  if (reviewed.digits().size() == k_all || is_read_by_a_person(context.out)) return {};
  return fail(ErrorKind::invalid_argument, "O005",
              fmt::format("`--execute {}` has {} of the {} digits of a plan's digest, and standard output is not a "
                          "terminal",
                          reviewed.digits(), reviewed.digits().size(), k_all),
              "a script gives all of them: `plan` of the document that `--dry-run --json` prints, or its `next:` line");
}

std::string digits_to_paste(const Output& out, const registry::PlanDigest& plan) {
  bool person = is_read_by_a_person(out) && out.note_look().columns > 0; // `next:` may be on either stream
  return person ? plan.hex().substr(0, registry::k_plan_digits_min) : plan.hex();
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
