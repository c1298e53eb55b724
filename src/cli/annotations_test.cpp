#include "cli/annotations.hpp"

#include <gtest/gtest.h>

using namespace quarry;
using namespace quarry::cli;

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
