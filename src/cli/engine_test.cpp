#include "cli/engine.hpp"

#include "cli/testing/world.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <new>
#include <nlohmann/json.hpp>

namespace quarry::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Command command(std::vector<std::string> path, std::function<Result<int>(Context&, const Arguments&)> run) {
  return {.path = std::move(path),
          .summary = "tries things",
          .description = "",
          .operands = {},
          .flags = {{.name = "--store", .value = "LOCATOR", .help = "store", .environment = "QUARRY_STORE"}},
          .examples = {},
          .exit_codes = {},
          .schema = "quarry.try/1",
          .run = std::move(run)};
}

class Engine : public ::testing::Test {
protected:
  std::vector<Command> commands_{
      command({"try", "good"},
              [](Context& context, const Arguments& arguments) -> Result<int> {
                context.out.note("working");
                context.out.data("store " + arguments.get("--store") + " jobs " + std::to_string(context.jobs) + "\n");
                context.out.document({{"jobs", context.jobs}});
                return 0;
              }),
      command({"try", "bad"},
              [](Context& context, const Arguments&) -> Result<int> {
                context.out.warn("warning[A001]: odd");
                return fail(Error{ErrorKind::corrupt,
                                  "A012",
                                  "x.tar.zst does not match its checksum",
                                  {"expected  1", "found     2"},
                                  {"while fetching"},
                                  "fetch it again"});
              }),
      command({"try", "late"},
              [](Context& context, const Arguments&) -> Result<int> {
                context.out.document(Json::object());
                return fail(ErrorKind::failed, "A013", "too late");
              }),
      command({"try", "throws"},
              [](Context&, const Arguments& arguments) -> Result<int> { return arguments.has("--nothing") ? 0 : 1; }),
      command({"try", "twice"},
              [](Context& context, const Arguments&) -> Result<int> {
                context.out.document(Json::object());
                context.out.document(Json::object());
                return 0;
              }),
      command({"try", "asked"},
              [](Context& context, const Arguments&) -> Result<int> {
                context.out.document({{"schema", "quarry.plan/1"}}, true);
                return 0;
              }),
      command({"try", "hungry"}, [](Context&, const Arguments&) -> Result<int> { throw std::bad_alloc(); }),
      command({"try", "held"}, [](Context&, const Arguments&) -> Result<int> { return 10; }),
      command({"try", "long"},
              [](Context& context, const Arguments&) -> Result<int> {
                auto progress = context.out.progress("x", 100);
                progress->update(50);
                context.out.note("still here");
                progress->finish();
                return 0;
              }),
  };
  testing::TestWorld world_;
};

TEST_F(Engine, DataGoesToStandardOutputAndNotesToStandardError) {
  EXPECT_EQ(world_.run(commands_, {"try", "good", "--store", "s"}), 0);
  EXPECT_EQ(world_.out, "store s jobs 4\n");
  EXPECT_EQ(world_.err, "working\n");
  EXPECT_EQ(world_.run(commands_, {"try", "good", "-q", "-j2"}), 0);
  EXPECT_EQ(world_.out, "store  jobs 2\n");
  EXPECT_EQ(world_.err, "");
}

TEST_F(Engine, NothingOfOthersSteersTheTerminal) {
  EXPECT_EQ(world_.run(commands_, {"\x1b[31mred\r\x7f\xc2\x9b"}), 2);
  EXPECT_EQ(world_.err.find_first_of("\x1b\r\x7f\x9b"), std::string::npos) << world_.err;
  EXPECT_THAT(world_.err, HasSubstr("`\\x1b[31mred\\r\\x7f\\u009b`"));
  EXPECT_EQ(world_.run(commands_, {"--json", "\x1b[31mred"}), 2);
  EXPECT_THAT(world_.out, HasSubstr("`\\u001b[31mred`")) << "JSON has its own escapes";
}

