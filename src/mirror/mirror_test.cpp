#include "mirror/names.hpp"
#include "mirror/requirements.hpp"
#include "mirror/resolve.hpp"
#include "mirror/sync.hpp"
#include "mirror/target.hpp"

#include "registry/registry.hpp"
#include "store/object_store.hpp"
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::mirror {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

dist::WheelTags tags(std::string python, std::string abi, std::string platform) {
  return {std::move(python), std::move(abi), std::move(platform)};
}

TEST(Target, WheelsFitAsInstallersSay) {
  struct Case {
    const char *python, *abi, *platform, *target_python, *target_platform;
    std::optional<int> fits;
  };
  for (const auto& c : std::vector<Case>{
           {"cp312", "cp312", "manylinux_2_28_x86_64", "3.12", "linux", 0},
           {"cp312", "cp312", "manylinux2014_x86_64.manylinux_2_17_x86_64", "3.12", "linux", 0},
           {"cp312", "cp312", "win_amd64", "3.12", "windows", 0},
           {"cp312", "cp312", "win_amd64", "3.12", "linux", std::nullopt},
           {"cp312", "cp312", "win32", "3.12", "windows", std::nullopt},
           {"cp312", "cp312", "musllinux_1_2_x86_64", "3.12", "linux", std::nullopt},
           {"cp312", "cp312", "manylinux_2_28_aarch64", "3.12", "linux", std::nullopt},
           {"cp312", "cp312", "macosx_11_0_x86_64", "3.12", "linux", std::nullopt},
           {"cp313", "cp313t", "manylinux_2_28_x86_64", "3.13", "linux", std::nullopt},
           {"cp312", "cp312", "manylinux_2_28_x86_64", "3.10", "linux", std::nullopt},
           {"cp39", "abi3", "manylinux_2_28_x86_64", "3.12", "linux", 1},
           {"cp39.cp310", "abi3", "manylinux1_x86_64", "3.9", "linux", 1},
           {"cp313", "abi3", "manylinux_2_28_x86_64", "3.12", "linux", std::nullopt},
           {"py3", "none", "any", "3.12", "linux", 2},
           {"py2.py3", "none", "any", "3.12", "windows", 2},
           {"py310", "none", "any", "3.12", "linux", 2},
           {"py313", "none", "any", "3.12", "linux", std::nullopt},
           {"py2", "none", "any", "3.12", "linux", std::nullopt},
           {"py3", "none", "win_amd64", "3.12", "windows", 2},
           {"cp312", "none", "any", "3.12", "linux", 2},
           {"cp311", "none", "any", "3.12", "linux", std::nullopt},
           {"pp310", "pypy310_pp73", "manylinux_2_28_x86_64", "3.10", "linux", std::nullopt},
       }) {
    auto target = *parse_target(c.target_python, Platform::read(c.target_platform));
    EXPECT_EQ(fit(tags(c.python, c.abi, c.platform), target), c.fits)
        << c.python << "-" << c.abi << "-" << c.platform << " on " << target.name();
  }
}

TEST(Target, AMinorVersionStandsForItsFirstAndLatePatch) {
  auto both = *parse_target("3.11", Platform::linux), one = *parse_target("3.11.3", Platform::linux);
  auto early = *dist::Marker::parse("python_full_version < '3.11.3'"),
       late = *dist::Marker::parse("python_full_version >= '3.11.3'");
  EXPECT_TRUE(both.holds(early, "") && both.holds(late, ""));
  EXPECT_TRUE(!one.holds(early, "") && one.holds(late, ""));
  auto targets = *parse_targets("3.10, 3.12,3.10", "linux,windows");
  std::vector<std::string> names;
  for (const auto& target : targets) names.push_back(target.name());
  EXPECT_THAT(names, ElementsAre("3.10 linux", "3.10 windows", "3.12 linux", "3.12 windows"));
  for (const auto& [python, platform] : std::vector<std::pair<std::string, std::string>>{{"", "linux"},
                                                                                         {"3", "linux"},
                                                                                         {"2.7", "linux"},
                                                                                         {"3.6", "linux"},
                                                                                         {"3.x", "linux"},
                                                                                         {"3.12.1.1", "linux"},
                                                                                         {"3.12", "macos"},
                                                                                         {"3.12", ""}}) {
    auto parsed = parse_targets(python, platform);
    ASSERT_FALSE(parsed) << python << " " << platform;
    EXPECT_EQ(parsed.error().code, "U002");
  }
}

TEST(Requirements, OneALineWithCommentsAndContinuedLines) {
  auto asked =
      parse_requirements({"# deps\nnumpy >=1.26,\\\n  <3   # why\n\nfilelock#not-a-comment-in-a-name\n", "r.txt"});
  ASSERT_FALSE(asked); // "filelock#not…" is no requirement
  EXPECT_EQ(asked.error().code, "M010");
  EXPECT_THAT(asked.error().context, ElementsAre("in r.txt:5"));
  asked = parse_requirements({"numpy >=1.26,\\\n  <3   # why\r\nwheel==0.45.1\n", "r.txt"});
  ASSERT_TRUE(asked) << asked.error().message;
  std::vector<std::string> found;
  for (const auto& one : *asked)
    found.push_back(one.requirement.project.str() + one.requirement.specifier_text + " " + one.by);
  EXPECT_THAT(found, ElementsAre("numpy>=1.26,  <3 r.txt:1", "wheel==0.45.1 r.txt:3",
                                 "setuptools building source distributions"));
  for (const char* text : {"-r other.txt", "--index-url https://host.example", "numpy --hash=sha256:00",
                           "a @ https://host.example/a.whl", "", "# nothing\n"}) {
    auto refused = parse_requirements({text, "r.txt"});
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().code, "U001") << text;
  }
}

