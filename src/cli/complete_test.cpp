#include "cli/complete.hpp"

#include "cli/commands.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

class Completing : public ::testing::Test {
protected:
  std::vector<std::string> texts(const std::vector<std::string>& words) {
    last_ = complete(commands_, words, lookups_);
    std::vector<std::string> texts;
    for (const auto& candidate : last_.candidates) texts.push_back(candidate.text);
    return texts;
  }
  std::vector<Command> commands_ = all_commands();
  Lookups lookups_{.channels = [] { return std::vector<Suggestion>{{"staging"}, {"stable"}}; },
                   .policies = [] { return std::vector<Suggestion>{{"default"}, {"demo"}}; },
                   .recipes = [] { return std::vector<Suggestion>{{"rocm-sdk"}}; },
                   .codes = [] { return std::vector<Suggestion>{{"A012", "about"}, {"C002"}}; }};
  Completion last_;
};

TEST_F(Completing, NamesOfCommands) {
  EXPECT_THAT(texts({"pub"}), ElementsAre("publish"));
  EXPECT_THAT(texts({""}), IsSupersetOf({"artifact", "publish", "help"}));
  EXPECT_THAT(texts({}), Contains("publish"));
  EXPECT_THAT(texts({"artifact", "fe"}), ElementsAre("fetch"));
  EXPECT_THAT(texts({"help", "art"}), ElementsAre("artifact"));
  EXPECT_THAT(texts({"help", "artifact", "fe"}), ElementsAre("fetch"));
  EXPECT_THAT(texts({"he"}), ElementsAre("help"));
  EXPECT_THAT(texts({"version", "c"}), ElementsAre("compute"));
  EXPECT_THAT(texts({"nonsense", ""}), IsEmpty());
  EXPECT_THAT(texts({"doc"}), ElementsAre("doctor")) << "hidden commands are not offered";
  EXPECT_FALSE(last_.files);
}

TEST_F(Completing, EveryCommandIsOfferedWithItsSummary) {
  for (const auto& command : commands_) {
    if (command.hidden) continue;
    EXPECT_THAT(texts(command.path), Contains(command.path.back())) << command.path.back();
    for (const auto& candidate : last_.candidates) EXPECT_FALSE(candidate.about.empty()) << candidate.text;
  }
}

TEST_F(Completing, FlagsOfEveryCommandMayStandFirst) {
  EXPECT_THAT(texts({"-j", "2", "pub"}), ElementsAre("publish"));
  EXPECT_THAT(texts({"--color=never", "-q", "pub"}), ElementsAre("publish"));
  EXPECT_THAT(texts({"--color", "al"}), ElementsAre("always"));
  EXPECT_THAT(texts({"--j"}), ElementsAre("--json", "--jobs"));
  EXPECT_THAT(texts({"-j", ""}), IsEmpty());
  EXPECT_THAT(texts({"artifact", "--json", "fe"}), ElementsAre("fetch"));
}

TEST_F(Completing, FlagsAndTheirValues) {
  EXPECT_THAT(texts({"sdk", "build", "--profil"}), ElementsAre("--profile"));
  EXPECT_THAT(texts({"sdk", "build", "--profile", "re"}), ElementsAre("release"));
  EXPECT_THAT(texts({"sdk", "build", "--profile=re"}), ElementsAre("--profile=release"));
  EXPECT_THAT(texts({"sdk", "build", "--profile", "ci", "--prof"}), IsEmpty()) << "it may be given once";
  EXPECT_THAT(texts({"sdk", "build", "--recipe", ""}), ElementsAre("rocm-sdk"));
  EXPECT_TRUE(last_.files);
  EXPECT_THAT(texts({"sdk", "build", "--dest-dir", ""}), IsEmpty());
  EXPECT_TRUE(last_.files);
  EXPECT_THAT(texts({"publish", "out", "--run-id", ""}), IsEmpty());
  EXPECT_FALSE(last_.files) << "a run's id is not a file";
  EXPECT_THAT(texts({"publish", "out", "--chan"}), ElementsAre("--channel"));
  EXPECT_FALSE(last_.candidates.at(0).about.empty());
}

TEST_F(Completing, NamesFromStoreAndData) {
  EXPECT_THAT(texts({"channel", "show", "st"}), ElementsAre("staging", "stable"));
  EXPECT_THAT(texts({"rollback", "sta"}), ElementsAre("staging", "stable"));
  EXPECT_THAT(texts({"publish", "out", "--channel", "stag"}), ElementsAre("staging"));
  EXPECT_THAT(texts({"promote", "--to", "stab"}), ElementsAre("stable"));
  EXPECT_THAT(texts({"promote", "--from", "channel:stab"}), ElementsAre("channel:stable"));
  EXPECT_THAT(texts({"promote", "--from", "r"}), ElementsAre("run:"));
  EXPECT_THAT(texts({"gate", "--policy", "d"}), ElementsAre("default", "demo"));
  EXPECT_THAT(texts({"gate", "--policy=de"}), ElementsAre("--policy=default", "--policy=demo"));
  EXPECT_THAT(texts({"explain", "A"}), ElementsAre("A012"));
  EXPECT_EQ(last_.candidates.at(0).about, "about");
  EXPECT_FALSE(last_.files);
  EXPECT_THAT(texts({"completion", ""}), ElementsAre("bash", "zsh", "fish"));
  EXPECT_FALSE(last_.files);
}

TEST_F(Completing, OperandsAreFilesUnlessTheyAreNames) {
  EXPECT_THAT(texts({"wheel", "verify", "x"}), IsEmpty());
  EXPECT_TRUE(last_.files);
  EXPECT_THAT(texts({"wheel", "verify", "a.whl", "b"}), IsEmpty());
  EXPECT_TRUE(last_.files) << "FILE may be repeated";
  EXPECT_THAT(texts({"publish", "out", "second"}), IsEmpty());
  EXPECT_FALSE(last_.files) << "publish takes one directory";
}

TEST_F(Completing, BehindTwoDashesACommandOfTheUserBegins) {
  EXPECT_THAT(texts({"test", "--venv", ".venv", "--", "--ven"}), IsEmpty());
  EXPECT_TRUE(last_.files);
}

TEST_F(Completing, NothingIsLookedUpForNothing) {
  lookups_.channels = []() -> std::vector<Suggestion> { throw std::logic_error("asked"); };
  EXPECT_THAT(texts({"publish", "out", "--run-id", "4"}), IsEmpty());
  EXPECT_THAT(texts({"sdk", "build", "--profile", "re"}), Not(IsEmpty()));
}

} // namespace
} // namespace quarry::cli