TEST_F(Engine, JsonIsOneDocument) {
  for (const auto& words : {std::vector<std::string>{"--json", "try", "good"}, {"try", "good", "--json"}}) {
    EXPECT_EQ(world_.run(commands_, words), 0);
    EXPECT_EQ(Json::parse(world_.out), (Json{{"schema", "quarry.try/1"}, {"jobs", 4}}));
  }
  EXPECT_EQ(world_.run(commands_, {"try", "held", "--json"}), 10);
  EXPECT_EQ(Json::parse(world_.out), (Json{{"schema", "quarry.try/1"}, {"exit_code", 10}}));
}

TEST_F(Engine, ADocumentThatIsAskedForNeedsNoFlagAndMayHaveASchemaOfItsOwn) {
  EXPECT_EQ(world_.run(commands_, {"try", "asked"}), 0);
  EXPECT_EQ(Json::parse(world_.out), (Json{{"schema", "quarry.plan/1"}}));
}

TEST_F(Engine, ErrorsCarryCodeFactsAndHint) {
  EXPECT_EQ(world_.run(commands_, {"try", "bad"}), 6);
  EXPECT_EQ(world_.out, "");
  EXPECT_EQ(world_.err, "warning[A001]: odd\nerror[A012]: x.tar.zst does not match its checksum\n  expected  1\n  "
                        "found     2\n  while fetching\n\nhint: fetch it again\n");
}

TEST_F(Engine, WithJsonAnErrorIsADocumentToo) {
  EXPECT_EQ(world_.run(commands_, {"try", "bad", "--json"}), 6);
  Json expected{{"schema", "quarry.error/1"},
                {"code", "A012"},
                {"kind", "corrupt"},
                {"message", "x.tar.zst does not match its checksum"},
                {"details", {"expected  1", "found     2"}},
                {"context", {"while fetching"}},
                {"hint", "fetch it again"},
                {"exit_code", 6},
                {"retry", false}};
  EXPECT_EQ(Json::parse(world_.out), expected);
  EXPECT_THAT(world_.err, HasSubstr("error[A012]"));
  EXPECT_EQ(world_.run(commands_, {"try", "nothing", "--json"}), 2);
  EXPECT_EQ(Json::parse(world_.out)["code"], "C001");
  EXPECT_EQ(world_.run(commands_, {"try", "good", "--json", "--stor", "x"}), 2);
  EXPECT_EQ(Json::parse(world_.out)["code"], "C002");
}

TEST_F(Engine, AfterADocumentAnErrorIsNotASecondOne) {
  EXPECT_EQ(world_.run(commands_, {"try", "late", "--json"}), 1);
  EXPECT_EQ(Json::parse(world_.out), (Json{{"schema", "quarry.try/1"}}));
  EXPECT_THAT(world_.err, HasSubstr("error[A013]: too late"));
}

TEST_F(Engine, ABugIsSaidAndIsNotASuccess) {
  EXPECT_EQ(world_.run(commands_, {"try", "throws", "--json"}), 11);
  EXPECT_EQ(Json::parse(world_.out)["code"], "C090");
  EXPECT_THAT(world_.err, HasSubstr("--nothing"));
  EXPECT_EQ(world_.run(commands_, {"try", "twice", "--json"}), 11);
  EXPECT_EQ(Json::parse(world_.out), (Json{{"schema", "quarry.try/1"}}));
  EXPECT_EQ(world_.run(commands_, {"try", "hungry"}), 12);
  EXPECT_THAT(world_.err, HasSubstr("error[C092]: out of memory"));
}

TEST_F(Engine, ColourOnlyWhereItIsWanted) {
  auto colored = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"try", "bad"});
    world_.run(commands_, words);
    return world_.err.find("\x1b[") != std::string::npos;
  };
  EXPECT_FALSE(colored({}));
  EXPECT_TRUE(colored({"--color", "always"}));
  world_.is_terminal = true;
  EXPECT_TRUE(colored({}));
  EXPECT_FALSE(colored({"--color=never"}));
  world_.environment = {{"NO_COLOR", "1"}};
  EXPECT_FALSE(colored({}));
  EXPECT_TRUE(colored({"--color=always"}));
  world_.environment = {{"TERM", "dumb"}};
  EXPECT_FALSE(colored({}));
  world_.is_terminal = false;
  world_.environment = {{"FORCE_COLOR", "1"}};
  EXPECT_TRUE(colored({}));
  world_.environment = {{"QUARRY_COLOR", "always"}};
  EXPECT_TRUE(colored({}));
}