/// An index as a table: "name version" -> Requires-Dist lines; wheels are py3-none-any unless said.
class Table final : public Candidates {
public:
  Table& add(const std::string& project, const std::string& version, std::vector<std::string> requires_dist = {},
             std::string requires_python = "", const std::string& wheel_tags = "py3-none-any") {
    index::PageFile file;
    file.filename = fmt::format("{}-{}-{}.whl", dist::ProjectName::parse(project)->file_form(), version, wheel_tags);
    file.requires_python = std::move(requires_python);
    dist::Metadata metadata;
    metadata.name = project;
    metadata.version = version;
    metadata.requires_dist = std::move(requires_dist);
    metadata.provides_extra = {"more"};
    metadata_[file.filename] = metadata;
    pages_[project].files.push_back(std::move(file));
    return *this;
  }
  dist::Metadata& last_metadata(const std::string& project) { return metadata_[last(project).filename]; }
  index::PageFile& last(const std::string& project) { return pages_[project].files.back(); }
  Result<const index::IndexPage*> page(const std::string& project) override {
    auto found = pages_.find(project);
    if (found == pages_.end()) return fail(ErrorKind::not_found, "U003", "no " + project);
    return &found->second;
  }
  Result<dist::Metadata> metadata(const index::PageFile& file) override { return metadata_.at(file.filename); }

private:
  std::map<std::string, index::IndexPage> pages_;
  std::map<std::string, dist::Metadata> metadata_;
};

Result<Resolution> resolved(
    Table& table, const std::vector<std::string>& requirements, const std::string& python = "3.12",
    const std::string& platform = "linux", const Guard& guard = [](auto&&...) { return Result<void>(); }) {
  std::vector<Asked> asked;
  for (const auto& text : requirements) asked.push_back({*dist::Requirement::parse(text), "r.txt"});
  return resolve(table, asked, *parse_target(python, Platform::read(platform)), guard);
}

std::string versions(const Result<Resolution>& resolution) {
  if (!resolution) return resolution.error().code + ": " + resolution.error().message;
  std::string text;
  for (const auto& [project, choice] : resolution->choices)
    text += (text.empty() ? "" : " ") + project + "=" + choice.version;
  return text;
}

TEST(Resolve, TheNewestThatAllAllow) {
  Table table;
  table.add("app", "1.0")
      .add("app", "2.0", {"base<2", "extra-thing; extra == 'more'"})
      .add("base", "1.0")
      .add("base", "1.5")
      .add("base", "2.0");
  table.add("other", "1", {"base>=1.2"})
      .add("extra-thing", "1", {"base==1.2; python_version < '3.11'"})
      .add("base", "1.2");
  table.add("early", "2.0rc1")
      .add("early", "1.0")
      .add("only-early", "1.0b1")
      .add("win", "1", {"base; sys_platform == 'win32'"});
  EXPECT_EQ(versions(resolved(table, {"app"})), "app=2.0 base=1.5");
  EXPECT_EQ(versions(resolved(table, {"app[more]"})), "app=2.0 base=1.5 extra-thing=1");
  EXPECT_EQ(versions(resolved(table, {"app[more]"}, "3.10")), "app=2.0 base=1.2 extra-thing=1");
  EXPECT_EQ(versions(resolved(table, {"app", "other", "base!=1.5"})), "app=2.0 base=1.2 other=1");
  EXPECT_EQ(versions(resolved(table, {"app==1.0", "base"})), "app=1.0 base=2.0");
  EXPECT_EQ(versions(resolved(table, {"early", "only-early"})), "early=1.0 only-early=1.0b1");
  EXPECT_EQ(versions(resolved(table, {"early>=2.0rc1"})), "early=2.0rc1");
  EXPECT_EQ(versions(resolved(table, {"win"})), "win=1");
  EXPECT_EQ(versions(resolved(table, {"win"}, "3.12", "windows")), "base=2.0 win=1");
  EXPECT_EQ(versions(resolved(table, {"app; os_name == 'nt'", "win"})), "win=1");
}

