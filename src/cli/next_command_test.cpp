#include "cli/next_command.hpp"

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/parse.hpp"
#include "cli/settings.hpp"
#include "cli/testing/silent.hpp"
#include "cli/testing/world.hpp"
#include "sys/file.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>

namespace quarry::cli {
namespace {

class NextCommandTest : public ::testing::Test {
protected:
  std::map<std::string, std::string> environment;
  sys::FixedClock clock{0};
  testing::MapResources data;
  testing::Silent out;
  Context context() { return {environment, clock, data, out, 1, "/quarry", nullptr}; }
};

/// What a shell makes of the line: words between blanks, `'…'` as it is, `\'` a quote.
std::vector<std::string> shell_words(const std::string& line) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\'')
      quoted = !quoted;
    else if (!quoted && line[i] == '\\')
      words.back() += line[++i];
    else if (!quoted && line[i] == ' ')
      words.emplace_back();
    else
      words.back() += line[i];
  }
  return words;
}

const Command& command_named(const std::vector<Command>& all, const std::string& name) {
  for (const auto& command : all)
    if (name_of(command) == name) return command;
  throw std::logic_error(name);
}

TEST_F(NextCommandTest, EveryFlagOfEveryCommandComesBack) {
  auto here = context();
  for (const auto& command : all_commands()) {
    if (command.raw) continue;
    Arguments said;
    for (const auto& flag : command.flags) {
      if (flag.many) continue;
      auto value = flag.value.empty() ? "" : flag.choices.empty() ? "it's {a} -b" : flag.choices.back();
      said.values[flag.name] = {value};
      if (flag.name == "--sign") said.values[flag.name] = {"KEY"}; // see below
      if (flag.repeats) said.values[flag.name].push_back(flag.choices.empty() ? "--second" : flag.choices.front());
    }
    auto words = shell_words(NextCommand(here, name_of(command)).flags_of(said).text());
    words.erase(words.begin(), words.begin() + 1 + static_cast<std::ptrdiff_t>(command.path.size()));
    auto read = parse_words(command, words);
    ASSERT_TRUE(read) << name_of(command) << ": " << render(read.error());
    for (const auto& [flag, values] : said.values) {
      bool is_default = read->fallbacks.at(flag) == values[0];
      EXPECT_EQ(is_default ? said.values[flag] : read->list(flag), values) << name_of(command) << " " << flag;
      EXPECT_EQ(read->get(flag), values.back()) << name_of(command) << " " << flag;
    }
  }
}

// Who judges is not who moves: the next person has a key of their own.
TEST_F(NextCommandTest, AKeyIsNeverRepeated) {
  auto here = context();
  const auto all = all_commands();
  auto said = parse_words(command_named(all, "gate"),
                          std::vector<std::string>{"--from", "run:1", "--to", "stable", "--sign", "judge.pem"});
  ASSERT_TRUE(said) << render(said.error());
  auto line = NextCommand(here, "promote").flags_of(*said).text();
  EXPECT_NE(line.find("--sign KEY"), line.npos) << line;
  EXPECT_EQ(line.find("judge.pem"), line.npos) << line;
  EXPECT_EQ(NextCommand(here, "rollback").operand("stable").signed_if(true).text(),
            "quarry rollback stable --sign KEY");
  EXPECT_EQ(NextCommand(here, "rollback").operand("stable").signed_if(false).text(), "quarry rollback stable");
}

TEST_F(NextCommandTest, WhatTheShellSaysAlreadyIsOmitted) {
  environment["QUARRY_STORE"] = "file:store-b";
  environment["QUARRY_DISTRIBUTIONS"] = "own.toml";
  auto here = context();
  auto line = [&](const std::string& store, const std::string& distributions) {
    return NextCommand(here, "promote")
        .set("--store", store)
        .set("--distributions", distributions)
        .set("--policy", "default")
        .set("--cells", "all")
        .text();
  };
  EXPECT_EQ(line("file:store-b", "own.toml"), "quarry promote");
  // The default must be said where a variable says something else.
  EXPECT_EQ(line("file:store", "therock-v2"), "quarry promote --distributions therock-v2 --store file:store");
}

TEST_F(NextCommandTest, ASettingCountsLikeAVariable) {
  auto file = ::testing::TempDir() + "next_command_test.toml";
  ASSERT_TRUE(sys::write_file(file, "store = \"file:/s\"\n"));
  auto all = all_commands();
  auto settings = Settings::load({file}, all);
  ASSERT_TRUE(settings) << render(settings.error());
  auto here = context();
  here.settings = &*settings;
  EXPECT_EQ(NextCommand(here, "test").set("--venv", "v").set("--store", "file:/s").text(), "quarry test --venv v");
  environment["QUARRY_STORE"] = "file:/other"; // is stronger than the file
  EXPECT_EQ(NextCommand(here, "test").set("--store", "file:/s").text(), "quarry test --store file:/s");
}

TEST_F(NextCommandTest, AnotherCommandGetsTheFlagsThatItHas) {
  auto all = all_commands();
  auto said = parse_words(command_named(all, "gate"),
                          std::vector<std::string>{"--from", "run:1", "--to", "a b", "--store", "file:s", "--json"});
  ASSERT_TRUE(said);
  auto here = context();
  EXPECT_EQ(NextCommand(here, "promote").flags_of(*said).set("--dry-run").drop("--from").text(),
            "quarry promote --to 'a b' --dry-run --store file:s");
  EXPECT_EQ(NextCommand(here, "venv install").operand("my env").flags_of(*said).text(),
            "quarry venv install 'my env' --from run:1 --store file:s");
}

TEST_F(NextCommandTest, WhatTheTableLacksIsABug) {
  auto here = context();
  EXPECT_THROW(NextCommand(here, "no such"), std::logic_error);
  EXPECT_THROW(NextCommand(here, "gate").set("--prefix", "x"), std::logic_error);
  EXPECT_THROW(NextCommand(here, "gate").drop("--prefix"), std::logic_error);
}

} // namespace
} // namespace quarry::cli
