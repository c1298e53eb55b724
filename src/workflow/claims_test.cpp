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
        Row{"Pass `ref` to all `build_linux` jobs", {"ref"}}, Row{"Raise `jax_ref` to `v_2`", {"jax_ref"}},
        Row{"- [x] 51 unit tests pass (configure_ci)", {}},
        Row{"When `#7352` added `build_variant` to packaging, it\nwas correctly added to the `deb_jobs`", {}},
        Row{"Adds `ref` to both of the events and\n`environment` to the `build_job`", {"ref", "environment"}},
        Row{"fix(ci): pass build_variant to all test_jobs (#12)", {"build_variant"}},
        Row{"[ci] Add `a_b` (as `c_d` has it) to `x`", {"a_b"}}, Row{"Added two inputs (`a_b`, `c_d`)", {"a_b", "c_d"}},
        Row{"`a_test`, `b_test` and the suite all pass", {}}, Row{"v1 keeps the drop of `a_b`", {}},
        Row{"Default `jax_ref` raised to `v_2`", {"jax_ref", "v_2"}},
        Row{"Added `first_one`\n- Added `second_one`", {"first_one", "second_one"}},
        Row{"This change does not add `ref`", {}},
        Row{"Add a route scoped to `uv`, while preserving the existing `uv-dev` authorization", {}},
        Row{"Add `uv_route` while preserving `uv_dev`", {"uv_route"}},
        Row{"Remove `uv_route` that `uv_dev` needs", {"uv_route"}},
        Row{"The commands run from the root, so they inherit the `no-build` policy added in #21195", {}},
        Row{"Removed `no_build`, which came with #21195", {}}, Row{"Fixed `no_build` in d3af401", {}},
        Row{"GNU ld fixed the bug upstream in [binutils-gdb commit `d3af401`](https://example.org/a_b.html)", {}},
        Row{"Changes to `crates_a` trigger tests", {}}, Row{"Add `a_b` (https://example.org/c_d)", {"a_b"}},
        Row{"Added `a(b)` and `c:d`", {}}, Row{"Remove the `a_b` of https://github.com/o/r/pull/12", {}},
        Row{"Once this lands, update `a_b`", {}}, Row{"Update `a_b` after merging", {}},
        Row{"Added `a_b` after `c_d`", {"a_b"}},
        Row{"## Changes\n- Update `a_b`\n## Rollout\n1. Update `c_d`\n### First\n- Update `e_f`\n## More\nAdd `g_h`",
            {"a_b", "g_h"}},
        Row{"Update `a_b`\n\n**Test plan**\n- Updated `c_d`\n\n**Other**\nUpdated `e_f`", {"a_b", "e_f"}},
        Row{"Passes `ref` through to the `build_job`", {"ref"}}, Row{"Wire up `ref` in `a_b`", {"ref"}},
        Row{"Plumbed `a_b` through", {"a_b"}}, Row{"Forwarding `a_b` to `c_d`", {"a_b"}},
        Row{"The build job now passes `a_b`", {"a_b"}}, Row{"The build job passes `a_b`", {}},
        Row{"Thread safety of `a_b`", {}}, Row{"Threads `a_b` through the calls", {"a_b"}},
        Row{"Removing `a_b`", {"a_b"}}, Row{"The default of `a_b` is now `c`", {"a_b"}},
        Row{"`a_b` now defaults to 90", {"a_b"}}, Row{"The job is now passed `a_b`", {"a_b"}},
        Row{"`a_b` becomes `c` when `d_e` is set", {"a_b"}},
        Row{"Next steps:\n\n- Update `a_b`\n\nThis also updates `c_d`", {"c_d"}}));

TEST(Claims, SayWhatBecomesWhat) {
  struct Case {
    const char *statement, *from, *to;
  };
  for (const auto& one :
       {Case{"Rename `a_b` to `c_d`", "a_b", "c_d"}, Case{"Renames a.yml to b.yml", "a.yml", "b.yml"},
        Case{"This PR replaces `a_b` with `c_d`", "a_b", "c_d"}, Case{"The default of `a_b` is now `c`", "", "c"},
        Case{"`a_b` becomes 90", "", "90"}, Case{"The default of `a_b` is raised to 90", "", "90"},
        Case{"`a_b` is now passed", "", ""}, Case{"The default of `a_b` is not `c`", "", ""}}) {
    auto claims = read_claims(one.statement);
    EXPECT_EQ(claims.empty() ? "" : claims[0].from, one.from) << one.statement;
    EXPECT_EQ(claims.empty() ? "" : claims[0].to, one.to) << one.statement;
  }
}

