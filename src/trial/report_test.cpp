#include "trial/report.hpp"

#include "base/xml.hpp"
#include <fmt/core.h>
#include <gmock/gmock.h>

namespace quarry::trial {
namespace {

using testing::HasSubstr;

TEST(Junit, AsPytestWritesIt) {
  auto report = parse_junit({R"(<?xml version="1.0" encoding="utf-8"?>
<testsuites name="pytest tests"><testsuite name="pytest" errors="1" failures="1" skipped="1" tests="4" time="0.10" timestamp="2026-11-21T10:00:00">
<testcase classname="tests.test_a" name="test_ok[x&gt;1]" time="0.001" />
<testcase classname="tests.test_a" name="test_bad" time="1.5"><failure message="assert 1 == 2&#10;where">def test_bad():
&gt;   assert</failure></testcase>
<testcase classname="" name="test_skip" time="0"><skipped type="pytest.skip" message="no gpu">a.py:3: no gpu</skipped></testcase>
<testcase classname="tests.test_b" name="test_err" time="0"><error message="failed on setup">boom</error></testcase>
<!-- a comment --></testsuite></testsuites>
)",
                             "r.xml"});
  ASSERT_TRUE(report) << render(report.error());
  EXPECT_EQ(report->passed, 1u);
  EXPECT_EQ(report->failed, 1u);
  EXPECT_EQ(report->skipped, 1u);
  EXPECT_EQ(report->errors, 1u);
  ASSERT_EQ(report->rows.size(), 4u);
  EXPECT_EQ(report->rows[0].name, "tests.test_a::test_ok[x>1]");
  EXPECT_EQ(report->rows[1].message, "assert 1 == 2\nwhere");
  EXPECT_DOUBLE_EQ(report->rows[1].seconds, 1.5);
  EXPECT_EQ(report->rows[2].name, "test_skip");
  EXPECT_EQ(report->rows[3].outcome.text(), "error");
}

TEST(Junit, OtherWriters) {
  auto gtest = parse_junit({
      R"(<testsuites tests="2" failures="0" name="AllTests"><testsuite name="A" tests="2" failures="0" errors="0"><properties><property name="p" value="v"/></properties>
<testcase name="One" status="run" result="completed" time="0.1" classname="A"/><testcase name="Two" status="notrun" result="suppressed" classname="A"/></testsuite></testsuites>)",
      "g.xml"});
  ASSERT_TRUE(gtest);
  EXPECT_EQ(gtest->passed, 1u);
  EXPECT_EQ(gtest->skipped, 1u);
  auto ctest = parse_junit(
      {R"(<testsuite name="ctest" tests="2" failures="1"><testcase name="a" status="run"/><testcase name="b" status="fail"><failure message=""/><system-out>x]]&gt;</system-out></testcase></testsuite>)",
       "c.xml"});
  ASSERT_TRUE(ctest);
  EXPECT_EQ(ctest->failed, 1u);
  auto surefire = parse_junit(
      {R"(<testsuite name="s" tests="1" errors="0" failures="0"><testcase name="a" classname="C" time="1,234.5"><flakyFailure message="first try">t</flakyFailure></testcase></testsuite>)",
       "s.xml"});
  ASSERT_TRUE(surefire);
  EXPECT_EQ(surefire->passed, 1u);
  EXPECT_DOUBLE_EQ(surefire->rows[0].seconds, 1234.5);
}

TEST(Junit, TheWorstOutcomeOfACaseStands) {
  auto report = parse_junit(
      {R"(<testsuite><testcase name="a"><skipped/><failure message="f"/></testcase><testcase name="b"><error message="e"/><failure message="f"/><skipped/></testcase></testsuite>)",
       "r"});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->rows[0].outcome.text(), "failed");
  EXPECT_EQ(report->rows[0].message, "f");
  EXPECT_EQ(report->rows[1].outcome.text(), "error");
  EXPECT_EQ(report->rows[1].message, "e");
}

TEST(Junit, AnErrorOutsideOfTestCasesIsInTheCountOfTheSuite) {
  struct Row {
    const char *text, *message;
  };
  for (
      const auto& [text, message] : {
          Row{R"(<testsuite tests="1" errors="1"><error/></testsuite>)", "the suite counts 1 failure, and"},
          Row{R"(<testsuite><error/></testsuite>)", "the suite counts 1 failure, and"},
          Row{R"(<testsuite failures="1" errors="1"><error/><testcase name="a"><failure/></testcase></testsuite>)",
              "the suite counts 2 failures, and its test cases show 1"},
          Row{R"(<testsuites><testsuite name="o"><error/><testsuite><testcase name="a"/></testsuite></testsuite></testsuites>)",
              "the suite counts 1 failure, and its test cases show 0"},
          Row{R"(<testsuite failures="1"><error/><testcase name="a"><failure/></testcase></testsuite>)",
              "the suite counts 2 failures, and its test cases show 1"},
      }) {
    auto report = parse_junit({text, "r"});
    ASSERT_TRUE(report);
    EXPECT_THAT(report->rows.back().message, testing::StartsWith(message)) << text;
  }
}

