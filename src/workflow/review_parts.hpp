#pragma once
// Private to the room.
// The parts of a review; each adds to `review`. Pure.
#include "workflow/review.hpp"

namespace quarry::workflow {

struct Sides {
  const Repository& before;
  const Repository& after;
  const ReviewOptions& options;
};
void review_claims(const Sides& sides, Review& review);   ///< Y161, Y162, Y163
void review_mentions(const Sides& sides, Review& review); ///< Y163
void review_changes(const Sides& sides, Review& review);  ///< Y164, Y165, Y166, Y167: what changed
void plan_tests(const Sides& sides, Review& review);      ///< the test plan

} // namespace quarry::workflow
