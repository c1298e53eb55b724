#include "closure/claims.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::closure {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<Package> wheels_of(const std::vector<std::string>& files) {
  std::vector<Package> made;
  for (const auto& file : files) made.push_back(*package_of(file, {}, 100));
  return made;
}

std::vector<std::string> codes_in(const Findings& findings) {
  std::vector<std::string> codes;
  for (const auto& one : findings) codes.push_back(one.code);
  return codes;
}

TEST(Claims, AgainstWhatWasMade) {
  auto claims = parse_claims({"schema = \"quarry.claims/1\"\nfiles = [\"torch-*\", \"triton-*\"]\npythons = [\"3.11\", "
                              "\"3.12\"]\ntargets = [\"gfx90a\", \"gfx1100\", \"gfx942\"]\n",
                              "claims.toml"});
  ASSERT_TRUE(claims) << render(claims.error());
  auto set = wheels_of(
      {"torch-2.0-cp312-cp312-linux_x86_64.whl", "flash-1-cp39-abi3-linux_x86_64.whl", "x-1-py3-none-any.whl"});
  auto found = check_claims(set, *claims);
  ASSERT_THAT(codes_in(found), ElementsAre("Q431", "Q432"));
  EXPECT_THAT(found[0].message, HasSubstr("claims triton-*"));
  EXPECT_THAT(found[1].message, HasSubstr("Python 3.11, and torch has none"));
  EXPECT_THAT(codes_in(check_claims(wheels_of({"torch-1-py3-none-any.whl", "triton-1-py3-none-any.whl"}), *claims)),
              ElementsAre("Q432", "Q432"));
  auto targets = check_claimed_targets(*claims, {"gfx90a:xnack+", "gfx11-generic"});
  ASSERT_THAT(codes_in(targets), ElementsAre("Q433"));
  EXPECT_THAT(targets[0].message, HasSubstr("gfx942"));
  for (const auto* text :
       {"", "schema = \"quarry.claims/1\"\n", "schema = \"quarry.claims/1\"\npythons = [\"two\"]\n",
        "schema = \"quarry.claims/1\"\npythons = [\"3.12.1\"]\n", "schema = \"quarry.claims/1\"\nfile = [\"x\"]\n",
        "schema = \"quarry.claims/1\"\nfiles = [\"x\"]\ntargets = []\n",
        "schema = \"quarry.claims/1\"\ntargets = [\"gfx94X-dcgpu\"]\n",
        "schema = \"quarry.claims/1\"\ntargets = [\"gfx9999\"]\n"})
    EXPECT_EQ(parse_claims({text, "f"}).error().code, "Q434") << text;
}

} // namespace
} // namespace quarry::closure
