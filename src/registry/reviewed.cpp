#include "registry/reviewed.hpp"

#include <fmt/core.h>

namespace quarry::registry {

Result<ReviewedPlan> ReviewedPlan::parse(std::string digits) {
  bool hex = digits.find_first_not_of("0123456789abcdef") == digits.npos;
  if (hex && digits.size() >= k_plan_digits_min && digits.size() <= PlanDigest::k_digits)
    return ReviewedPlan(std::move(digits));
  return fail(
      ErrorKind::invalid_argument, "O005", fmt::format("`{}` is not the digest of a plan", digits),
      fmt::format("`--dry-run` prints it; at a terminal its first {} digits or more are enough", k_plan_digits_min));
}

} // namespace quarry::registry