TEST(Junit, AdmittedFailuresAreNotLost) {
  auto hidden = parse_junit(
      {R"(<testsuite name="s" failures="2" errors="1"><testcase name="a"><failure/></testcase></testsuite>)", "r"});
  ASSERT_TRUE(hidden);
  EXPECT_EQ(hidden->failed, 1u);
  EXPECT_EQ(hidden->errors, 1u);
  EXPECT_THAT(hidden->rows[1].message, HasSubstr("counts 3 failures, and its test cases show 1"));
  auto direct =
      parse_junit({R"(<testsuite name="s"><error message="collection"/><testcase name="a"/></testsuite>)", "r"});
  ASSERT_TRUE(direct);
  EXPECT_EQ(direct->errors, 1u);
}

TEST(Junit, WhatIsNoDurationTakesNoTime) {
  for (auto time : {"NaN", "-5", "inf", "1e308", "1e20", "soon", ""}) {
    auto report = parse_junit({fmt::format(R"(<testsuite><testcase name="a" time="{}"/></testsuite>)", time), "r"});
    ASSERT_TRUE(report) << time;
    EXPECT_EQ(report->rows[0].seconds, 0) << time;
    EXPECT_EQ(report->impossible_times, *time ? 1u : 0u) << time;
  }
}

TEST(Junit, TextIsTakenWhereThereIsNoMessageAndCut) {
  auto report =
      parse_junit({"<testsuite><testcase name=\"" + std::string(3000, 'n') +
                       "\"><failure><![CDATA[  a <b> & c ]]></failure></testcase><testcase name=\"l\"><failure>" +
                       std::string(4095, 'x') + "ü" + std::string(9000, 'y') + "</failure></testcase></testsuite>",
                   "r"});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->rows[0].message, "a <b> & c");
  EXPECT_EQ(report->rows[0].name, std::string(1024, 'n') + "…");
  EXPECT_EQ(report->rows[1].message, std::string(4095, 'x') + "…");
}

struct Hostile {
  const char* name;
  std::string text;
  const char* message;
};
class HostileXml : public testing::TestWithParam<Hostile> {};

TEST_P(HostileXml, IsRefused) {
  auto report = parse_junit({GetParam().text, "r.xml"});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, ErrorKind::corrupt);
  EXPECT_THAT(report.error().message, HasSubstr(GetParam().message));
}

std::string nested(std::size_t depth) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += "<testsuite>";
  for (std::size_t i = 0; i < depth; ++i) text += "</testsuite>";
  return text;
}
std::string attributes(std::size_t count) {
  std::string text = "<testsuite";
  for (std::size_t i = 0; i < count; ++i) text += fmt::format(" a{}=\"\"", i);
  return text + "/>";
}

