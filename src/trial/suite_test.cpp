// The definition of a suite: what is refused, and what its digest is about.
#include "trial/suite.hpp"

#include <gmock/gmock.h>

namespace quarry::trial {
namespace {

const std::string k_head = "schema = \"quarry.suite/1\"\nname = \"own\"\n";
const std::string k_command = "command = [\"python\", \"{suite}/t.py\"]\nfiles = [\"t.py\"]\n";

Result<SuiteDefinition> parsed(const std::string& text, const std::string& bytes = "pass") {
  return parse_suite({text, "own.toml"}, [bytes](const std::string&) -> Result<std::string> { return bytes; });
}

TEST(Suites, TheDigestIsThatOfWhatRuns) {
  auto suite = parsed(k_head + k_command);
  ASSERT_TRUE(suite) << render(suite.error());
  EXPECT_FALSE(suite->has_report());
  auto digest = [](const Result<SuiteDefinition>& one) { return one.value().digest; };
  EXPECT_EQ(digest(parsed("# a comment\n" + k_head + "about = \"words\"\nmin_passed = 1\n" + k_command)),
            suite->digest);
  for (const auto* more : {"gpu = true\n", "backend = \"cpu\"\n", "min_passed = 2\n", "deadline = \"5m\"\n"})
    EXPECT_NE(digest(parsed(k_head + k_command + more)), suite->digest) << more;
  EXPECT_NE(digest(parsed(k_head + k_command, "other bytes")), suite->digest);
  EXPECT_EQ(canonical_suite(*suite), R"({"command":["python","{suite}/t.py"],"files":[{"name":"t.py","sha256":")" +
                                         sha256("pass").hex() + R"("}],"name":"own","schema":"quarry.suite/1"})");
}

TEST(Suites, NothingUnknownIsPassedOver) {
  struct Case {
    std::string text, says;
  };
  for (const auto& [text, says] :
       {Case{k_head, "command"}, Case{k_head + "command = []\n", "command"},
        Case{k_head + "command = [\"{suite}/x\"]\n", "no files"}, Case{k_head + k_command + "gpus = true\n", "gpus"},
        Case{k_head + k_command + "gpu = 1\n", "gpu"}, Case{k_head + k_command + "min_passed = 0\n", "min_passed"},
        Case{k_head + k_command + "deadline = \"soon\"\n", "deadline"},
        Case{k_head + k_command + "gpu = true\nbackend = \"cpu\"\n", "backend"},
        Case{k_head + "command = [\"x\"]\nfiles = [\"../x\"]\n", "files"},
        Case{k_head + "command = [\"x\"]\nfiles = [\"a\", \"a\"]\n", "twice"},
        Case{"schema = \"quarry.suite/1\"\nname = \"rocm-sdk\"\n" + k_command, "name"},
        Case{"schema = \"quarry.suite/2\"\nname = \"own\"\n" + k_command, "schema"}}) {
    auto suite = parsed(text);
    ASSERT_FALSE(suite) << text;
    EXPECT_EQ(suite.error().code, "X027");
    EXPECT_THAT(suite.error().message, ::testing::HasSubstr(says));
  }
  EXPECT_EQ(parsed("name = ").error().code, "X026");
}

} // namespace
} // namespace quarry::trial