TEST(Claims, AreCountedWhereTheyAreNotUnderstood) {
  auto lines = read_statements("Some words.\n\nAdd `a_b`.\n\nIt makes `c_d` lenient.\n\nRemoves the old lists.\n\n"
                               "## Test plan\nRan `e_f`.")
                   .not_understood;
  EXPECT_EQ(lines, (std::vector<std::uint32_t>{5, 7}));
  EXPECT_TRUE(read_statements("More work for everybody").not_understood.empty());
  for (const auto* statement : {"The timeout of job j is now 10 minutes", "Tests no longer run at night"})
    EXPECT_EQ(read_statements(statement).not_understood.size(), 1u) << statement;
}

TEST(Claims, NameFilesWithADotBeforeThem) {
  EXPECT_TRUE(read_claims("| Drop the `testpaths` entry | 0 collected |\n| Remove `jinja2` | 3 |").empty())
      << "a table";
  auto claims = read_claims("Delete .github/workflows/a.yml and ./tools/b.py");
  ASSERT_EQ(claims.size(), 1u);
  EXPECT_EQ(claims[0].files, (std::vector<std::string>{".github/workflows/a.yml", "./tools/b.py"}));
}

TEST(Claims, AreCertainIfTheirVerbComesFirst) {
  EXPECT_TRUE(read_claims("This PR adds `a_b`").at(0).certain);
  EXPECT_FALSE(read_claims("The default of `a_b` raised").at(0).certain);
}

TEST(Claims, DoNotNameWhatIsSupported) {
  EXPECT_TRUE(read_claims("feat: add pyodide_315 support").empty());
  EXPECT_EQ(read_claims("Add `a_b` support").at(0).names, std::vector<std::string>{"a_b"});
}

TEST(Claims, AreUnsureIfTheySayWhereSomethingWasSeen) {
  for (auto text : {"Fix the `load_so` crash", "Fixes `ModuleNotFoundError`", "Fixed flaky `test_a`",
                    "Fix `SIGSEGV` in `a_b`", "Fix startup_failure by removing permissions"})
    EXPECT_TRUE(read_claims(text).at(0).unsure) << text;
  for (auto text : {"Fix `load_so`", "Added the `load_so` error", "Changed `Error_a`", "Fixed `a_b` from `c` to `d`"})
    EXPECT_FALSE(read_claims(text).at(0).unsure) << text;
}

TEST(Claims, FindOtherSpellingsOfAName) {
  History history;
  history.files.push_back(
      {"a.yml", false, false, {{1, "  run: build amd_smi --clean"}}, {{1, "  run: build amd_smi"}}, {}});
  Changes changes;
  Repository before;
  for (auto text : {"Update `libamd_smi`", "Fix `libamd_smi.so`", "Update `amd-smi`", "Fix `libamd_smi.a`"})
    EXPECT_TRUE(judge(read_claims(text).at(0), changes, history, before).nowhere.empty()) << text;
  for (auto text : {"Update `libamd`", "Update `libsmi_amd`"})
    EXPECT_FALSE(judge(read_claims(text).at(0), changes, history, before).nowhere.empty()) << text;
}

TEST(Claims, FindPathsThatChange) {
  History history;
  history.files.push_back({"jax/.github/workflows/a.yml", false, true, {}, {}, {}});
  Changes changes;
  Repository before;
  for (auto text : {"Deleted `.github/workflows/a.yml`", "Deleted a.yml", "Deleted `jax/.github`", "Deleted ./jax",
                    "Deleted a.yaml"})
    for (const auto& claim : read_claims(text))
      EXPECT_TRUE(judge(claim, changes, history, before).nowhere.empty()) << text;
  EXPECT_FALSE(judge(read_claims("Deleted b.yml").at(0), changes, history, before).nowhere.empty());
  history.files.push_back({".pre-commit-config.yaml", false, false, {{7, "  entry: tools/make_exports.py"}}, {}, {}});
  EXPECT_TRUE(judge(read_claims("Add make_exports.py to pre-commit").at(0), changes, history, before).nowhere.empty())
      << "a changed line has it";
}

TEST(Topics, AreWordsOfNames) {
  EXPECT_TRUE(has_word("        python_version: [\"3.11\"]", Topic{"python"}));
  EXPECT_TRUE(has_word("uses: x/build-jax.yml", Topic{"jax"}));
  EXPECT_FALSE(has_word("pythons", Topic{"python"}));
  EXPECT_FALSE(has_word("python_version", "python"));
}

} // namespace
} // namespace quarry::workflow
