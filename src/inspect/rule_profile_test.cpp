#include "inspect/rule_profile.hpp"

#include "base/text.hpp"
#include "sys/file.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::inspect {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string k_row =
    "schema = \"quarry.suppressions/1\"\n[[suppress]]\ncode = \"Q424\"\nplace = \"x-*\"\nmessage = \"had\"\n"
    "reason = \"not built any more\"\nowner = \"build team\"\nuntil = \"2026-11-23\"\n";

bool every_code(const std::string&) { return true; }

Finding finding(std::string code, std::string place, std::string message, Severity severity = Severity::error) {
  return {std::move(code), severity, std::move(place), std::move(message), {}};
}

TEST(RuleProfile, TheFirstRowThatFitsDecidesAndANoteStaysOne) {
  auto profile =
      parse_rule_profile({"schema = \"quarry.rule-profile/1\"\nname = \"p\"\n[[severity]]\ncodes = \"Q401\"\nis = "
                          "\"error\"\n[[severity]]\ncodes = \"Q4*\"\nis = \"warning\"\n",
                          "p.toml"},
                         every_code);
  ASSERT_TRUE(profile) << render(profile.error());
  Findings findings{finding("Q401", "", "", Severity::warning), finding("Q402", "", ""),
                    finding("Q406", "", "", Severity::note), finding("W010", "", "")};
  apply_profile(*profile, findings);
  EXPECT_EQ(findings[0].severity, Severity::error);
  EXPECT_EQ(findings[1].severity, Severity::warning);
  EXPECT_EQ(findings[2].severity, Severity::note);
  EXPECT_EQ(findings[3].severity, Severity::error);
}

TEST(RuleProfile, ThoseOfTheProgramAreValid) {
  for (const std::string name : {"store", "release"}) {
    auto text = sys::read_file(QUARRY_SOURCE_DIR "/data/profiles/" + name + ".toml");
    ASSERT_TRUE(text);
    auto profile = parse_rule_profile({*text, name}, every_code);
    ASSERT_TRUE(profile) << render(profile.error());
    EXPECT_EQ(profile->name, name);
    EXPECT_EQ(profile->wheels, name == "release");
  }
}

TEST(Suppression, AcceptsUpToItsLastDay) {
  auto rows = parse_suppressions({k_row, "s.toml"}, every_code);
  ASSERT_TRUE(rows) << render(rows.error());
  Findings findings{finding("Q424", "x-1.whl", "the last good set had x"), finding("Q424", "y-1.whl", "had y"),
                    finding("Q423", "x-1.whl", "had")};
  auto judged = apply_suppressions(findings, *rows, {"2026-11-23", every_code});
  ASSERT_EQ(judged.suppressed.size(), 1u);
  EXPECT_EQ(judged.suppressed[0].by.owner, "build team");
  EXPECT_EQ(judged.findings.size(), 2u);
  auto later = apply_suppressions(findings, *rows, {"2026-11-24", every_code});
  EXPECT_THAT(later.suppressed, IsEmpty());
  ASSERT_EQ(later.findings.size(), 4u);
  EXPECT_TRUE(later.findings[3].is("Q251"));
  EXPECT_THAT(later.findings[3].message, HasSubstr("build team) ended on 2026-11-23: what it accepted counts again"));
  auto gone = apply_suppressions({}, *rows, {"2026-11-24", every_code}).findings;
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_THAT(gone[0].message, HasSubstr("ended on 2026-11-23, and fits no finding"));
  EXPECT_THAT(gone[0].fix, HasSubstr("remove the row"));
}

TEST(Suppression, OneThatFitsNothingIsAFinding) {
  auto rows = *parse_suppressions({k_row, "s.toml"}, every_code);
  auto judged = apply_suppressions({finding("Q424", "y-1.whl", "had y")}, rows, {"2026-11-23", every_code});
  ASSERT_EQ(judged.findings.size(), 2u);
  EXPECT_TRUE(judged.findings[1].is("Q252"));
  EXPECT_EQ(judged.findings[1].place, "s.toml:2");
  EXPECT_THAT(judged.findings[1].message, HasSubstr("this run has 1 of Q424, such as y-1.whl: had y"));
  EXPECT_THAT(judged.findings[1].fix, HasSubstr("place = \"y-1.whl\""));
  judged = apply_suppressions({finding("Q424", "y-1.whl!a/b/c.so", "had y")}, rows, {"2026-11-23", every_code});
  EXPECT_THAT(judged.findings[1].fix, HasSubstr("place = \"**/c.so\""));
  EXPECT_TRUE(text::glob_match("**/c.so", "y-1.whl!a/b/c.so"));
  judged = apply_suppressions({}, rows, {"2026-11-23", every_code});
  ASSERT_EQ(judged.findings.size(), 1u);
  EXPECT_THAT(judged.findings[0].fix, HasSubstr("remove it"));
}

