#include "gate/shipped.hpp"

#include "sys/file.hpp"
#include "sys/tree.hpp"
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::gate {
namespace {

std::string policy_text(const std::string& name) {
  return "schema = \"quarry.policy/1\"\nname = \"" + name +
         "\"\nmax_age = \"14d\"\n[[require]]\nplatforms = [\"linux\"]\nfamilies = [\"*\"]\npythons = [\"*\"]\nsuites = "
         "[\"smoke\"]\n";
}

class OneShipped final : public Resources {
public:
  std::vector<std::string> list(std::string_view) const override { return {k_name}; }
  std::optional<std::string> read(std::string_view name) const override {
    if (name == "data/suites/defined.toml")
      return "schema = \"quarry.suite/1\"\nname = \"defined\"\nabout = \"a test\"\ncommand = [\"true\"]\n";
    return name == k_name ? std::optional(policy_text("shipped")) : std::nullopt;
  }
  std::string origin(std::string_view) const override { return "embedded"; }

private:
  const std::string k_name = "data/policies/demo.toml";
};

class ShippedPolicies : public ::testing::Test {
protected:
  void SetUp() override { std::filesystem::current_path(directory_); }
  void TearDown() override {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(directory_);
  }
  std::string found(const std::string& named) {
    auto policy = find_policy(resources_, named);
    return policy ? policy->name : policy.error().code;
  }
  OneShipped resources_;
  std::filesystem::path before_ = std::filesystem::current_path();
  std::string directory_ = *sys::make_temporary_directory(::testing::TempDir(), "policies-");
};

TEST_F(ShippedPolicies, AreFoundByEachOfTheirNames) {
  for (const std::string named : {"demo", "policies/demo.toml", "data/policies/demo.toml"})
    EXPECT_EQ(found(named), "shipped") << named;
}

TEST_F(ShippedPolicies, AFileIsTakenUnlessItIsABareWord) {
  ASSERT_TRUE(sys::write_file("demo", policy_text("mine")));
  EXPECT_EQ(found("demo"), "shipped") << "a bare word is a shipped policy";
  EXPECT_EQ(found("./demo"), "mine");
  ASSERT_TRUE(sys::write_file("other", policy_text("mine")));
  EXPECT_EQ(found("other"), "mine") << "no shipped policy has that name";
  ASSERT_TRUE(sys::write_file("demo.toml", policy_text("mine")));
  EXPECT_EQ(found("demo.toml"), "mine");
}

TEST_F(ShippedPolicies, AnyCommandIsAboutSuitesWithoutADefinition) {
  auto with = [&](const std::string& suites) {
    auto text = policy_text("mine");
    text.replace(text.find("\"smoke\""), 7, suites);
    text.insert(text.find("max_age"), "openly = [\"any_command\"]\n");
    EXPECT_TRUE(sys::write_file("own.toml", text));
    auto policy = find_policy(resources_, "own.toml");
    EXPECT_TRUE(policy) << render(policy.error());
    return *policy;
  };
  auto both = with("\"smoke\", \"defined\"");
  EXPECT_THAT(unbound_suites(both), ::testing::ElementsAre("smoke")) << "the other has a definition";
  EXPECT_TRUE(both.openly.any_command);
  auto defined = with("\"defined\"");
  EXPECT_THAT(unbound_suites(defined), ::testing::IsEmpty());
  EXPECT_FALSE(defined.openly.any_command) << "nothing is left that it would be about";
  auto stored = parse_stored_policy({canonical_json(defined), "stored"});
  ASSERT_TRUE(stored) << render(stored.error());
  EXPECT_EQ(stored->digest, defined.digest);
}

TEST_F(ShippedPolicies, OneThatDoesNotExistIsToldWithThoseThatDo) {
  auto missing = find_policy(resources_, "demi");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, "G007");
  EXPECT_THAT(missing.error().hint, ::testing::HasSubstr("one of demo"));
}

} // namespace
} // namespace quarry::gate