INSTANTIATE_TEST_SUITE_P(
    Table, HostileXml,
    testing::Values(
        Hostile{
            "billion_laughs",
            R"(<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;">]><testsuite name="&b;"/>)",
            "r.xml:1:24: not a report that can be read: it has a document type"},
        Hostile{"external_entity", "<!DOCTYPE x SYSTEM \"file:///etc/passwd\"><testsuite/>", "document type"},
        Hostile{"doctype_inside", "<testsuite><!DOCTYPE x></testsuite>", "document type"},
        Hostile{"unknown_entity", "<testsuite name=\"&xxe;\"/>", "the entity &xxe; is not one of XML's five"},
        Hostile{"lone_ampersand", "<testsuite name=\"a & b\"/>", "an & is alone"},
        Hostile{"nul_reference", "<testsuite name=\"&#0;\"/>", "&#0; is not a character"},
        Hostile{"surrogate_reference", "<testsuite name=\"&#xD800;\"/>", "is not a character"},
        Hostile{"huge_reference", "<testsuite name=\"&#99999999;\"/>", "is not a character"},
        Hostile{"overflowing_reference", "<testsuite name=\"&#x1FFFFFFF;\"/>", "is not a character"},
        Hostile{"empty_reference", "<testsuite name=\"&#;\"/>", "is not a character"},
        Hostile{"too_deep", nested(65), "nest deeper than 64"},
        Hostile{"too_many_attributes", attributes(300), "too many attributes"},
        Hostile{"long_name", "<" + std::string(300, 'a') + "/>", "a name is too long"},
        Hostile{"control_character", std::string("<testsuite name=\"a\x01\"/>"), "control character"},
        Hostile{"nul_byte", std::string("<testsuite/>\0", 13), "control character"},
        Hostile{"not_utf8", "<testsuite name=\"\xff\"/>", "not UTF-8"},
        Hostile{"utf16", std::string("\xff\xfe<\0t\0", 6), "UTF-16 and not UTF-8"},
        Hostile{"other_encoding", "<?xml version=\"1.0\" encoding=\"utf-7\"?><testsuite/>", "encoding is not UTF-8"},
        Hostile{"empty", "", "there is no element"}, Hostile{"only_space", "  \n", "there is no element"},
        Hostile{"cut_short", "<testsuite><testcase name=\"a\"/>", "<testsuite> is not closed"},
        Hostile{"cut_in_a_tag", "<testsuite name=\"a", "does not end"},
        Hostile{"cut_before_a_value", "<testsuite name=", "cut off before the value of name"},
        Hostile{"cut_in_a_comment", "<testsuite><!-- ", "a comment does not end"},
        Hostile{"cut_in_cdata", "<testsuite><![CDATA[ ", "a CDATA section does not end"},
        Hostile{"crossed_tags", "<testsuite><testcase></testsuite></testcase>", "closes nothing that is open"},
        Hostile{"end_without_start", "</testsuite>", "closes nothing that is open"},
        Hostile{"two_roots", "<testsuite/><testsuite/>", "second root"},
        Hostile{"text_after_the_root", "<testsuite/>passed", "text outside the root"},
        Hostile{"cdata_before_the_root", "<![CDATA[x]]><testsuite/>", "text outside the root"},
        Hostile{"attribute_twice", "<testsuite failures=\"1\" failures=\"0\"/>", "appears twice"},
        Hostile{"unquoted", "<testsuite name=a/>", "not quoted"},
        Hostile{"no_value", "<testsuite name/>", "has no value"},
        Hostile{"no_space_between", "<testsuite a=\"1\"b=\"2\"/>", "malformed"},
        Hostile{"less_than_in_a_value", "<testsuite a=\"<\"/>", "holds a <"},
        Hostile{"json", "{\"tests\": 1}", "text outside the root"},
        Hostile{"html", "<html><body/></html>", "its root is <html>"},
        Hostile{"case_in_a_case", "<testsuite><testcase><testcase/></testcase></testsuite>", "inside another"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(Junit, TooManyCases) {
  std::string text = "<testsuite>";
  for (std::size_t i = 0; i <= k_rows_max; ++i) text += "<testcase/>";
  auto report = parse_junit({text + "</testsuite>", "r"});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "X010");
  EXPECT_EQ(report.error().message, "r has more than 200000 test cases");
}

TEST(Xml, TooLarge) {
  auto reader = XmlReader::open(std::string(k_xml_bytes_max + 1, ' '), {"r", "X010", "a report", {}});
  ASSERT_FALSE(reader);
  EXPECT_THAT(reader.error().message, HasSubstr("larger than"));
}

TEST(RocmSdkReport, IsRead) {
  auto report = parse_rocm_sdk_report({
      R"({"schema":"rocm-sdk.test/1","version":"7.2.0","counts":{"passed":1,"failed":1,"skipped":1,"errors":0},
          "rows":[{"name":"a","outcome":"passed","message":"","seconds":0.5},{"name":"b","outcome":"failed","message":"boom","seconds":1},{"name":"c","outcome":"skipped"}]})",
      "r.json"});
  ASSERT_TRUE(report) << render(report.error());
  EXPECT_EQ(report->version, "7.2.0");
  EXPECT_EQ(report->passed, 1u);
  EXPECT_EQ(report->rows[1].message, "boom");
  EXPECT_DOUBLE_EQ(report->rows[0].seconds, 0.5);
}

TEST(RocmSdkReport, Refusals) {
  for (
      const char* bad :
      {"", "[]", "{}", R"({"schema":"rocm-sdk.test/2","counts":{},"rows":[]})",
       R"({"schema":"rocm-sdk.test/1","rows":[]})",
       R"({"schema":"rocm-sdk.test/1","counts":{"passed":0,"failed":0,"skipped":0,"errors":0}})",
       R"({"schema":"rocm-sdk.test/1","counts":{"passed":2,"failed":0,"skipped":0,"errors":0},"rows":[{"name":"a","outcome":"passed"}]})",
       R"({"schema":"rocm-sdk.test/1","counts":{"passed":1,"failed":0,"skipped":0},"rows":[{"name":"a","outcome":"passed"}]})",
       R"({"schema":"rocm-sdk.test/1","counts":{"passed":1,"failed":0,"skipped":0,"errors":0},"rows":[{"name":"a","outcome":"ok"}]})",
       R"({"schema":"rocm-sdk.test/1","counts":{"passed":1,"failed":0,"skipped":0,"errors":0},"rows":["a"]})",
       R"({"schema":"rocm-sdk.test/1","counts":{"passed":1,"failed":0,"skipped":0,"errors":0},"rows":[{"name":"a","outcome":"passed","seconds":-1}]})"}) {
    auto report = parse_rocm_sdk_report({bad, "r.json"});
    ASSERT_FALSE(report) << bad;
    EXPECT_TRUE(report.error().code == "X012" || report.error().code == "B003") << report.error().code;
  }
}

} // namespace
} // namespace quarry::trial
