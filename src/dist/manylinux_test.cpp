#include "dist/manylinux.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

namespace quarry::dist {
namespace {

Manylinux shipped() {
  std::ifstream file(std::string(QUARRY_SOURCE_DIR) + "/data/manylinux.toml");
  std::string text(std::istreambuf_iterator<char>(file), {});
  return parse_manylinux({text, "data/manylinux.toml"}).value();
}

struct Row {
  const char* tag;
  const char* version;
  bool allowed;
};

class Allows : public testing::TestWithParam<Row> {};

TEST_P(Allows, Table) {
  auto manylinux = shipped();
  auto policy = policy_of(manylinux, GetParam().tag);
  ASSERT_TRUE(policy) << render(policy.error());
  EXPECT_EQ(allows(*policy, GetParam().version), GetParam().allowed);
}

INSTANTIATE_TEST_SUITE_P(
    Manylinux, Allows,
    testing::Values(
        Row{"manylinux_2_28_x86_64", "GLIBC_2.28", true}, Row{"manylinux_2_28_x86_64", "GLIBC_2.29", false},
        Row{"manylinux_2_28_x86_64", "GLIBC_2.2.5", true}, // by number, not by letter
        Row{"manylinux_2_28_x86_64", "GLIBC_2.4", true}, Row{"manylinux_2_28_x86_64", "GLIBCXX_3.4.24", true},
        Row{"manylinux_2_28_x86_64", "GLIBCXX_3.4.25", false}, Row{"manylinux_2_28_x86_64", "CXXABI_FLOAT128", true},
        Row{"manylinux_2_28_x86_64", "GLIBC_PRIVATE", false}, Row{"manylinux_2_28_x86_64", "GLIBC_ABI_DT_RELR", false},
        Row{"manylinux_2_36_x86_64", "GLIBC_ABI_DT_RELR", true},
        Row{"manylinux_2_28_x86_64", "HSA_1", true}, // no family of PEP 600
        Row{"manylinux_2_30_x86_64", "GLIBC_2.30", true}, Row{"manylinux_2_30_x86_64", "GLIBCXX_3.4.25", false},
        Row{"manylinux2014_x86_64", "GLIBC_2.17", true}, Row{"manylinux1_x86_64", "GLIBC_2.17", false}));

TEST(Manylinux, EachPolicyAllowsWhatTheOlderOnesDo) {
  auto policies = shipped().policies;
  ASSERT_EQ(policies.size(), 30u); // 16 of x86_64, 14 of aarch64
  for (std::size_t i = 1; i < policies.size(); ++i) {
    if (policies[i].machine != policies[i - 1].machine) continue;
    for (const auto& [family, newest] : policies[i - 1].newest)
      EXPECT_TRUE(allows(policies[i], family + "_" + newest)) << policies[i].glibc << " " << family;
    for (const auto& version : policies[i - 1].also) EXPECT_TRUE(allows(policies[i], version)) << version;
    for (const auto& name : policies[i - 1].libraries) EXPECT_TRUE(policies[i].libraries.contains(name)) << name;
  }
}

TEST(Manylinux, TheOldestThatHolds) {
  auto manylinux = shipped();
  EXPECT_EQ(oldest_that_allows(manylinux, "x86_64", {{"GLIBC_2.27", "GLIBCXX_3.4.21"}, {}, {}})->tag(),
            "manylinux_2_27_x86_64");
  EXPECT_EQ(oldest_that_allows(manylinux, "x86_64", {{"GLIBC_2.4", "GLIBCXX_3.4.29"}, {}, {}})->tag(),
            "manylinux_2_34_x86_64");
  EXPECT_EQ(oldest_that_allows(manylinux, "aarch64", {{"GLIBC_2.18"}, {}, {}})->tag(), "manylinux_2_17_aarch64");
  EXPECT_EQ(oldest_that_allows(manylinux, "x86_64", {{"GLIBC_2.99"}, {}, {}}), nullptr);
  EXPECT_EQ(oldest_that_allows(manylinux, "riscv64", {}), nullptr);
}

TEST(Manylinux, NewestOfFamilies) {
  EXPECT_EQ(newest_of_families({"GLIBC_2.4", "GLIBC_2.28", "GLIBC_2.3.4", "GCC_3.0", "CXXABI_TM_1", "plain"}),
            (std::set<std::string>{"CXXABI_TM_1", "GCC_3.0", "GLIBC_2.28", "plain"}));
  EXPECT_TRUE(newest_of_families({}).empty());
}

TEST(Manylinux, LibrariesAndPrivateSymbolsCountToo) {
  auto manylinux = shipped();
  EXPECT_EQ(oldest_that_allows(manylinux, "x86_64", {{}, {"libmvec.so.1", "libc.so.6"}, {}})->glibc, "2.24");
  EXPECT_EQ(oldest_that_allows(manylinux, "x86_64", {{}, {"libnuma.so.1"}, {}}), nullptr);
  EXPECT_EQ(oldest_that_allows(manylinux, "x86_64", {{}, {}, {{"libz.so.1", {"uncompress2", "inflate"}}}})->glibc,
            "2.34");
  EXPECT_EQ(oldest_that_allows(manylinux, "x86_64", {{}, {}, {{"libz.so.1", {"inflate_fast"}}}}), nullptr);
}

TEST(Manylinux, TagsWithoutAVerdictAreRefused) {
  auto manylinux = shipped();
  for (const auto* tag :
       {"linux_x86_64", "musllinux_1_2_x86_64", "manylinux_2_28_riscv64", "manylinux_2_12_aarch64", "manylinux_x86_64",
        "manylinux_2_x86_64", "manylinux_2_1_x86_64", "manylinux_2_28", "any", ""})
    EXPECT_EQ(policy_of(manylinux, tag).error().code, "M013") << tag;
}

TEST(Manylinux, ATypoInTheTableIsSaid) {
  auto parsed = parse_manylinux(
      {"schema = \"quarry.manylinux/1\"\nmachines = [\"x86_64\"]\n[[policy]]\nglib = \"2.5\"\n", "m.toml"});
  ASSERT_FALSE(parsed);
  EXPECT_NE(parsed.error().message.find("m.toml:"), std::string::npos);
}

} // namespace
} // namespace quarry::dist
