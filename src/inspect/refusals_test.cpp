#include "inspect/refusals.hpp"

#include <gmock/gmock.h>

namespace quarry::inspect {

namespace {
constexpr const char* k_head = "schema = \"quarry.refusals/1\"\n[[consumer]]\nname = \"pip\"\nversion = \"26.3\"\n"
                               "[[consumer]]\nname = \"uv\"\nversion = \"0.13\"\n";

std::string table(const std::string& rows) { return k_head + rows; }
std::string row(const std::string& keys) { return "[[defect]]\n" + keys; }

Finding finding(const std::string& message) { return {"W007", Severity::error, "x.whl", message, ""}; }

TEST(Refusals, TheFirstRowThatFitsCounts) {
  auto parsed = parse_refusals(
      {table(row("code = \"W007\"\nmessage = \"Name is\"\nrefused_by = [\"pip\", \"uv\"]\nsource = \"tried\"\n") +
             row("code = \"W007\"\nrefused_by = [\"uv\"]\ndepends = [\"pip\"]\nnote = \"pip from an index\"\nsource = "
                 "\"tried\"\n")),
       "r.toml"});
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->text_of(*parsed->find(finding("Name is foo"))), "pip, uv");
  EXPECT_EQ(parsed->text_of(*parsed->find(finding("Version is 2"))), "uv; in some cases pip (pip from an index)");
  EXPECT_EQ(parsed->find({"Q101", Severity::error, "x.whl", "Name is", ""}), nullptr);
}

TEST(Refusals, SaysThatNobodyRefuses) {
  auto parsed = parse_refusals({table(row("code = \"W007\"\nsource = \"tried\"\n")), "r.toml"});
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->text_of(*parsed->find(finding(""))), "nobody: pip, uv take it");
}

TEST(Refusals, RowsThatSayNothingAreRefused) {
  struct Case {
    std::string rows, part;
  };
  for (const auto& one : {
           Case{row("code = \"W007\"\nrefused_by = [\"conda\"]\nsource = \"tried\"\n"),
                "conda is not the name of a consumer"},
           Case{row("code = \"W007\"\ndepends = [\"conda\"]\nnote = \"n\"\nsource = \"tried\"\n"), "conda is not"},
           Case{row("code = \"W007\"\ndepends = [\"pip\"]\nsource = \"tried\"\n"),
                "`note` must say on what it depends"},
           Case{row("code = \"W007\"\nrefused_by = [\"pip\"]\n"), "source"},
           Case{row("code = \"W007\"\nsource = \"s\"\n") + row("code = \"W007\"\nmessage = \"Name\"\nsource = \"s\"\n"),
                "a row above fits all findings"},
           Case{row("code = \"W007\"\nsource = \"s\"\ncolour = 1\n"), "colour"},
       }) {
    auto parsed = parse_refusals({table(one.rows), "r.toml"});
    ASSERT_FALSE(parsed) << one.rows;
    EXPECT_EQ(parsed.error().code, "Q008");
    EXPECT_THAT(parsed.error().message, testing::AllOf(testing::HasSubstr("r.toml:"), testing::HasSubstr(one.part)));
  }
}
} // namespace

} // namespace quarry::inspect
