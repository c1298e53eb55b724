#include "closure/pylock.hpp"

#include "closure/choose.hpp"
#include "dist/metadata.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::closure {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Package package(const std::string& file, const std::vector<std::string>& requires_dist = {},
                const std::vector<std::string>& extras = {}) {
  dist::Metadata metadata;
  metadata.requires_dist = requires_dist;
  metadata.provides_extra = extras;
  return *package_of(file, metadata, 1);
}

std::vector<std::string> projects_of(const Chosen& chosen) {
  std::vector<std::string> names;
  for (const auto& [name, version] : chosen.projects) names.push_back(name + " " + version.version);
  return names;
}

Chosen choose(const std::vector<Package>& set, const std::string& wanted, const std::string& platform = "linux") {
  ClosureQuestion question{*mirror::parse_targets("3.12", platform), nullptr, {}, {}};
  auto chosen = choose_versions(set, {*dist::Requirement::parse(wanted)}, question);
  EXPECT_TRUE(chosen) << render(chosen.error());
  return *chosen;
}

TEST(Choose, TakesTheNewestThatFitsAndWhatItNeeds) {
  std::vector<Package> set{package("a-1.0-py3-none-any.whl", {"b>=1", "c; extra == 'more'"}, {"more"}),
                           package("b-1.0-py3-none-any.whl"),
                           package("b-2.0-py3-none-any.whl"),
                           package("b-2.0-cp312-cp312-win_amd64.whl"),
                           package("c-1.0-cp311-cp311-linux_x86_64.whl"),
                           package("c-1.0-cp312-cp312-linux_x86_64.whl"),
                           package("d-1.0-py3-none-any.whl")};
  EXPECT_THAT(projects_of(choose(set, "a")), ElementsAre("a 1.0", "b 2.0"));
  auto more = choose(set, "a[more]");
  EXPECT_THAT(projects_of(more), ElementsAre("a 1.0", "b 2.0", "c 1.0"));
  EXPECT_THAT(more.projects.at("c").files, ElementsAre("c-1.0-cp312-cp312-linux_x86_64.whl"));
  EXPECT_THAT(choose(set, "a", "windows").projects.at("b").files, ElementsAre("b-2.0-cp312-cp312-win_amd64.whl"));
}

// Installers ignore such an extra; whoever makes a lock is told which there are.
TEST(Choose, SaysWhichExtrasTheChosenVersionLacks) {
  std::vector<Package> set{package("a-1.0-py3-none-any.whl", {}, {"old"}),
                           package("a-2.0-py3-none-any.whl", {"b; extra == 'more'", "b[never]"}, {"more", "other"}),
                           package("b-1.0-py3-none-any.whl")};
  EXPECT_THAT(choose(set, "a[more,other]").unknown_extras, IsEmpty()) << "b[never] is not what the caller asked for";
  auto chosen = choose(set, "a[more,old]");
  ASSERT_THAT(chosen.unknown_extras, SizeIs(1));
  const auto& unknown = chosen.unknown_extras[0];
  EXPECT_EQ(unknown.project + " " + unknown.version + " " + unknown.extra, "a 2.0 old");
  EXPECT_THAT(unknown.known, ElementsAre("more", "other"));
  EXPECT_THAT(choose(set, "a[old]<2").unknown_extras, IsEmpty());
  EXPECT_THAT(extras_of(set, "a"), ElementsAre("more", "old", "other"));
}

TEST(Choose, AGapChoosesNothing) {
  auto chosen = choose({package("a-1.0-py3-none-any.whl", {"b==3"}), package("b-1.0-py3-none-any.whl")}, "a");
  EXPECT_THAT(chosen.projects, IsEmpty());
  ASSERT_THAT(chosen.gaps, SizeIs(1));
  EXPECT_EQ(chosen.gaps[0].code, "Q402");
}

TEST(Pylock, IsTextThatInstallersRead) {
  Lock lock;
  lock.environments = {marker_of(mirror::parse_targets("3.12", "linux")->front())};
  lock.source = "channel:stable";
  lock.sets = {"0e66"};
  lock.projects.push_back(
      {"b", "2.0+rocm7", ">=3.10", "", {{"b-2.0+rocm7-py3-none-any.whl", "file:///s/b \"x\"", "ab", 7}}, {}});
  lock.projects.push_back({"r", "1", "", "sys_platform == \"linux\"", {}, LockedFile{"r-1.tar.gz", "u", "cd", 0}});
  EXPECT_EQ(to_pylock(lock), R"(lock-version = "1.0"
created-by = "quarry"
environments = ["python_version == \"3.12\" and sys_platform == \"linux\" and platform_machine == \"x86_64\""]

[[packages]]
name = "b"
version = "2.0+rocm7"
requires-python = ">=3.10"
wheels = [
    {name = "b-2.0+rocm7-py3-none-any.whl", url = "file:///s/b \"x\"", size = 7, hashes = {sha256 = "ab"}},
]

[[packages]]
name = "r"
version = "1"
marker = "sys_platform == \"linux\""
sdist = {name = "r-1.tar.gz", url = "u", hashes = {sha256 = "cd"}}

[tool.quarry]
source = "channel:stable"
sets = ["0e66"]
)");
}

} // namespace
} // namespace quarry::closure
