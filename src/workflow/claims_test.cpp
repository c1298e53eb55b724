#include "workflow/claims.hpp"
#include <gtest/gtest.h>

namespace quarry::workflow {
namespace {

struct Row {
  const char* statement;
  std::vector<std::string> names;
};

class NamesOfClaims : public ::testing::TestWithParam<Row> {};
TEST_P(NamesOfClaims, AreWhatTheStatementSaysWasDone) {
  std::vector<std::string> names;
  for (const auto& claim : read_claims(GetParam().statement))
    names.insert(names.end(), claim.names.begin(), claim.names.end());
  EXPECT_EQ(names, GetParam().names) << GetParam().statement;
}

// The statements are of the kinds that commits of real repositories have.
INSTANTIATE_TEST_SUITE_P(
    Rows, NamesOfClaims,
    ::testing::Values(
        Row{"Added missing parameters `a_b`, `c_d` and `ref`", {"a_b", "c_d", "ref"}},
        Row{"Adds a test_runs_on input to both the workflow_call and workflow_dispatch", {"test_runs_on"}},
        Row{"- Add `rocm-v1` to `REF_CONFIGS` with its targets", {"rocm-v1"}},
        Row{"- Remove `rocm-v0` from `REF_CONFIGS` and `REFS`", {"rocm-v0"}},
        Row{"This PR adds `ref` in `build_linux` and removes old_input", {"ref", "old_input"}},
        Row{"PR #7236 added build_runs_on and forgot the other event", {}},
        Row{"gives one on a Tuesday and adds `linux-8gpu` to it", {}},
        Row{"Signing changes, and `copy_release` remain out of scope", {}}, Row{"Updates `ref` everywhere", {"ref"}},
        Row{"Pass `ref` to all `build_linux` jobs", {"ref"}}, Row{"Raise `jax_ref` to `v_2`", {"jax_ref", "v_2"}},
        Row{"- [x] 51 unit tests pass (configure_ci)", {}},
        Row{"When `#7352` added `build_variant` to packaging, it\nwas correctly added to the `deb_jobs`", {}},
        Row{"Adds `ref` to both of the events and\n`environment` to the `build_job`", {"ref", "environment"}},
        Row{"fix(ci): pass build_variant to all test_jobs (#12)", {"build_variant"}},
        Row{"[ci] Add `a_b` (as `c_d` has it) to `x`", {"a_b"}}, Row{"Added two inputs (`a_b`, `c_d`)", {"a_b", "c_d"}},
        Row{"`a_test`, `b_test` and the suite all pass", {}}, Row{"v1 keeps the drop of `a_b`", {}},
        Row{"Default `jax_ref` raised to `v_2`", {"jax_ref", "v_2"}},
        Row{"Added `first_one`\n- Added `second_one`", {"first_one", "second_one"}},
        Row{"This change does not add `ref`", {}}));

TEST(Topics, AreWordsOfNames) {
  EXPECT_TRUE(has_word("        python_version: [\"3.11\"]", Topic{"python"}));
  EXPECT_TRUE(has_word("uses: x/build-jax.yml", Topic{"jax"}));
  EXPECT_FALSE(has_word("pythons", Topic{"python"}));
  EXPECT_FALSE(has_word("python_version", "python"));
}

} // namespace
} // namespace quarry::workflow
