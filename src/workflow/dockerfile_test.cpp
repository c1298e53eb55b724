#include "workflow/dockerfile.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace quarry::workflow {
namespace {

/// The instructions, each with the line on which it begins.
std::vector<std::string> instructions_of(std::string_view text) {
  std::vector<std::string> found;
  for (const auto& one : dockerfile_instructions(text)) found.push_back(fmt::format("{} {}", one.at(0).line, one.text));
  return found;
}
using Found = std::vector<std::string>;

TEST(Dockerfile, LinesAreJoinedWithoutComments) {
  EXPECT_EQ(instructions_of("# x\n\nENV A=1 \\\n# y\n\n  B=2 \\ \t\r\n  C=3\nRUN a"),
            (Found{"3 ENV A=1   B=2   C=3", "8 RUN a"}));
  EXPECT_EQ(instructions_of("RUN a \\\\\nRUN b\\"), (Found{"1 RUN a \\\\", "2 RUN b"}));
  EXPECT_EQ(instructions_of("#syntax=x\n# escape = `\nRUN a\\\nRUN b`\n c"), (Found{"3 RUN a\\", "4 RUN b c"}));
  EXPECT_EQ(instructions_of("FROM x\n# escape=`\nRUN b`\nRUN c"), (Found{"1 FROM x", "3 RUN b`", "4 RUN c"}));
  EXPECT_EQ(instructions_of(""), Found());
}

TEST(Dockerfile, PlacesAreThoseOfTheFile) {
  auto all = dockerfile_instructions("FROM x\nENV A=1 \\\n  # y\n  B=2");
  ASSERT_EQ(all.size(), 2u);
  auto place = [&](std::string_view part) { return all[1].at(all[1].text.find(part)); };
  EXPECT_EQ(place("A=").line, 2u);
  EXPECT_EQ(place("A=").column, 5u);
  EXPECT_EQ(place("B=").line, 4u);
  EXPECT_EQ(place("B=").column, 3u);
}

TEST(Dockerfile, HereDocumentsAreLeftOut) {
  EXPECT_EQ(instructions_of("RUN <<E\nENV A=1 \\\nE\nRUN b"), (Found{"1 RUN <<E", "4 RUN b"}));
  EXPECT_EQ(instructions_of("RUN x <<-'E' 3<<F\nENV A=1\n\tE\nF\nRUN b"), (Found{"1 RUN x <<-'E' 3<<F", "5 RUN b"}));
  EXPECT_EQ(instructions_of("run \\\n x <<E\na\nE"), (Found{"1 run  x <<E"}));
  EXPECT_EQ(instructions_of("RUN x $((1<<2)) <<< a\nENV A=<<B\nB\n2"),
            (Found{"1 RUN x $((1<<2)) <<< a", "2 ENV A=<<B", "3 B", "4 2"}));
  EXPECT_EQ(instructions_of("RUN x <<E\nENV A=1"), (Found{"1 RUN x <<E", "2 ENV A=1"})) << "it never ends";
}

TEST(Dockerfile, EndsOfDocumentsAreNotLookedForWithoutBound) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += fmt::format("RUN x <<E{}x\n", i);
  EXPECT_EQ(dockerfile_instructions(text).size(), 50'000u);
}

} // namespace
} // namespace quarry::workflow