TEST(Resolve, FilesOfTheChosenVersion) {
  Table table;
  table.add("a", "1.0", {}, "", "py3-none-any")
      .add("a", "1.0", {}, "", "cp312-cp312-manylinux_2_17_x86_64")
      .add("a", "1.0", {}, "", "cp312-cp312-manylinux_2_28_x86_64");
  table.add("a", "1.1", {}, "", "cp312-cp312-win_amd64")
      .add("a", "1.2", {}, ">=3.13")
      .add("a", "1.3")
      .last("a")
      .yanked = true;
  auto linux = resolved(table, {"a"});
  ASSERT_EQ(versions(linux), "a=1.0");
  std::vector<std::string> names;
  for (const auto& file : linux->choices.at("a").files) names.push_back(file.filename);
  EXPECT_THAT(
      names, ElementsAre("a-1.0-cp312-cp312-manylinux_2_17_x86_64.whl", "a-1.0-cp312-cp312-manylinux_2_28_x86_64.whl"));
  EXPECT_EQ(versions(resolved(table, {"a"}, "3.12", "windows")), "a=1.1");
  EXPECT_EQ(versions(resolved(table, {"a"}, "3.13")), "a=1.2");
  EXPECT_EQ(versions(resolved(table, {"a==1.3"})), "a=1.3"); // yanked, and pinned
  EXPECT_EQ(versions(resolved(table, {"a>=1,==1.3"})), "a=1.3");
  EXPECT_EQ(versions(resolved(table, {"a==1.*"})), "a=1.0") << "a wildcard does not pin a version";
}

TEST(Resolve, AChoiceIsCorrectedAndWhatItBroughtGoes) {
  Table table;
  table.add("first", "2.0", {"gone", "second"})
      .add("first", "1.0", {"second"})
      .add("second", "1.0", {"first<2"})
      .add("gone", "1.0");
  EXPECT_EQ(versions(resolved(table, {"first"})), "first=1.0 second=1.0");
  Table circle;
  circle.add("a", "2", {"b"}).add("a", "1").add("b", "1", {"a<2"});
  EXPECT_EQ(versions(resolved(circle, {"a"})).substr(0, 5), "U009:");
}

TEST(Resolve, AConflictNamesEverybodyWhoAsks) {
  Table table;
  table.add("a", "1", {"c<2"}).add("b", "1", {"c>=2"}).add("c", "1").add("c", "2");
  auto conflict = resolved(table, {"a", "b"});
  ASSERT_FALSE(conflict);
  EXPECT_EQ(conflict.error().code, "U004");
  EXPECT_THAT(conflict.error().message, HasSubstr("no wheel of c for Python 3.12 linux"));
  EXPECT_THAT(conflict.error().details,
              ElementsAre("asked by  a 1: c<2", "asked by  b 1: c>=2", "there is  2 versions, the newest 2"));
  EXPECT_EQ(versions(resolved(table, {"a", "missing"})).substr(0, 5), "U003:");
  table.add("url", "1", {"c @ https://host.example/c.whl"});
  EXPECT_EQ(versions(resolved(table, {"url"})).substr(0, 5), "U004:");
}

TEST(Resolve, AFileThatInstallersCannotReadIsLeftOut) {
  Table table;
  table.add("a", "1.0").add("a", "1.1").add("a", "1.2", {"base !!"}).add("a", "1.3");
  table.last_metadata("a").requires_python = "banana";
  table.add("a", "1.4").last_metadata("a").provides_extra = {"a b"};
  table.add("a", "1.5", {"pytz (>dev)"}).last_metadata("a").metadata_version = "1.2"; // whatever its age
  auto resolution = resolved(table, {"a"});
  EXPECT_EQ(versions(resolution), "a=1.1");
  std::vector<std::string> left_out;
  for (const auto& note : resolution->notes) {
    EXPECT_EQ(note.code, "U013");
    left_out.push_back(note.message.substr(0, note.message.find(' ')));
  }
  EXPECT_THAT(left_out, ElementsAre("a-1.2-py3-none-any.whl", "a-1.3-py3-none-any.whl", "a-1.4-py3-none-any.whl",
                                    "a-1.5-py3-none-any.whl"));
  auto pinned = resolved(table, {"a==1.3"});
  ASSERT_FALSE(pinned);
  EXPECT_EQ(pinned.error().code, "U004");
  EXPECT_THAT(pinned.error().details,
              testing::Contains(HasSubstr("a-1.3-py3-none-any.whl is left out: Requires-Python: ")));
}

