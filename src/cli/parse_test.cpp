#include "cli/parse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>

namespace quarry::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

Command fetch() {
  return {.path = {"artifact", "fetch"},
          .summary = "fetch",
          .description = "",
          .operands = {{"REGEX", "names", false, true}},
          .flags = {{.name = "--output-dir", .value = "DIR", .help = "where", .required = true, .letter = 'o'},
                    {.name = "--dry-run", .value = "", .help = "plan only", .letter = 'n'},
                    {.name = "--exclude", .value = "RE", .help = "leave out", .repeats = true},
                    {.name = "--format", .value = "F", .help = "format", .choices = {"zst", "xz"}, .fallback = "zst"},
                    {.name = "--store",
                     .value = "LOCATOR",
                     .help = "store",
                     .environment = "QUARRY_STORE",
                     .aliases = {"--from-store"}}},
          .examples = {},
          .exit_codes = {},
          .schema = "quarry.test/1",
          .run = {}};
}

Command with_rest() {
  auto command = fetch();
  command.takes_rest = true;
  return command;
}

std::string refusal(const Command& command, const Words& words) {
  auto result = parse_words(command, words);
  if (!result) return result.error().code;
  auto complete = check_required(command, *result);
  return complete ? "" : complete.error().code;
}

TEST(ParseWords, TakesEverySpellingOfAFlag) {
  for (const Words& words : {Words{"--output-dir", "d"}, Words{"--output-dir=d"}, Words{"-o", "d"}, Words{"-od"},
                             Words{"-o=d"}, Words{"-no", "d"}, Words{"-nod"}}) {
    auto arguments = parse_words(fetch(), words);
    ASSERT_TRUE(arguments) << words[0];
    EXPECT_EQ(arguments->get("--output-dir"), "d") << words[0];
    EXPECT_EQ(arguments->has("--dry-run"), words[0].starts_with("-n")) << words[0];
  }
}

TEST(ParseWords, KeepsValuesAsTheyAre) {
  auto arguments = parse_words(fetch(), Words{"--output-dir=o=", "[a,b]", "--exclude", "--x", "--exclude=a=b", "-"});
  ASSERT_TRUE(arguments);
  EXPECT_EQ(arguments->get("--output-dir"), "o=");
  EXPECT_THAT(arguments->operands, ElementsAre("[a,b]", "-"));
  EXPECT_THAT(arguments->list("--exclude"), ElementsAre("--x", "a=b"));
}

TEST(ParseWords, ARequiredFlagIsNotEmpty) {
  auto arguments = parse_words(fetch(), Words{"--output-dir="});
  ASSERT_FALSE(arguments);
  EXPECT_EQ(arguments.error().code, "C006");
}

TEST(ParseWords, AFlagOfManyTakesWordsUpToTheNextDash) {
  auto command = fetch();
  command.flags[2].many = true;
  auto arguments = parse_words(command, Words{"blas", "--exclude", "_dbg_", "_doc_", "--dry-run", "rand", "--exclude"});
  ASSERT_TRUE(arguments);
  EXPECT_THAT(arguments->list("--exclude"), ElementsAre("_dbg_", "_doc_"));
  EXPECT_THAT(arguments->operands, ElementsAre("blas", "rand"));
}

TEST(ParseWords, RawWordsStayAsTheyAre) {
  auto command = fetch();
  command.raw = true;
  auto arguments = parse_words(command, Words{"--unknown", "-x", "--json", "--", "y"});
  ASSERT_TRUE(arguments);
  EXPECT_THAT(arguments->rest, ElementsAre("--unknown", "-x", "--", "y"));
  EXPECT_TRUE(arguments->has("--json"));
}

TEST(ParseWords, FallbacksAreValuesButNotGiven) {
  auto arguments = parse_words(fetch(), Words{});
  ASSERT_TRUE(arguments);
  EXPECT_FALSE(arguments->has("--format"));
  EXPECT_EQ(arguments->get("--format"), "zst");
  EXPECT_THAT(arguments->list("--format"), ElementsAre("zst"));
  EXPECT_EQ(arguments->find("--store"), std::nullopt);
  EXPECT_TRUE(arguments->list("--exclude").empty());
}

TEST(ParseWords, AnAliasIsTheFlag) {
  auto arguments = parse_words(fetch(), Words{"--from-store", "file:s"});
  ASSERT_TRUE(arguments);
  EXPECT_EQ(arguments->get("--store"), "file:s");
}

TEST(ParseWords, WhatFollowsTwoDashesIsNeverAFlag) {
  auto operands = parse_words(fetch(), Words{"a", "--", "--dry-run", "--"});
  ASSERT_TRUE(operands);
  EXPECT_THAT(operands->operands, ElementsAre("a", "--dry-run", "--"));
  EXPECT_FALSE(operands->has("--dry-run"));
  auto rest = parse_words(with_rest(), Words{"a", "--", "pytest", "--json", "--", "x"});
  ASSERT_TRUE(rest);
  EXPECT_THAT(rest->operands, ElementsAre("a"));
  EXPECT_THAT(rest->rest, ElementsAre("pytest", "--json", "--", "x"));
  EXPECT_FALSE(rest->has("--json"));
}

