#pragma once
// `evidence expect`: says beside the evidence that a job is to test a cell, and how far it has come, so that a gate can
// tell a job that never ran from one that nobody started.
#include "base/result.hpp"
#include "registry/attempts.hpp"
#include "store/object_store.hpp"
#include <string>
#include <string_view>
#include <vector>

namespace quarry::trial {

/// "linux/gfx94X-dcgpu/3.12", "linux/gfx94X-dcgpu/3.12/torch", "linux//3.12/jax/cpu": platform, family, Python,
/// framework, backend; parts may be empty, the last ones absent. invalid_argument X018.
Result<registry::Cell> parse_cell(std::string_view text);

struct Expected {
  std::string cell, suite;
  std::vector<registry::SetDigest> sets; ///< that the job tests
  std::string job;                       ///< its page; user information, query and fragment are left out
  std::string runner;                    ///< label of its machine; empty: nobody has one
  std::string state;                     ///< a word of registry::AttemptState, or GitHub's `success` and `failure`
  std::int64_t now_us = 0;
};
struct Announced {
  registry::AttemptRecord attempt;
  Sha256 digest;
};
/// Writes the record. invalid_argument X018 (cell), X019 (suite, job, state or sets). One request for each set.
Result<Announced> expect(const Expected& expected, store::ObjectStore& store);

} // namespace quarry::trial