TEST(Suppression, OfARuleThatTheRunDoesNotHaveIsForAnotherCommand) {
  auto rows = *parse_suppressions({k_row, "s.toml"}, every_code);
  auto no_set_rules = [](const std::string& code) { return !code.starts_with("Q4"); };
  EXPECT_THAT(apply_suppressions({}, rows, {"2026-11-23", no_set_rules}).findings, IsEmpty());
  auto ended = apply_suppressions({}, rows, {"2026-11-24", no_set_rules}).findings;
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_TRUE(ended[0].is("Q251"));
}

TEST(Suppression, NeedsReasonOwnerAndDay) {
  for (const std::string key : {"code", "reason", "owner", "until"}) {
    auto text = k_row;
    auto at = text.find("\n" + key + " = ");
    text.erase(at + 1, text.find('\n', at + 1) - at);
    EXPECT_EQ(parse_suppressions({text, "s.toml"}, every_code).error().code, "Q011") << key;
  }
  for (const std::string day : {"2026-13-01", "tomorrow", "2026-1-1", "2026-11-00", "2027-02-31"}) {
    auto text = k_row;
    text.replace(text.find("2026-11-23"), 10, day);
    EXPECT_EQ(parse_suppressions({text, "s.toml"}, every_code).error().code, "Q011") << day;
  }
  auto glob = k_row;
  glob.replace(glob.find("Q424"), 4, "Q4*");
  EXPECT_EQ(parse_suppressions({glob, "s.toml"}, every_code).error().code, "Q011");
  auto empty = k_row;
  empty.replace(empty.find("build team"), 10, " ");
  EXPECT_EQ(parse_suppressions({empty, "s.toml"}, every_code).error().code, "Q011");
  EXPECT_EQ(parse_rule_profile({"schema = \"quarry.rule-profile/1\"\n", "p"}, every_code).error().code, "Q011");
}

TEST(RuleProfile, AGlobThatFitsNoCodeIsRefused) {
  auto refused = parse_rule_profile(
      {"schema = \"quarry.rule-profile/1\"\nname = \"p\"\n[[severity]]\ncodes = \"ZZZ*\"\nis = \"error\"\n", "p.toml"},
      [](const std::string& glob) { return text::glob_match(glob, "Z014"); });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "Q011");
  EXPECT_THAT(refused.error().message, HasSubstr("ZZZ* fits no code"));
}

TEST(Suppression, NamesACodeThatExists) {
  auto only_q423 = [](const std::string& code) { return code == "Q423"; };
  auto refused = parse_suppressions({k_row, "s.toml"}, only_q423);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "Q011");
  EXPECT_THAT(refused.error().message, HasSubstr("s.toml:3: "));
  EXPECT_THAT(refused.error().message, HasSubstr("Q424 does not exist"));
  auto text = k_row;
  text.replace(text.find("Q424"), 4, "Q423");
  EXPECT_TRUE(parse_suppressions({text, "s.toml"}, only_q423));
}

TEST(Baseline, TakesOutAsManyAsThereWere) {
  auto one = finding("Q401", "a", "m");
  auto left = without_known({one, one, finding("Q401", "b", "m")}, {{one}});
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].place, "a");
}

TEST(Baseline, KeepsWhatHasBecomeAnError) {
  auto then = finding("Q401", "a", "m"), now = then;
  then.severity = Severity::warning;
  now.severity = Severity::error;
  EXPECT_EQ(without_known({now}, {{then}}).size(), 1u);
  EXPECT_EQ(without_known({then}, {{now}}).size(), 0u);
}

} // namespace
} // namespace quarry::inspect
