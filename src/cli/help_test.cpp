#include "cli/help.hpp"

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/docs.hpp"
#include "cli/parse.hpp"
#include "cli/resolve.hpp"
#include "cli/switches.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace quarry::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Command sample() {
  return {
      .path = {"artifact", "pack"},
      .summary = "archives of exploded artifacts",
      .description = "Makes one archive of each `{name}_{component}_{target}/` below DIR, with its checksum beside it. "
                     "The same tree gives the same bytes.\n\nNothing is "
                     "replaced.",
      .operands = {{"DIR", "directory with exploded artifacts"}, {"NAME", "only these", false, true}},
      .flags =
          {{.name = "--output-dir",
            .value = "OUT",
            .help = "where archives are written",
            .required = true,
            .letter = 'o'},
           {.name = "--format", .value = "FORMAT", .help = "compression", .choices = {"zst", "xz"}, .fallback = "zst"},
           {.name = "--store", .value = "LOCATOR", .help = "store", .environment = "QUARRY_STORE"}},
      .examples = {{"quarry artifact pack build/artifacts -o out", "as CI does it"}},
      .exit_codes = {{6, "an artifact is broken"}},
      .schema = "quarry.artifact-pack/1",
      .run = {}};
}

constexpr std::string_view k_page = R"(quarry artifact pack - archives of exploded artifacts

usage:  quarry artifact pack DIR [NAME]... --output-dir OUT [flags]

Makes one archive of each `{name}_{component}_{target}/` below DIR, with its
checksum beside it. The same tree gives the same bytes.

Nothing is replaced.

operands
  DIR        directory with exploded artifacts
  [NAME]...  only these

flags
  -o, --output-dir OUT  where archives are written (required)
      --format FORMAT   compression; one of zst, xz (default: zst)
      --store LOCATOR   store [QUARRY_STORE]

examples
  as CI does it:
    quarry artifact pack build/artifacts -o out

exit codes
    6  an artifact is broken

Flags of every command: --json, -j/--jobs N, -q/--quiet, -v/--verbose,
--color WHEN, --progress HOW, -h/--help; `quarry help` explains them and all
exit codes.
)";

TEST(CommandPage, IsGolden) { EXPECT_EQ(command_page(sample(), 76), k_page); }

TEST(CommandPage, FitsNarrowAndWideTerminals) {
  for (unsigned columns : {60u, 80u, 100u, 250u})
    for (const auto& line : text::lines(command_page(sample(), columns)))
      EXPECT_LE(line.size(), std::min(columns, 100u)) << line;
}

TEST(Filled, KeepsIndentedLinesAndParagraphs) {
  EXPECT_EQ(filled("one two three\n\n    a    b\nfour", 2, 11), "  one two\n  three\n\n      a    b\n  four\n");
  EXPECT_EQ(filled("Two:\n- one\n- two", 0, 40), "Two:\n- one\n- two\n");
}

TEST(Overview, ListsDailyCommandsThenNouns) {
  std::vector<Command> commands{sample()};
  commands.push_back(sample());
  commands.back().path = {"publish"};
  commands.push_back(sample());
  commands.back().path = {"secret"};
  commands.back().hidden = true;
  auto page = overview(commands, 80);
  EXPECT_THAT(page, HasSubstr("daily\n  publish  archives"));
  EXPECT_THAT(page, HasSubstr("artifact  pack"));
  EXPECT_THAT(page, Not(HasSubstr("secret")));
  EXPECT_THAT(ordered_groups(commands), ElementsAre("artifact", "publish"));
}

// The real table: what every command owes its user.

// A script's own `--verbose` keeps the meaning that it has there.
bool is_of_a_script(const Command& command) { return command.path[0] == "compat"; }

class Table : public ::testing::Test {
protected:
  std::vector<Command> commands_ = all_commands();
};

TEST_F(Table, NamesAreUniqueAndAtMostANounAndAVerb) {
  std::set<std::string> names;
  for (const auto& command : commands_) {
    EXPECT_TRUE(names.insert(name_of(command)).second) << name_of(command);
    EXPECT_LE(command.path.size(), 2u) << name_of(command);
    EXPECT_FALSE(command.path.empty());
  }
}

