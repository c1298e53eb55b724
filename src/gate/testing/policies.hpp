#pragma once
// Policies for tests.
#include "gate/policy.hpp"
#include <gtest/gtest.h>
#include <string>

namespace quarry::gate::testing {

/// The policy `p`: results count for 14 days. `more` is appended to these first lines: keys, then tables.
inline Policy parsed_policy(const std::string& more) {
  auto parsed = parse_policy({"schema = \"quarry.policy/1\"\nname = \"p\"\nmax_age = \"14d\"\n" + more, "p.toml"});
  EXPECT_TRUE(parsed) << render(parsed.error());
  return *parsed;
}

} // namespace quarry::gate::testing
