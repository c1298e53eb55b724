#include "base/finding.hpp"
#include "base/result.hpp"

#include <gmock/gmock.h>
#include <set>

namespace quarry {
namespace {
using ::testing::ElementsAre;

// Scripts rely on these numbers: a change here is a change of the contract.
TEST(ErrorKind, ExitCodesAreTheContract) {
  const std::pair<ErrorKind, int> table[] = {{ErrorKind::invalid_argument, 2},
                                             {ErrorKind::not_found, 3},
                                             {ErrorKind::already_exists, 7},
                                             {ErrorKind::precondition_failed, 7},
                                             {ErrorKind::corrupt, 6},
                                             {ErrorKind::permission_denied, 12},
                                             {ErrorKind::unauthenticated, 4},
                                             {ErrorKind::unavailable, 5},
                                             {ErrorKind::timed_out, 124},
                                             {ErrorKind::cancelled, 130},
                                             {ErrorKind::resource_exhausted, 12},
                                             {ErrorKind::missing_program, 12},
                                             {ErrorKind::unsupported, 1},
                                             {ErrorKind::outcome_unknown, 8},
                                             {ErrorKind::failed, 1},
                                             {ErrorKind::held, 10},
                                             {ErrorKind::internal, 11}};
  std::set<std::string_view> names;
  for (auto [kind, code] : table) {
    EXPECT_EQ(traits(kind).exit_code, code) << traits(kind).name;
    EXPECT_GE(traits(kind).http_status, 400);
    EXPECT_LT(traits(kind).http_status, 600);
    names.insert(traits(kind).name);
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(ErrorKind::internal) + 1);
  EXPECT_EQ(traits(ErrorKind::internal).name, "internal");
}

TEST(ErrorKind, OnlyWhatMayPassIsRetried) {
  EXPECT_TRUE(traits(ErrorKind::unavailable).retry);
  EXPECT_FALSE(traits(ErrorKind::outcome_unknown).retry); // look first
  EXPECT_FALSE(traits(ErrorKind::corrupt).retry);
}

TEST(Error, RendersForPeople) {
  Error error{
      ErrorKind::corrupt,      "A012",          "x.tar.zst does not match its checksum", {"expected  1", "found     2"},
      {"while fetching core"}, "fetch it again"};
  EXPECT_EQ(render(error), "error[A012]: x.tar.zst does not match its checksum\n  expected  1\n  found     2\n  while "
                           "fetching core\n\nhint: fetch it again\n");
  EXPECT_EQ(render(Error::of(ErrorKind::failed, "", "no")), "error: no\n");
}

TEST(Finding, RendersWithItsFix) {
  Findings findings{{"Z003", Severity::warning, "x.whl", "is odd", "build it again"},
                    {"Z004", Severity::note, "", "is fine", ""}};
  EXPECT_EQ(render(findings), "warning[Z003]: x.whl: is odd\n  hint: build it again\nnote[Z004]: is fine\n");
  EXPECT_FALSE(has_errors(findings));
  findings[0].details = {"refused by: pip"};
  EXPECT_TRUE(
      render(findings).starts_with("warning[Z003]: x.whl: is odd\n  refused by: pip\n  hint: build it again\n"));
  findings.push_back({"Z005", Severity::error, "", "is wrong", ""});
  EXPECT_TRUE(has_errors(findings));
  EXPECT_FALSE(has_errors({}));
}

Result<int> half(int value) {
  if (value % 2) return fail(ErrorKind::invalid_argument, "X001", "odd");
  return value / 2;
}
int evaluated = 0;
std::string context() {
  ++evaluated;
  return "while halving";
}
Result<int> quarter(int value) {
  TRY(auto once, half(value), context());
  TRY(auto twice, half(once));
  return twice;
}
Result<void> check(int value) {
  TRY_DO(half(value), "while checking");
  return {};
}

TEST(Result, TryPassesErrorsOnWithContext) {
  EXPECT_EQ(quarter(8).value(), 2);
  EXPECT_EQ(evaluated, 0); // context costs nothing on success
  auto first = quarter(3);
  ASSERT_FALSE(first);
  EXPECT_THAT(first.error().context, ElementsAre("while halving"));
  EXPECT_EQ(evaluated, 1);
  EXPECT_THAT(quarter(6).error().context, ElementsAre());
  EXPECT_TRUE(check(2));
  EXPECT_THAT(check(1).error().context, ElementsAre("while checking"));
}

TEST(Result, MovesWhatCannotBeCopied) {
  auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(5); };
  auto use = [&]() -> Result<int> {
    TRY(auto pointer, make());
    return *pointer;
  };
  EXPECT_EQ(use().value(), 5);
}

} // namespace
} // namespace quarry