TEST(Resolve, AnotherFileOfTheVersionTakesThePlaceOfOneThatIsLeftOut) {
  Table table;
  table.add("a", "1.0", {}, "", "py3-none-any").add("a", "1.0", {"b !!"}, "", "cp312-cp312-manylinux_2_28_x86_64");
  auto resolution = resolved(table, {"a"});
  ASSERT_EQ(versions(resolution), "a=1.0");
  EXPECT_EQ(resolution->choices.at("a").files.at(0).filename, "a-1.0-py3-none-any.whl");
}

TEST(Resolve, AMissingExtraIsSaid) {
  Table table;
  table.add("a", "1");
  auto resolution = resolved(table, {"a[typo]"});
  ASSERT_TRUE(resolution);
  ASSERT_EQ(resolution->notes.size(), 1u);
  EXPECT_EQ(resolution->notes[0].code, "U011");
  EXPECT_EQ(resolution->notes[0].message, "a 1 has no extra typo");
  EXPECT_THAT(resolved(table, {"a[more]"})->notes, IsEmpty());
}

TEST(Names, WhatIsOursIsRefusedWhereverItIsAskedFor) {
  auto reserved = parse_reserved(
      {"schema = \"quarry.mirror-names/1\"\n[[reserved]]\nnames = [\"torch\", \"rocm-sdk-*\"]\nwhy = \"ours\"\n",
       "m.toml"});
  ASSERT_TRUE(reserved) << reserved.error().message;
  auto guard = make_guard(*reserved, {{"own-lib", "42-linux/python/g"}});
  Table table;
  table.add("ok", "1", {"rocm-sdk-libraries-gfx94x", "own-lib"})
      .add("rocm-sdk-libraries-gfx94x", "1")
      .add("torch", "2")
      .add("torchmetrics", "1")
      .add("own-lib", "9");
  EXPECT_EQ(versions(resolved(table, {"torchmetrics"}, "3.12", "linux", guard)), "torchmetrics=1");
  for (const auto& [asked, says] :
       std::vector<std::pair<std::string, std::string>>{{"torch", "U005: torch (asked for by r.txt)"},
                                                        {"own_lib", "publishes it in 42-linux/python/g"},
                                                        {"ok", "(asked for by ok 1)"}})
    EXPECT_THAT(versions(resolved(table, {asked}, "3.12", "linux", guard)), HasSubstr(says)) << asked;
  for (const char* text : {"", "schema = \"quarry.mirror-names/2\"\n",
                           "schema = \"quarry.mirror-names/1\"\n[[reserved]]\nnames = [\"a\"]\n",
                           "schema = \"quarry.mirror-names/1\"\nname = 1\n", "="}) {
    auto wrong = parse_reserved({text, "m.toml"});
    ASSERT_FALSE(wrong) << text;
    EXPECT_EQ(wrong.error().code, "U012") << text;
  }
}

TEST(Names, ThoseOfTheStoreAreFound) {
  auto store = store::make_memory_store();
  registry::SetRecord run, deps;
  run.directory = "42-linux/python/g";
  auto file = [](const std::string& project, const std::string& directory) {
    registry::FileRecord record;
    record.filename = dist::ProjectName::parse(project)->file_form() + "-1-py3-none-any.whl";
    record.project = project;
    record.version = "1";
    record.key = directory + "/dist/" + record.filename;
    return record;
  };
  run.files = {file("own-lib", run.directory)};
  deps.directory = k_directory;
  deps.files = {file("numpy", deps.directory)};
  ASSERT_TRUE(registry::put_set(*store, run));
  ASSERT_TRUE(registry::put_set(*store, deps));
  auto owned = owned_names(*store, 4);
  ASSERT_TRUE(owned) << owned.error().message;
  EXPECT_THAT(*owned, ElementsAre(std::pair<const std::string, std::string>("own-lib", "42-linux/python/g")));
}

} // namespace
} // namespace quarry::mirror
