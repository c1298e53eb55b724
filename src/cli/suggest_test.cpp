#include "cli/suggest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Nearest, IsSortedAndBounded) {
  std::vector<std::string> names{"--store", "--stored", "--restore", "--json", "--output-dir"};
  EXPECT_THAT(nearest("--stroe", names), ElementsAre("--store", "--stored"));
  EXPECT_THAT(nearest("--output", names), ElementsAre("--output-dir"));
  EXPECT_THAT(nearest("--zzzzzz", names), IsEmpty());
  EXPECT_THAT(nearest("", names), IsEmpty());
  EXPECT_THAT(nearest(std::string(10'000, 'x'), names), IsEmpty());
  EXPECT_EQ(nearest("aa", std::vector<std::string>{"ab", "ac", "ad", "ae", "ab"}).size(), 3u);
}

TEST(DidYouMean, IsASentence) {
  EXPECT_EQ(did_you_mean("abd", std::vector<std::string>{"abc", "abe"}), "did you mean `abc` or `abe`?");
  EXPECT_EQ(did_you_mean("zzz", std::vector<std::string>{"abc"}), "");
}

} // namespace
} // namespace quarry::cli
