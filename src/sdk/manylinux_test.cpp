#include "sdk/manylinux.hpp"

#include "sys/file.hpp"
#include <gtest/gtest.h>

namespace quarry::sdk {
namespace {

Manylinux shipped() {
  auto text = sys::read_file(std::string(QUARRY_SOURCE_DIR) + "/data/manylinux.toml");
  return parse_manylinux(*text, "data/manylinux.toml").value();
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
  ASSERT_EQ(policies.size(), 16u);
  for (std::size_t i = 1; i < policies.size(); ++i) {
    for (const auto& [family, newest] : policies[i - 1].newest)
      EXPECT_TRUE(allows(policies[i], family + "_" + newest)) << policies[i].glibc << " " << family;
    for (const auto& version : policies[i - 1].also) EXPECT_TRUE(allows(policies[i], version)) << version;
    for (const auto& name : policies[i - 1].libraries) EXPECT_TRUE(policies[i].libraries.contains(name)) << name;
  }
}

TEST(Manylinux, TheOldestThatHolds) {
  auto manylinux = shipped();
  EXPECT_EQ(oldest_that_allows(manylinux, {"GLIBC_2.27", "GLIBCXX_3.4.21"})->tag(), "manylinux_2_27_x86_64");
  EXPECT_EQ(oldest_that_allows(manylinux, {"GLIBC_2.4", "GLIBCXX_3.4.29"})->tag(), "manylinux_2_34_x86_64");
  EXPECT_EQ(oldest_that_allows(manylinux, {"GLIBC_2.99"}), nullptr);
}

TEST(Manylinux, TagsWithoutAVerdictAreRefused) {
  auto manylinux = shipped();
  for (const auto* tag : {"linux_x86_64", "musllinux_1_2_x86_64", "manylinux_2_28_aarch64", "manylinux_2_x86_64",
                          "manylinux_2_1_x86_64", "manylinux_2_28", "any", ""})
    EXPECT_EQ(policy_of(manylinux, tag).error().code, "S038") << tag;
}

TEST(Manylinux, ATypoInTheTableIsSaid) {
  auto parsed =
      parse_manylinux("schema = \"quarry.manylinux/1\"\nmachine = \"x86_64\"\n[[policy]]\nglib = \"2.5\"\n", "m.toml");
  ASSERT_FALSE(parsed);
  EXPECT_NE(parsed.error().message.find("m.toml:"), std::string::npos);
}

} // namespace
} // namespace quarry::sdk