TEST_F(Engine, ColourMarksTheHeadsOfLinesOnly) {
  EXPECT_EQ(colored("error[A012]: x\n  hint: y\nerrors: z\nno error: w\n"),
            "\x1b[1;31merror[A012]:\x1b[0m x\n  \x1b[1;36mhint:\x1b[0m y\nerrors: z\nno error: w\n");
}

TEST_F(Engine, ABarNeverMixesWithOtherText) {
  EXPECT_EQ(world_.run(commands_, {"try", "long", "--progress", "bar"}), 0);
  auto note = world_.err.find("still here\n");
  ASSERT_NE(note, std::string::npos);
  EXPECT_EQ(world_.err.substr(note - 4, 4), "\r\x1b[K");
  EXPECT_TRUE(world_.err.ends_with("\r\x1b[K")) << "the bar is gone at the end";
  for (const char* mode : {"none", "lines", "auto"}) {
    EXPECT_EQ(world_.run(commands_, {"try", "long", "--progress", mode}), 0);
    EXPECT_EQ(world_.err, "still here\n") << mode;
  }
  EXPECT_EQ(world_.run(commands_, {"try", "long", "--progress=bar", "--quiet"}), 0);
  EXPECT_EQ(world_.err, "");
}

TEST_F(Engine, HelpAndOverviewGoToStandardOutput) {
  EXPECT_EQ(world_.run(commands_, {}), 0);
  EXPECT_THAT(world_.out, StartsWith("quarry - from the artifacts"));
  EXPECT_EQ(world_.run(commands_, {"try", "--help"}), 0);
  EXPECT_THAT(world_.out, HasSubstr("try good    tries things"));
  EXPECT_EQ(world_.run(commands_, {"try", "good", "--help", "--bogus"}), 0);
  EXPECT_THAT(world_.out, StartsWith("quarry try good - tries things"));
  EXPECT_EQ(world_.err, "");
}

TEST_F(Engine, ANounAloneNeedsAVerb) {
  EXPECT_EQ(world_.run(commands_, {"try"}), 2);
  EXPECT_EQ(world_.err,
            "error[C001]: missing subcommand; `quarry try` has good, bad, late, throws, twice, asked, hungry, held, "
            "long\n\nhint: see `quarry try --help`\n");
  EXPECT_EQ(world_.run(commands_, {"--bogus"}), 2);
  EXPECT_THAT(world_.err, HasSubstr("C002"));
}

TEST_F(Engine, FlagsWithoutACommandAreAnError) {
  const std::pair<std::vector<std::string>, std::string> k_cases[] = {
      {{"-q"}, "C001"},        {{"-x"}, "C002"},  {{"-qx"}, "C002"},     {{"-j"}, "C003"},
      {{"-j", "try"}, "C006"}, {{"-jx"}, "C006"}, {{"-j", "2"}, "C001"}, {{"-x", "try", "good"}, "C002"},
      {{"--json"}, "C001"}};
  for (const auto& [words, code] : k_cases) {
    EXPECT_EQ(world_.run(commands_, words), 2) << ::testing::PrintToString(words);
    EXPECT_THAT(world_.err, HasSubstr("error[" + code + "]")) << ::testing::PrintToString(words);
    EXPECT_EQ(world_.out.empty(), words[0] != "--json") << world_.out;
  }
}

TEST_F(Engine, VariablesAreDefaults) {
  world_.environment = {{"QUARRY_STORE", "v"}, {"QUARRY_JOBS", "3"}};
  world_.run(commands_, {"try", "good"});
  EXPECT_EQ(world_.out, "store v jobs 3\n");
  world_.run(commands_, {"try", "good", "--store=f", "--jobs=1"});
  EXPECT_EQ(world_.out, "store f jobs 1\n");
  world_.environment = {{"QUARRY_JOBS", "none"}};
  EXPECT_EQ(world_.run(commands_, {"try", "good"}), 2);
  EXPECT_THAT(world_.err, HasSubstr("QUARRY_JOBS must be a number"));
}

} // namespace
} // namespace quarry::cli
