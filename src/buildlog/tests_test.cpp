#include "buildlog/tests.hpp"

#include "buildlog/timeline_page.hpp"
#include "buildlog/variants.hpp"
#include "sys/file.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::buildlog {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Junit : public ::testing::Test {
protected:
  void SetUp() override { directory_ = sys::make_temporary_directory(::testing::TempDir(), "junit").value(); }
  void TearDown() override { EXPECT_TRUE(sys::remove_tree(directory_)); }

  JunitFile file(const std::string& name, const std::string& variant, const std::string& cases) {
    auto path = directory_ + "/" + name + ".xml";
    EXPECT_TRUE(sys::write_file(path, "<testsuite name=\"s\">" + cases + "</testsuite>"));
    return {path, variant};
  }

  Result<TestsReport> read(const std::vector<JunitFile>& files) { return report_tests(files, findings_); }

  std::string directory_;
  Findings findings_;
};

const std::string k_pass = "<testcase name=\"a\" time=\"1.5\"/>",
                  k_fail = "<testcase name=\"a\"><failure message=\"no\"/></testcase>",
                  k_skip = "<testcase name=\"b\"><skipped message=\"no GPU\"/></testcase>",
                  k_other = "<testcase name=\"b\" time=\"0.5\"/>";

TEST_F(Junit, CountsAndSkips) {
  auto report = read({file("1", "x", k_pass + k_skip),
                      file("2", "y", k_pass + k_skip + "<testcase name=\"c\"><skipped/></testcase>")});
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->variants.size(), 2u);
  EXPECT_EQ(report->variants[0].run, 1u);
  EXPECT_EQ(report->variants[1].skipped, 2u);
  EXPECT_EQ(report->variants[0].seconds, 1.5);
  ASSERT_EQ(report->skipped_everywhere.size(), 1u);
  EXPECT_EQ(report->skipped_everywhere[0].test, "b");
  EXPECT_EQ(report->skipped_everywhere[0].message, "no GPU");
  ASSERT_EQ(report->skipped_in_some.size(), 1u);
  EXPECT_THAT(report->skipped_in_some[0].variants, ElementsAre("y"));
  ASSERT_EQ(report->slowest.size(), 1u);
  EXPECT_TRUE(report->failed.empty());
}

TEST_F(Junit, RepetitionsShowFlakyTests) {
  auto report = read({file("1", "x", k_pass), file("2", "x", k_fail), file("3", "y", k_fail + k_other)});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->variants[0].reports, 2u);
  ASSERT_EQ(report->flaky.size(), 1u);
  EXPECT_EQ(report->flaky[0].variant, "x");
  ASSERT_EQ(report->failed.size(), 1u);
  EXPECT_THAT(report->failed[0].variants, ElementsAre("y"));
}

TEST_F(Junit, NamesOfVariants) {
  file("py3.12", "", k_pass);
  auto found = find_reports({"new=" + directory_, directory_ + "/py3.12.xml", directory_});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 3u);
  EXPECT_EQ((*found)[0].variant, "new");
  EXPECT_EQ((*found)[1].variant, "py3.12");
  EXPECT_EQ((*found)[2].variant, "py3.12");
  auto empty = directory_ + "/empty";
  ASSERT_TRUE(sys::make_directories(empty));
  EXPECT_EQ(find_reports({empty}).error().code, "X502");
}

