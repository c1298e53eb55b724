#include "cli/annotations.hpp"

#include <gtest/gtest.h>

namespace quarry::cli {
namespace {

TEST(Annotations, PointAtLinesOfFiles) {
  auto place_of = [](const char* place) {
    auto one = placed({{"Q000", Severity::error, place, "message", {}}}).front();
    return one.file + " " + std::to_string(one.line);
  };
  EXPECT_EQ(place_of("Dockerfile:12"), "Dockerfile 12");
  EXPECT_EQ(place_of("C:/log.txt:7"), "C:/log.txt 7");
  EXPECT_EQ(place_of("run:42"), "run:42 0") << "the place of a store";
  EXPECT_EQ(place_of("set:12345678"), "set:12345678 0");
  EXPECT_EQ(place_of("log.txt:99999999999"), "log.txt:99999999999 0");
}

TEST(Placed, ALineIsTakenFromFilesAndNotFromLocators) {
  Findings findings;
  for (auto place : {"setup.py:12", "docker/Dockerfile:3", "run:42", "set:12345678", "channel:7", "commit:1234567",
                     "https://host:8080", "release:2026"})
    findings.push_back({"Y101", Severity::error, place, "m", ""});
  auto found = placed(findings);
  ASSERT_EQ(found.size(), findings.size());
  EXPECT_EQ(found[0].file, "setup.py");
  EXPECT_EQ(found[0].line, 12u);
  EXPECT_EQ(found[1].line, 3u);
  for (std::size_t i = 2; i < found.size(); ++i) {
    EXPECT_EQ(found[i].file, findings[i].place);
    EXPECT_EQ(found[i].line, 0u) << found[i].file;
  }
}
} // namespace
} // namespace quarry::cli