TEST(ParseWords, RefusesWhatTheTableDoesNotKnow) {
  const std::pair<Words, std::string> k_cases[] = {
      {{"-o", "d", "--outputdir", "x"}, "C002"},
      {{"--out", "d"}, "C002"},
      {{"-x"}, "C002"},
      {{"-nx"}, "C002"},
      {{"--output-dir"}, "C003"},
      {{"-o"}, "C003"},
      {{"--output-dir", "--", "d"}, "C003"},
      {{}, "C004"},
      {{"-o", "d", "--format", "gz"}, "C006"},
      {{"-o", "d", "--color=red"}, "C006"},
      {{"-o", "d", "-j", "0"}, "C006"},
      {{"-o", "d", "-jx"}, "C006"},
      {{"-o", "d", "-j", "99999"}, "C006"},
      {{"-o", "a", "-o", "b"}, "C007"},
      {{"-o", "d", "--dry-run=yes"}, "C008"},
      {{"-o", "d"}, ""},
      {{"-o", "d", "-n", "--dry-run"}, ""},
      {{"-o", "d", "-j8"}, ""},
  };
  for (const auto& [words, code] : k_cases) EXPECT_EQ(refusal(fetch(), words), code) << ::testing::PrintToString(words);
}

TEST(ParseWords, SuggestsTheNearestFlag) {
  auto result = parse_words(fetch(), Words{"--outptu-dir", "d"});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().hint, "did you mean `--output-dir`?");
  result = parse_words(fetch(), Words{"--zzz"});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().hint, HasSubstr("artifact fetch --help"));
}

TEST(CheckRequired, CountsOperands) {
  auto command = fetch();
  command.flags.clear();
  command.operands = {{"A", "first"}, {"B", "second", false}};
  EXPECT_EQ(refusal(command, Words{}), "C004");
  EXPECT_EQ(refusal(command, Words{"1"}), "");
  EXPECT_EQ(refusal(command, Words{"1", "2"}), "");
  EXPECT_EQ(refusal(command, Words{"1", "2", "3"}), "C005");
  EXPECT_EQ(refusal(command, Words{""}), "C006");
  EXPECT_EQ(refusal(command, Words{"1", ""}), "");
  command.operands = {{"FILE", "files", true, true}};
  EXPECT_EQ(refusal(command, Words{"1", "2", "3"}), "");
}

class Resolving : public ::testing::Test {
protected:
  Command named(std::vector<std::string> path) {
    auto command = fetch();
    command.path = std::move(path);
    return command;
  }
  std::vector<Command> commands_{named({"artifact", "fetch"}), named({"artifact", "list"}), named({"publish"}),
                                 named({"version"}), named({"version", "compute"})};
};

TEST_F(Resolving, FindsTheLongestName) {
  const std::pair<Words, std::string> k_cases[] = {
      {{"publish", "artifact"}, "publish"},
      {{"artifact", "fetch", "x"}, "artifact fetch"},
      {{"--json", "artifact", "-j", "2", "list"}, "artifact list"},
      {{"version"}, "version"},
      {{"version", "compute"}, "version compute"},
      {{"--color=never", "version", "x"}, "version"},
      {{"help", "artifact", "fetch"}, "artifact fetch"},
  };
  for (const auto& [words, name] : k_cases) {
    auto resolved = resolve(commands_, words);
    ASSERT_TRUE(resolved) << ::testing::PrintToString(words);
    ASSERT_NE(resolved->command, nullptr) << ::testing::PrintToString(words);
    EXPECT_EQ(name_of(*resolved->command), name);
  }
}

TEST_F(Resolving, KeepsFlagsThatStandBeforeTheCommand) {
  auto resolved = resolve(commands_, Words{"--json", "-j", "2", "artifact", "--quiet", "list", "x"});
  ASSERT_TRUE(resolved);
  EXPECT_THAT(resolved->words, ElementsAre("--json", "-j", "2", "--quiet", "x"));
}

TEST_F(Resolving, HelpIsAWordOrAFlagBeforeTwoDashes) {
  EXPECT_TRUE(resolve(commands_, Words{"help"})->help);
  EXPECT_TRUE(resolve(commands_, Words{"artifact", "--help"})->help);
  EXPECT_EQ(resolve(commands_, Words{"help", "artifact"})->group, "artifact");
  EXPECT_TRUE(resolve(commands_, Words{"publish", "x", "-h"})->help);
  EXPECT_FALSE(resolve(commands_, Words{"publish", "--", "--help"})->help);
}

TEST_F(Resolving, RefusesWithTheNearestName) {
  const std::pair<Words, std::string> k_cases[] = {
      {{"artfact"}, "did you mean `artifact`?"},
      {{"artifact", "fecth"}, "did you mean `artifact fetch`?"},
      {{"artifact", "zzzzz"}, "`artifact` knows fetch, list"},
      {{"publsh"}, "did you mean `publish`?"},
      {{"qqqqqq"}, "`quarry help` lists them"},
  };
  for (const auto& [words, hint] : k_cases) {
    auto resolved = resolve(commands_, words);
    ASSERT_FALSE(resolved) << words[0];
    EXPECT_EQ(resolved.error().code, "C001");
    EXPECT_EQ(resolved.error().hint, hint);
  }
}

TEST(Arguments, AFlagOutsideTheTableIsABug) {
  auto arguments = parse_words(fetch(), Words{});
  ASSERT_TRUE(arguments);
  EXPECT_THROW(static_cast<void>(arguments->get("--nothing")), std::logic_error);
}

} // namespace
} // namespace quarry::cli
