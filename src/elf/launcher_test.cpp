#include "elf/launcher.hpp"

#include "elf/elf_fixtures.hpp"
#include "sys/file.hpp"
#include <gmock/gmock.h>

namespace quarry::elf {
namespace {
using namespace testing;
using ::testing::HasSubstr;

content::Rope prebuilt() { return rope(std::string(QUARRY_BINARY_DIR) + "/launcher/quarry-launcher"); }

std::string install(const std::string& name, std::string_view target) {
  auto made = launcher_for(prebuilt(), target);
  EXPECT_TRUE(made) << (made ? "" : render(made.error()));
  return made ? write(*made, name) : "";
}

// Prints its own argv[0], arguments and a variable.
std::string script(const std::string& name) {
  auto path = directory() + "/" + name;
  EXPECT_TRUE(sys::write_file(path, "#!/bin/sh\necho \"$0|$*|$MARK\"\nexit 7\n", 0755));
  return path;
}
std::string speaker(const std::string& name) {
  return build(name,
               "#include <stdio.h>\n#include <stdlib.h>\nint main(int c, char** v) { printf(\"%s|%s|%s\\n\", v[0], c > "
               "1 ? v[1] : \"\", getenv(\"MARK\")); return 7; }\n",
               {});
}

TEST(Launcher, IsSmallStaticAndSound) {
  auto file = prebuilt();
  EXPECT_LT(file.size(), 16u << 10);
  auto f = facts(file);
  EXPECT_FALSE(f.has_dynamic);
  EXPECT_EQ(f.interpreter, "");
  EXPECT_TRUE(f.is_program());
  EXPECT_TRUE(verify(file, "launcher").empty());
}

TEST(Launcher, FillingTheSlotChangesNothingElse) {
  auto file = prebuilt();
  auto made = launcher_for(file, "target").value();
  ASSERT_EQ(made.size(), file.size());
  auto before = bytes(file), after = bytes(made);
  auto at = after.find("target", after.find("TARGET-SLOT"));
  ASSERT_NE(at, after.npos);
  EXPECT_EQ(before.replace(at, 6, "target"), after);
  EXPECT_TRUE(content::same_piece({file, 0}, {made, 0}, at));
  EXPECT_EQ(made.piece_count(), 3u);
}

TEST(Launcher, SaysWhatItStarts) {
  EXPECT_EQ(launcher_target(launcher_for(prebuilt(), "../bin/a b").value()).value(), "../bin/a b");
  EXPECT_EQ(launcher_target(prebuilt()).value(), std::nullopt);
  EXPECT_EQ(launcher_target(content::Rope::literal("text")).value(), std::nullopt);
}

TEST(Launcher, KeepsArgumentsEnvironmentAndExitCode) {
  speaker("speaker");
  auto launcher = install("launch", "speaker");
  auto result = run({launcher, "an argument"}, {{"MARK", "kept"}});
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(result.out,
            launcher + "|an argument|kept\n"); // argv[0] is what the caller said: clang's mode depends on it
}

TEST(Launcher, RunsScriptsAndDirectoriesWithSpaces) {
  ASSERT_TRUE(sys::make_directories(directory() + "/with some spaces/bin"));
  ASSERT_TRUE(sys::make_directories(directory() + "/with some spaces/lib"));
  script("with some spaces/lib/tool");
  auto result = run({install("with some spaces/bin/tool", "../lib/tool"), "x"});
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_THAT(result.out, HasSubstr("/with some spaces/bin/../lib/tool|x|"));
}

TEST(Launcher, RelativeToItsRealPlace) {
  ASSERT_TRUE(sys::make_directories(directory() + "/real"));
  speaker("real/speaker");
  install("real/launch", "speaker");
  auto link = directory() + "/link-to-launch";
  EXPECT_EQ(run({"ln", "-s", "real/launch", link}).exit_code, 0);
  EXPECT_THAT(run({link}, {{"MARK", "m"}}).out, HasSubstr("link-to-launch||m"));
}

TEST(Launcher, Chains) {
  speaker("speaker");
  install("third", "speaker");
  install("second", "third");
  auto first = install("first", "./second");
  EXPECT_EQ(run({first, "a"}, {{"MARK", "m"}}).out, first + "|a|m\n");
}

TEST(Launcher, SaysWhatItCannotRun) {
  auto missing = run({install("launch-missing", "../not/there")});
  EXPECT_EQ(missing.exit_code, 127);
  EXPECT_EQ(missing.out, "quarry-launcher: cannot run " + sys::real_path(directory()).value() +
                             "/../not/there: no such file (errno 2)\n");
  ASSERT_TRUE(sys::write_file(directory() + "/plain-text", "hello", 0644));
  EXPECT_THAT(run({install("launch-text", "plain-text")}).out, HasSubstr("plain-text: permission denied (errno 13)"));
  auto empty = run({write(prebuilt(), "launch-empty")});
  EXPECT_EQ(empty.exit_code, 127);
  EXPECT_THAT(empty.out, HasSubstr("none was set"));
}

TEST(Launcher, HoldsTheLongestTarget) {
  std::string target = std::string(4095 - 7, '/').replace(0, 1, "./") + "speaker";
  target.resize(4095);
  ASSERT_TRUE(launcher_for(prebuilt(), target));
  EXPECT_THAT(run({install("launch-long", std::string(200, 'a') + "/" + std::string(3894, 'b'))}).out,
              HasSubstr("the path is too long (errno 36)"));
}

struct LauncherRefusal {
  const char* name;
  std::function<Result<content::Rope>()> make;
  const char* code;
  const char* says;
};
class LauncherRefuses : public ::testing::TestWithParam<LauncherRefusal> {};
TEST_P(LauncherRefuses, WithItsReason) {
  auto result = GetParam().make();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, GetParam().code);
  EXPECT_THAT(result.error().message, HasSubstr(GetParam().says));
}
INSTANTIATE_TEST_SUITE_P(
    , LauncherRefuses,
    ::testing::Values(
        LauncherRefusal{"Empty", [] { return launcher_for(prebuilt(), ""); }, "E018", "needs a target"},
        LauncherRefusal{"Absolute", [] { return launcher_for(prebuilt(), "/usr/bin/true"); }, "E018", "absolute"},
        LauncherRefusal{"Nul", [] { return launcher_for(prebuilt(), std::string_view("a\0b", 3)); }, "E018", "NUL"},
        LauncherRefusal{"TooLong", [] { return launcher_for(prebuilt(), std::string(4096, 'a')); }, "E018",
                        "4096 bytes"},
        LauncherRefusal{"OtherProgram", [] { return launcher_for(rope(static_program()), "a"); }, "E019",
                        "exactly one slot"},
        LauncherRefusal{"TooLarge", [] { return launcher_for(content::Rope::zeros(1u << 20), "a"); }, "E019",
                        "too large"},
        LauncherRefusal{"FilledAlready", [] { return launcher_for(launcher_for(prebuilt(), "a").value(), "b"); },
                        "E019", "already filled"},
        LauncherRefusal{"CutOff",
                        [] {
                          auto file = prebuilt();
                          return launcher_for(file.slice(0, file.size() - 2048), "b");
                        },
                        "E019", "cut off"}),
    [](const auto& made) { return std::string(made.param.name); });

} // namespace
} // namespace quarry::elf
