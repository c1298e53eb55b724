#include "cli/parse.hpp"

#include "cli/resolve.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <tuple>

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

// `--run-id --platform linux` must not take `--platform` as the run's id and then complain about `linux`.
TEST(ParseWords, AFlagIsNotTakenAsAValue) {
  for (const Words& words :
       {Words{"--output-dir", "--dry-run"}, Words{"--output-dir", "--format=xz"},
        Words{"--output-dir", "--from-store", "x"}, Words{"--output-dir", "--json"}, Words{"--output-dir", "--dry-rnu"},
        Words{"-o", "-n"}, Words{"-no", "-nq"}, Words{"--exclude", "-o", "d"}}) {
    auto result = parse_words(fetch(), words);
    ASSERT_FALSE(result) << ::testing::PrintToString(words);
    EXPECT_EQ(result.error().code, "C003") << ::testing::PrintToString(words);
  }
  auto result = parse_words(fetch(), Words{"--output-dir", "--dry-run"});
  EXPECT_EQ(result.error().message, "--output-dir needs a value, but the next word is the flag `--dry-run`");
  EXPECT_EQ(result.error().hint, "if `--dry-run` is the value, write `--output-dir=--dry-run`");
  for (const Words& words : {Words{"--output-dir=--dry-run"}, Words{"--output-dir", "-x"}, Words{"--output-dir", "-"},
                             Words{"-o=--dry-run"}, Words{"--output-dir", "--zzzz"}})
    EXPECT_TRUE(parse_words(fetch(), words)) << ::testing::PrintToString(words);
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

TEST(CheckRequired, NamesAllThatIsMissing) {
  auto command = fetch();
  command.operands = {{"DIR", "the directory"}, {"FILE", "an optional file", false}};
  command.flags.push_back(
      {.name = "--run-id", .value = "ID", .help = "the run", .environment = "RUN", .required = true});
  auto arguments = parse_words(command, Words{});
  ASSERT_TRUE(arguments);
  auto checked = check_required(command, *arguments);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, "C004");
  EXPECT_EQ(checked.error().message, "`quarry artifact fetch` needs 3 more arguments");
  EXPECT_THAT(checked.error().details, ElementsAre("DIR               the directory", "--output-dir DIR  where",
                                                   "--run-id ID       the run (or set RUN)"));
  arguments = parse_words(command, Words{"d", "--run-id", "1"});
  ASSERT_TRUE(arguments);
  checked = check_required(command, *arguments);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message, "`quarry artifact fetch` needs --output-dir DIR: where");
}

class Resolving : public ::testing::Test {
protected:
  Command named(std::vector<std::string> path) {
    auto command = fetch();
    command.path = std::move(path);
    return command;
  }
  std::vector<Command> commands_{named({"artifact", "fetch"}), named({"artifact", "list"}),   named({"publish"}),
                                 named({"version"}),           named({"version", "compute"}), named({"set", "list"})};
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
      {{"artifact", "zzzzz"}, "`artifact` has fetch, list"},
      {{"fetch"}, "did you mean `artifact fetch`?"},
      {{"fecth"}, "did you mean `artifact fetch`?"},
      {{"fetch", "artifact"}, "did you mean `artifact fetch`?"},
      {{"list"}, "did you mean `artifact list` or `set list`?"},
      {{"publsh"}, "did you mean `publish`?"},
      {{"qqqqqq"}, "`quarry help` lists all commands"},
      {{"-"}, "`quarry help` lists all commands"},
      {{"--", "publish"}, "`quarry help` lists all commands"},
  };
  for (const auto& [words, hint] : k_cases) {
    auto resolved = resolve(commands_, words);
    ASSERT_FALSE(resolved) << words[0];
    EXPECT_EQ(resolved.error().code, "C001");
    EXPECT_EQ(resolved.error().hint, hint);
  }
}

TEST_F(Resolving, VersionIsAlsoAFlag) {
  for (const Words& words : {Words{"--version"}, Words{"-V"}, Words{"-q", "--version"}}) {
    auto resolved = resolve(commands_, words);
    ASSERT_TRUE(resolved && resolved->command);
    EXPECT_EQ(name_of(*resolved->command), "version");
  }
}

// A command line that does nothing must not look like a success.
TEST_F(Resolving, RefusesOtherFlagsBeforeTheCommand) {
  const std::tuple<Words, std::string, std::string> k_cases[] = {
      {{"-x", "publish"}, "C002", "`quarry` has no flag -x"},
      {{"-C", "/path", "publish"}, "C002", "`quarry` has no flag -C"},
      {{"-q", "-x", "publish"}, "C002", "`quarry` has no flag -x"},
      {{"-x"}, "C002", "`quarry` has no flag -x"},
      {{"-xq", "publish"}, "C002", "`quarry` has no flag -x"},
      {{"-x", "--help"}, "C002", "`quarry` has no flag -x"},
      {{"--bogus=1", "publish"}, "C002", "`quarry` has no flag --bogus"},
      {{"artifact", "-x", "list"}, "C002", "`quarry artifact` has no flag -x"},
      {{"artifact", "--bogus"}, "C002", "`quarry artifact` has no flag --bogus"},
      {{"-j", "publish"}, "C006", "-j must be a number from 1 to 1024, not `publish`"},
      {{"--color", "publish"}, "C006", "--color must be one of auto, always, never, not `publish`"},
  };
  for (const auto& [words, code, message] : k_cases) {
    auto resolved = resolve(commands_, words);
    ASSERT_FALSE(resolved) << ::testing::PrintToString(words);
    EXPECT_EQ(resolved.error().code, code) << ::testing::PrintToString(words);
    EXPECT_EQ(resolved.error().message, message);
  }
  EXPECT_EQ(resolve(commands_, Words{"--jsno", "publish"}).error().hint, "did you mean `--json`?");
  EXPECT_THAT(resolve(commands_, Words{"artifact", "-n", "list"}).error().hint, HasSubstr("`quarry artifact list -n`"));
}

TEST(Arguments, AFlagOutsideTheTableIsABug) {
  auto arguments = parse_words(fetch(), Words{});
  ASSERT_TRUE(arguments);
  EXPECT_THROW(static_cast<void>(arguments->get("--nothing")), std::logic_error);
}

} // namespace
} // namespace quarry::cli
