#include "cli/reviewed.hpp"

#include "registry/digests.hpp"
#include <fmt/core.h>

namespace quarry::cli {

Result<void> check_execute(const Arguments& arguments) {
  if (!arguments.has("--dry-run") || !arguments.has("--execute")) return {};
  return fail(ErrorKind::invalid_argument, "O006", "--dry-run and --execute exclude each other",
              "look first, then execute the digest that is printed");
}

Result<void> check_reviewed(const Arguments& arguments, const std::string& digest) {
  if (!arguments.has("--execute")) return {};
  auto digits = arguments.get("--execute");
  bool hex = digits.find_first_not_of("0123456789abcdef") == digits.npos;
  if (digits.size() < registry::k_plan_digits_min || digits.size() > digest.size() || !hex)
    return fail(ErrorKind::invalid_argument, "O005", fmt::format("`{}` is not the digest of a plan", digits),
                "`--dry-run` prints it");
  if (digest.starts_with(digits)) return {};
  return fail(Error::of(ErrorKind::precondition_failed, "O011",
                        "the plan that was reviewed is not the plan that would be executed now")
                  .with_detail("reviewed  " + digits)
                  .with_detail("now       " + digest)
                  .with_hint("nothing was changed: look at `--dry-run` again, then execute its digest"));
}

} // namespace quarry::cli