TEST_F(Table, EveryCommandExplainsItself) {
  for (const auto& command : commands_) {
    auto name = name_of(command);
    EXPECT_TRUE(command.run) << name;
    EXPECT_FALSE(command.summary.empty()) << name;
    EXPECT_FALSE(command.summary.ends_with('.')) << name;
    EXPECT_THAT(command.schema, ::testing::MatchesRegex("quarry\\.[a-z-]+/[0-9]+")) << name;
    if (command.hidden) continue;
    EXPECT_FALSE(command.description.empty()) << name;
    EXPECT_FALSE(command.examples.empty()) << name;
    for (const auto& example : command.examples) EXPECT_THAT(example.command, HasSubstr("quarry ")) << name;
    for (const auto& [code, meaning] : command.exit_codes) EXPECT_FALSE(meaning.empty()) << name << " " << code;
  }
}

TEST_F(Table, FlagsAreWellFormedAndShadowNothing) {
  for (const auto& command : commands_) {
    std::set<std::string> names;
    std::set<char> letters;
    auto take = [&](const Flag& flag) {
      auto what = name_of(command) + " " + flag.name;
      EXPECT_TRUE(flag.name.starts_with("--")) << what;
      EXPECT_TRUE(names.insert(flag.name).second) << what;
      for (const auto& alias : flag.aliases) EXPECT_TRUE(names.insert(alias).second) << what << " " << alias;
      if (flag.letter) {
        EXPECT_TRUE(letters.insert(flag.letter).second) << what << " -" << flag.letter;
      }
      EXPECT_FALSE(flag.help.empty()) << what;
      EXPECT_FALSE(flag.help.ends_with('.')) << what;
      if (!flag.fallback.empty()) {
        EXPECT_TRUE(check_value(flag, flag.fallback, what)) << what;
      }
      if (!flag.choices.empty()) {
        EXPECT_FALSE(flag.value.empty()) << what;
      }
      EXPECT_FALSE(flag.required && !flag.fallback.empty()) << what << " is required and has a default";
    };
    for (const auto& flag : command.flags) take(flag);
    for (const auto& flag : global_flags())
      if (!is_of_a_script(command) || !names.contains(flag.name)) take(flag);
  }
}

TEST_F(Table, ExamplesParse) {
  for (const auto& command : commands_) {
    for (const auto& example : command.examples) {
      // What a shell would make of pipes and quotes is not our business here.
      if (example.command.find_first_of("|<>$(\"'\\;&*") != std::string::npos ||
          !example.command.starts_with("quarry "))
        continue;
      auto words = text::split_any(std::string_view(example.command).substr(7), " ");
      auto resolved = resolve(commands_, words);
      ASSERT_TRUE(resolved) << example.command;
      ASSERT_NE(resolved->command, nullptr) << example.command;
      auto arguments = parse_words(*resolved->command, resolved->words);
      ASSERT_TRUE(arguments) << example.command << ": " << arguments.error().message;
      for (const auto& flag : resolved->command->flags) // examples may rely on QUARRY_STORE
        if (!flag.environment.empty() && !arguments->values.contains(flag.name)) arguments->values[flag.name] = {"x"};
      auto complete = check_required(*resolved->command, *arguments);
      EXPECT_TRUE(complete) << example.command << ": " << complete.error().message;
    }
  }
}

