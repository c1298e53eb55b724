#pragma once
// Parts of a suite: several jobs run one each, and a gate counts them when all of a run have passed
// (docs/formats/evidence.md, "Shards").
#include "base/result.hpp"
#include "registry/records.hpp"
#include "trial/suite.hpp"
#include "venv/environment.hpp"
#include <string>

namespace quarry::trial {

struct ShardRequest {
  std::string part; ///< `2/4`: the second of four
  std::string run;  ///< what the shards of one run have in common
};

/// The shard that `request` names. Fails with invalid_argument X029 if `part` is not such a pair, if the suite's
/// definition has another number of shards or none, or if `run` is empty. Pure.
Result<registry::Shard> shard_of(const SuiteDefinition& suite, const ShardRequest& request);
/// Tells the suite's programs of the shard as GoogleTest reads it: GTEST_TOTAL_SHARDS, GTEST_SHARD_INDEX from 0.
void add_shard(const registry::Shard& shard, venv::Variables& variables);

} // namespace quarry::trial
