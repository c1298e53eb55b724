#pragma once
// Private to the room.
// Several jobs may run a part of a suite each. What their records say together (docs/formats/evidence.md, "Shards").
#include "gate/results.hpp"

namespace quarry::gate {

/// Replaces the shards that have passed. Where the newest result of each shard of a run is a pass, they become one
/// result, of the time of the oldest of these; else they are refused, and the reason names the shards that have not
/// passed. A shard that has failed stays a result of its own, unless it has passed since in the same run and the policy
/// goes by the latest result. `sorted` is in order before and afterwards. Pure.
void join_shards(const Question& question, Sorted& sorted);

} // namespace quarry::gate
