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

TEST_F(ShippedPolicies, OneThatDoesNotExistIsToldWithThoseThatDo) {
  auto missing = find_policy(resources_, "demi");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, "G007");
  EXPECT_THAT(missing.error().hint, ::testing::HasSubstr("one of demo"));
}

} // namespace
} // namespace quarry::gate