TEST(TellApart, NamesOfDirectories) {
  using Names = std::vector<std::string>;
  struct Case {
    Names paths, expected; // a path that begins with "=" has its name from a label
  };
  const Case cases[] = {
      {{"py3.11/junit", "py3.12/junit"}, {"py3.11", "py3.12"}},
      {{"/r/py3.11/out/junit", "/r/py3.12/out/junit"}, {"py3.11", "py3.12"}},
      {{"a/x/junit", "b/x/junit", "a/y/junit"}, {"a/x", "b/x", "a/y"}},
      {{"p/gpu", "q/gpu", "p/cpu", "q/cpu", "p/one"}, {"p/gpu", "q/gpu", "p/cpu", "q/cpu", "one"}},
      {{"junit", "sub/junit"}, {"junit", "sub"}},
      {{"a/junit", "./a//junit", "b"}, {"junit", "junit", "b"}},
      {{"a/junit", "b/junit", "c/a"}, {"a/junit", "b", "a"}},
      {{"a/junit", "b/junit", "=c/a"}, {"a/junit", "b", "a"}},
      {{"=a/x", "=b/x"}, {"x", "x"}},
  };
  for (const auto& one : cases) {
    std::vector<VariantName> names;
    for (const auto& path : one.paths) {
      bool fixed = path.starts_with('=');
      auto slash = path.rfind('/') + 1;
      names.push_back({path.substr(fixed, slash - (slash > 0 && fixed)), path.substr(slash), fixed});
    }
    tell_apart(names);
    Names found;
    for (const auto& name : names) found.push_back(name.name);
    EXPECT_EQ(found, one.expected) << one.paths.front();
  }
}

TEST_F(Junit, FilesOfOneNameAreCalledLikeTheirDirectories) {
  for (const auto* name : {"py3.11", "py3.12"}) ASSERT_TRUE(sys::make_directories(directory_ + "/" + name));
  file("py3.11/junit", "", k_fail);
  file("py3.12/junit", "", k_pass);
  for (const auto& named :
       {std::vector<std::string>{directory_}, {directory_ + "/py3.11/junit.xml", directory_ + "/py3.12/junit.xml"}}) {
    auto report = read(find_reports(named).value());
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->flaky.empty());
    ASSERT_EQ(report->failed.size(), 1u);
    EXPECT_THAT(report->failed[0].variants, ElementsAre("py3.11"));
  }
  auto labelled = find_reports({"x=" + directory_}).value();
  EXPECT_EQ(labelled[0].variant + labelled[1].variant, "xx");
  EXPECT_EQ(find_reports({"x="}).error().code, "X502");
}

TEST_F(Junit, GoesOnAfterAReportThatCannotBeRead) {
  auto report = read({file("cut", "x", "<testcase name=\"a\">"), file("1", "y", k_pass)});
  ASSERT_TRUE(report);
  ASSERT_EQ(report->variants.size(), 1u);
  EXPECT_EQ(report->variants[0].variant, "y");
  ASSERT_EQ(findings_.size(), 1u);
  EXPECT_EQ(findings_[0].code, "X010");
  EXPECT_EQ(findings_[0].severity, Severity::error);
}

TEST_F(Junit, RefusesEntitiesAndBrokenXml) {
  auto bomb = directory_ + "/bomb.xml";
  ASSERT_TRUE(sys::write_file(bomb, "<!DOCTYPE x [<!ENTITY a \"aaaa\">]><testsuite/>"));
  auto refused = read({{bomb, "x"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "X010");
  EXPECT_EQ(read({file("cut", "x", "<testcase name=\"a\">")}).error().code, "X010");
  EXPECT_EQ(read({{directory_ + "/missing.xml", "x"}}).error().kind, ErrorKind::not_found);
}

TEST(TimelinePage, EscapesNamesAndNeedsNothingElse) {
  TimeReport report;
  report.variant = "<script>";
  report.stamped = true;
  report.total = 100;
  report.phases = {{"a & b", 60, 1}};
  report.intervals = {{"a & b", 10, 70}};
  report.unattributed = 40;
  auto page = timeline_page({report}, {{"--cached a", "all of it", {60}, 60}});
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(page, HasSubstr("a &amp; b: 1 min 00 s from 10.0 s"));
  EXPECT_THAT(page, HasSubstr("<td>unattributed</td><td class=\"n\">40.0 s</td>"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("http")));
}

} // namespace
} // namespace quarry::buildlog
