#include "cli/settings.hpp"

#include "base/text.hpp"
#include "cli/parse.hpp"
#include "sys/file.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SettingsTest : public ::testing::Test {
protected:
  void SetUp() override {
    auto made = sys::make_temporary_directory(::testing::TempDir(), "settings-");
    ASSERT_TRUE(made);
    root_ = *made;
    commands_ = {{.path = {"publish"},
                  .summary = "",
                  .description = "",
                  .operands = {},
                  .flags = {{.name = "--store",
                             .value = "LOCATOR",
                             .help = "",
                             .fallback = "file:default",
                             .environment = "QUARRY_STORE"},
                            {.name = "--keep", .value = "", .help = "", .environment = "QUARRY_KEEP"},
                            {.name = "--base", .value = "URL", .help = "", .environment = "GITHUB_SERVER_URL"}},
                  .examples = {},
                  .exit_codes = {},
                  .schema = "",
                  .run = {}}};
  }
  void TearDown() override { EXPECT_TRUE(sys::remove_tree(root_)); }

  std::string write(const std::string& name, std::string_view content) {
    auto path = root_ + "/" + name;
    EXPECT_TRUE(sys::make_directories(path.substr(0, path.rfind('/'))));
    EXPECT_TRUE(sys::write_file(path, content));
    return path;
  }
  /// The value and whether it counts as given, after all sources had their say.
  std::string store(const std::vector<std::string>& words, const std::vector<std::string>& files) {
    auto settings = Settings::load(files, commands_);
    if (!settings) return settings.error().code;
    auto arguments = parse_words(commands_[0], words);
    EXPECT_TRUE(arguments);
    if (auto applied = apply_settings(commands_[0].flags, environment_, *settings, *arguments); !applied)
      return applied.error().code;
    return arguments->get("--store");
  }

  std::string root_;
  std::vector<Command> commands_;
  std::map<std::string, std::string> environment_;
};

TEST_F(SettingsTest, TheStrongerSourceWins) {
  auto repository = write("repo/quarry.toml", "store = 'file:/repository'\n");
  auto user = write("user/config.toml", "store = 'file:/user'\n");
  EXPECT_EQ(store({}, {}), "file:default");
  EXPECT_EQ(store({}, {user}), "file:/user");
  EXPECT_EQ(store({}, {repository, user}), "file:/repository");
  environment_["QUARRY_STORE"] = "file:/variable";
  EXPECT_EQ(store({}, {repository, user}), "file:/variable");
  EXPECT_EQ(store({"--store", "file:/flag"}, {repository, user}), "file:/flag");
  environment_["QUARRY_STORE"] = "";
  EXPECT_EQ(store({}, {repository, user}), "file:/repository") << "an empty variable is not set";
}

TEST_F(SettingsTest, ALocationIsRelativeToItsFile) {
  EXPECT_EQ(store({}, {write("repo/quarry.toml", "store = 'file:../store'\n")}), "file:" + root_ + "/store");
  EXPECT_EQ(store({}, {write("repo/quarry.toml", "store = 'run:42'\n")}), "run:42");
}

TEST_F(SettingsTest, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(store({}, {write("a.toml", "stroe = 'x'\n")}), "C021");
  EXPECT_EQ(store({}, {write("b.toml", "store = 3\n")}), "C021");
  EXPECT_EQ(store({}, {write("c.toml", "jobs = 'many'\n")}), "C021");
  EXPECT_EQ(store({}, {write("d.toml", "jobs = 0\n")}), "C006");
  EXPECT_EQ(store({}, {write("e.toml", "color = 'red'\n")}), "C006");
  EXPECT_EQ(store({}, {write("f.toml", "store = \n")}), "C020");
  EXPECT_EQ(store({}, {write("g.toml", "github-server-url = 'x'\n")}), "C021") << "only QUARRY_ variables are settings";
}

TEST_F(SettingsTest, ErrorsNameFileAndLine) {
  auto file = write("quarry.toml", "store = 'file:/x'\n\nstroe = 'y'\n");
  auto settings = Settings::load({file}, commands_);
  ASSERT_FALSE(settings);
  EXPECT_THAT(settings.error().message, HasSubstr(file + ":3: stroe"));
}

TEST_F(SettingsTest, SwitchesReadTheirVariable) {
  auto keeps = [&](const std::string& value) {
    environment_["QUARRY_KEEP"] = value;
    auto arguments = parse_words(commands_[0], {});
    EXPECT_TRUE(apply_settings(commands_[0].flags, environment_, Settings(), *arguments));
    return arguments->has("--keep");
  };
  EXPECT_TRUE(keeps("1"));
  EXPECT_FALSE(keeps("0"));
  EXPECT_FALSE(keeps(""));
}

TEST_F(SettingsTest, AVariableIsCheckedLikeAFlag) {
  environment_["QUARRY_COLOR"] = "red";
  auto arguments = parse_words(commands_[0], {});
  auto applied = apply_settings(global_flags(), environment_, Settings(), *arguments);
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code, "C006");
  EXPECT_THAT(applied.error().message, HasSubstr("QUARRY_COLOR"));
}

TEST_F(SettingsTest, FindsTheNearestFileOfTheRepositoryAndTheUsers) {
  write("outside/quarry.toml", "");
  write("outside/repo/.git/HEAD", "");
  write("outside/repo/a/b/x", "");
  environment_["HOME"] = root_ + "/home";
  auto inside = root_ + "/outside/repo/a/b";
  auto user = root_ + "/home/.config/quarry/config.toml";
  EXPECT_THAT(settings_files(inside, environment_), ElementsAre(user))
      << "a file outside the repository is not its own";
  auto top = write("outside/repo/quarry.toml", "");
  EXPECT_THAT(settings_files(inside, environment_), ElementsAre(top, user));
  auto near = write("outside/repo/a/quarry.toml", "");
  EXPECT_THAT(settings_files(inside, environment_), ElementsAre(near, user));
  environment_["XDG_CONFIG_HOME"] = root_ + "/xdg";
  EXPECT_THAT(settings_files(inside, environment_), ElementsAre(near, root_ + "/xdg/quarry/config.toml"));
  EXPECT_EQ(repository_root(inside), root_ + "/outside/repo");
}

TEST(SettingKey, ComesFromTheVariable) { EXPECT_EQ(setting_key("QUARRY_PYPI_URL"), "pypi-url"); }

} // namespace
} // namespace quarry::cli
