#pragma once
// What a person gives to --execute: the digest of the plan that was looked at, or its first digits. Pure.
#include "base/result.hpp"
#include "registry/digests.hpp"
#include <string>

namespace quarry::registry {

class ReviewedPlan {
public:
  /// invalid_argument O005 for anything but k_plan_digits_min to 64 digits of a digest.
  static Result<ReviewedPlan> parse(std::string digits);
  explicit ReviewedPlan(const PlanDigest& digest) : digits_(digest.hex()) {} ///< must not be empty

  /// Whether this plan was looked at. An empty digest is of a move without a plan: false.
  bool names(const PlanDigest& plan) const { return !plan.empty() && plan.hex().starts_with(digits_); }
  const std::string& digits() const { return digits_; }

private:
  explicit ReviewedPlan(std::string digits) : digits_(std::move(digits)) {}
  std::string digits_;
};

} // namespace quarry::registry