TEST_F(Table, TheFixedSurfaceIsThere) {
  std::set<std::string> names;
  for (const auto& command : commands_) names.insert(name_of(command));
  for (const char* name : {"artifact pack",  "artifact list", "artifact verify",
                           "artifact fetch", "sdk build",     "wheel pack",
                           "wheel unpack",   "wheel verify",  "elf show",
                           "elf edit",       "index build",   "index check",
                           "index repair",   "index rebuild", "gc",
                           "publish",        "set show",      "set verify",
                           "channel show",   "channel log",   "venv create",
                           "venv install",   "test",          "evidence list",
                           "evidence show",  "gate",          "promote",
                           "rollback",       "doctor",        "explain",
                           "config show",    "version",       "completion"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST_F(Table, PagesCoverEveryCommand) {
  auto markdown = markdown_pages(commands_), man = man_pages(commands_);
  for (const auto& command : commands_) {
    auto stem = text::join(command.path, "-");
    EXPECT_EQ(markdown.contains(stem + ".md"), !command.hidden) << stem;
    EXPECT_EQ(man.contains("quarry-" + stem + ".1"), !command.hidden) << stem;
  }
  for (const auto& [name, page] : man)
    for (const auto& line : text::lines(page)) EXPECT_FALSE(line.starts_with('\'')) << name;
}

TEST(FlagRows, BothWaysOfASwitchAreOneRow) {
  std::vector<Flag> flags{{.name = "--store", .value = "S", .help = "where", .required = true}};
  for (const auto* name : {"--blas", "--fft"})
    for (auto& flag : both_ways(name, "choose this component")) flags.push_back(std::move(flag));
  for (auto& flag : both_ways("--clean", "start fresh")) flags.push_back(std::move(flag));
  flags.push_back({.name = "--no-pager", .value = "", .help = "alone"});
  auto rows = flag_rows(flags);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].help, "where (required)");
  EXPECT_EQ(text::trim(rows[1].heading), "--[no-]blas, --[no-]fft");
  EXPECT_EQ(rows[1].help, "choose this component");
  EXPECT_EQ(text::trim(rows[2].heading), "--[no-]clean");
  EXPECT_EQ(text::trim(rows[3].heading), "--no-pager");
}

TEST_F(Table, NoPageOfHelpNamesASwitchTwice) {
  for (const auto& command : commands_) {
    auto page = command_page(command, 80);
    EXPECT_THAT(page, Not(HasSubstr("not --"))) << name_of(command);
    for (const auto& line : text::lines(page))
      if (!line.starts_with("    quarry") && !line.starts_with("quarry ")) {
        EXPECT_LE(line.size(), 100u) << name_of(command) << ": " << line;
      }
  }
}

TEST_F(Table, OnlyAGroupOfHiddenCommandsListsThem) {
  EXPECT_THAT(group_page(commands_, "store", 80), Not(HasSubstr("store put"))) << "store setting is not hidden";
  EXPECT_THAT(group_page(commands_, "compat", 80), HasSubstr("compat fetch_artifacts"));
  EXPECT_THAT(group_page(commands_, "compat", 80), HasSubstr("compat update_dependencies"));
}

// A command line gets only the rooms of its noun, so a noun that its room does not name would be an unknown command.
TEST(Registry, TheCommandsOfANounAreThoseOfTheWholeTable) {
  auto all = all_commands();
  std::set<std::string> nouns;
  for (const auto& command : all) nouns.insert(command.path[0]);
  for (const auto& noun : nouns) {
    std::vector<std::string> expected, near;
    for (const auto& command : all)
      if (command.path[0] == noun) expected.push_back(name_of(command));
    for (const auto& command : commands_near(noun))
      if (command.path[0] == noun) near.push_back(name_of(command));
    EXPECT_EQ(near, expected) << noun;
    EXPECT_LT(commands_near(noun).size(), all.size()) << noun;
  }
  EXPECT_EQ(commands_near("gpuu").size(), all.size());
  EXPECT_EQ(commands_near("--json").size(), all.size());
}

// Otherwise the command would refuse it after all its work, or print two documents.
TEST(Registry, FormatsForProgramsAreRefusedBesideJson) {
  for (const auto& command : all_commands())
    for (const auto& flag : command.flags)
      for (const std::string format : {"sarif", "junit"}) {
        if (std::find(flag.choices.begin(), flag.choices.end(), format) == flag.choices.end()) continue;
        Arguments arguments{.operands = {}, .rest = {}, .values = {{"--json", {""}}}, .fallbacks = {}};
        for (const auto& other : command.flags) arguments.fallbacks[other.name] = other.fallback;
        arguments.fallbacks["--json"] = std::nullopt;
        EXPECT_TRUE(check_documents(command, arguments)) << name_of(command);
        arguments.values[flag.name] = {format};
        auto refused = check_documents(command, arguments);
        ASSERT_FALSE(refused) << name_of(command);
        EXPECT_EQ(refused.error().code, "C042");
        EXPECT_EQ(refused.error().message, "--json and --format " + format + " ask for two documents");
        arguments.values.erase("--json");
        EXPECT_TRUE(check_documents(command, arguments)) << name_of(command);
      }
}

} // namespace
} // namespace quarry::cli
