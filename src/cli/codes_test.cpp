#include "cli/codes.hpp"

#include "cli/testing/world.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string entry(const std::string& code) {
  return "[" + code + "]\ntitle = \"t " + code + "\"\nabout = \"a\"\nfix = \"f\"\n";
}

class Codes : public ::testing::Test {
protected:
  testing::MapResources resources_;
};

TEST_F(Codes, AreFoundInAnySpelling) {
  resources_.files = {{"data/codes/artifact.toml", entry("A011") + entry("A012")}, {"data/codes/README.md", "no code"}};
  auto codes = load_codes(resources_);
  ASSERT_TRUE(codes);
  for (const char* asked : {"A012", "a012", "error[A012]", " A012 ", "[A012]:"}) {
    auto found = find_code(*codes, asked);
    ASSERT_TRUE(found) << asked;
    EXPECT_EQ(found->title, "t A012");
    EXPECT_EQ(found->room, "artifact");
  }
}

TEST_F(Codes, NearOnesAreNamed) {
  resources_.files = {{"data/codes/artifact.toml",
                       entry("A011") + entry("A012") + entry("A013") + entry("A020") + entry("A021") + entry("A022")},
                      {"data/codes/wheel.toml", entry("W001")}};
  auto codes = load_codes(resources_);
  ASSERT_TRUE(codes);
  EXPECT_THAT(neighbours(*codes, codes->at("A011")), ElementsAre("A012", "A013", "A020"));
  EXPECT_THAT(neighbours(*codes, codes->at("A020")), ElementsAre("A011", "A012", "A013", "A021", "A022"));
  EXPECT_TRUE(neighbours(*codes, codes->at("W001")).empty());
  auto missing = find_code(*codes, "A019");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, "C031");
  EXPECT_EQ(missing.error().kind, ErrorKind::not_found);
  EXPECT_THAT(missing.error().hint, HasSubstr("`A011`"));
}

TEST_F(Codes, OfOneRoomNeedOneFile) {
  resources_.files = {{"data/codes/artifact.toml", "["}, {"data/codes/wheel.toml", entry("W001")}};
  auto codes = load_codes_of(resources_, "wheel");
  ASSERT_TRUE(codes);
  EXPECT_EQ(codes->at("W001").room, "wheel");
  for (const char* room : {"artifact", "none"}) {
    auto refused = load_codes_of(resources_, room);
    ASSERT_FALSE(refused) << room;
    EXPECT_EQ(refused.error().code, "C030");
  }
}

TEST_F(Codes, RefusesBrokenExplanations) {
  for (const auto& files :
       {std::map<std::string, std::string, std::less<>>{{"data/codes/a.toml", "[A001]\ntitle = \"t\"\n"}},
        {{"data/codes/a.toml", "["}},
        {{"data/codes/a.toml", entry("A001") + "more = 1\n"}},
        {{"data/codes/a.toml", entry("A001")}, {"data/codes/b.toml", entry("A001")}}}) {
    resources_.files = files;
    auto codes = load_codes(resources_);
    ASSERT_FALSE(codes);
    EXPECT_EQ(codes.error().code, "C030");
  }
}

} // namespace
} // namespace quarry::cli
