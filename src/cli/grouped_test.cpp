#include "cli/grouped.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::cli {
namespace {

Finding finding(const std::string& place, const std::string& message, Severity severity = Severity::warning) {
  return {"I023", severity, place, message, "fix it"};
}

TEST(Grouped, WhatDiffersInItsPlaceAloneIsSaidOnce) {
  Findings found;
  for (int i = 0; i < 12; ++i) found.push_back(finding("p" + std::to_string(i), "no header"));
  found.push_back(finding("q", "another"));
  EXPECT_EQ(render(grouped(found)), "warning[I023]: p0, p1, p2 and 9 more: no header\n  hint: fix it\n"
                                    "warning[I023]: q: another\n");
}

TEST(Grouped, ErrorsComeFirstAndKeepTheHint) {
  auto text =
      render(grouped({finding("a", "m"), finding("b", "m", Severity::error), finding("c", "m", Severity::note)}));
  EXPECT_EQ(text, "error[I023]: b: m\n  hint: fix it\nwarning[I023]: a: m\nnote[I023]: c: m\n");
}

TEST(Grouped, AFewPlacesAreAllNamed) {
  EXPECT_EQ(grouped({finding("a", "m"), finding("b", "m"), finding("c", "m")}).at(0).place, "a, b, c");
  EXPECT_TRUE(grouped({}).empty());
}

} // namespace
} // namespace quarry::cli
