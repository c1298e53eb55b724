#pragma once
// Private to the room.
// What plans of promotions and of rollbacks have in common.
#include "promote/plan.hpp"
#include <string>
#include <vector>

namespace quarry::promote {

using registry::is_lost;

constexpr unsigned k_looks = 8; // at once: a server answers them in a millisecond each

/// A file that a channel is about to show, and who names it.
struct Wanted {
  const registry::FileRecord* file = nullptr;
  std::string named_by; ///< "set:1f2e…", "the view of generation 3"
};

/// Whether the store holds these files whole, by their sizes: a page must never name what is not there. Bytes were
/// proven when the set was sealed; what can have happened since is removal. Fails with corrupt O003. One listing for
/// each directory, eight at the same time.
Result<void> check_presence(store::ObjectReader& store, const std::vector<Wanted>& files);

/// As plan_promotion(), judged at this time instead of the request's.
Result<Plan> plan_promotion_at(store::ObjectReader& store, const Request& request, std::int64_t now_us);

} // namespace quarry::promote
