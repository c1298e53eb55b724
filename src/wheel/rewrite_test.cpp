#include "wheel/rewrite.hpp"

#include "sys/file.hpp"
#include "sys/tree.hpp"
#include "wheel/wheel.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::wheel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Rewrite : public testing::Test {
protected:
  void SetUp() override { directory_ = sys::make_temporary_directory(testing::TempDir(), "rewrite-").value(); }
  void TearDown() override { ASSERT_TRUE(sys::remove_tree(directory_)); }

  static WheelSpec spec(const std::string& version = "1.0") {
    WheelSpec s;
    s.metadata.name = "demo";
    s.metadata.version = version;
    s.tags = {"py3", "none", "linux_x86_64"};
    s.members = {{"demo/b.so", content::Rope::literal(std::string(3'000'000, 'b')), false},
                 {"demo/__init__.py", content::Rope::literal("x = 1\n"), false},
                 {"demo/tool", content::Rope::literal("#!/bin/sh\n"), true},
                 {"demo-" + version + ".data/scripts/run", content::Rope::literal("#!python\n"), true}};
    s.entry_points = {{"console_scripts", "demo", "demo", "main"}};
    return s;
  }
  std::string build(const WheelSpec& s, codec::Profile profile = codec::Profile::release) {
    PackOptions options;
    options.profile = profile;
    auto built = pack(s, directory_ + "/dist", options);
    EXPECT_TRUE(built) << render(built.error());
    return built->path;
  }
  Result<Rewritten> retagged(const std::string& path, const Retag& changes) {
    return retag(path, changes, directory_ + "/new");
  }
  static std::string text_in(const std::string& path, const std::string& member) {
    Findings findings;
    auto zip = zip::Reader::open(content::Rope::file(path).value(), path, findings);
    return zip->read_all(*zip->find(member), 1u << 20).value();
  }
  std::string directory_;
};

TEST_F(Rewrite, RetagChangesWheelAndRecordOnly) {
  auto old = build(spec());
  auto now = retagged(old, {.platform = "manylinux_2_28_x86_64", .build = "2"});
  ASSERT_TRUE(now) << render(now.error());
  EXPECT_EQ(now->file_name, "demo-1.0-2-py3-none-manylinux_2_28_x86_64.whl");
  auto report = verify(now->path).value();
  EXPECT_THAT(report.findings, IsEmpty()) << render(report.findings);
  EXPECT_THAT(report.wheel_info->tags, ElementsAre("py3-none-manylinux_2_28_x86_64"));
  EXPECT_EQ(report.wheel_info->build, "2");
  auto derivation = compare_derived(now->path, old).value();
  EXPECT_THAT(derivation.findings, IsEmpty());
  EXPECT_THAT(derivation.changed, ElementsAre("demo-1.0.dist-info/RECORD", "demo-1.0.dist-info/WHEEL"));
  EXPECT_THAT(derivation.added, IsEmpty());
  EXPECT_THAT(derivation.removed, IsEmpty());
  EXPECT_EQ(derivation.equal_files, 6u);
  EXPECT_THAT(text_in(now->path, "demo-1.0.dist-info/WHEEL"), HasSubstr("Generator: quarry"));
}

TEST_F(Rewrite, RetagMakesTheSameBytesAgain) {
  auto old = build(spec());
  auto first = retagged(old, {.build = "1"}).value();
  auto bytes = sys::read_file(first.path, 1u << 30).value();
  EXPECT_EQ(retagged(old, {.build = "1"})->path, first.path);
  EXPECT_EQ(sys::read_file(first.path, 1u << 30).value(), bytes);
  auto back = retagged(first.path, {.build = ""}).value();
  EXPECT_EQ(back.file_name, "demo-1.0-py3-none-linux_x86_64.whl");
  EXPECT_THAT(verify(back.path)->findings, IsEmpty());
}

TEST_F(Rewrite, RetagAddsAndRemovesTags) {
  struct Row {
    Retag changes;
    const char* expected;
  };
  auto old = build(spec());
  for (const auto& row : {Row{{.python = "cp312"}, "demo-1.0-cp312-none-linux_x86_64.whl"},
                          Row{{.python = "+py2"}, "demo-1.0-py2.py3-none-linux_x86_64.whl"},
                          Row{{.abi = "abi3"}, "demo-1.0-py3-abi3-linux_x86_64.whl"},
                          Row{{.platform = "+any"}, "demo-1.0-py3-none-any.linux_x86_64.whl"},
                          Row{{.python = "cp311.cp312"}, "demo-1.0-cp311.cp312-none-linux_x86_64.whl"}}) {
    auto now = retagged(old, row.changes);
    ASSERT_TRUE(now) << render(now.error());
    EXPECT_EQ(now->file_name, row.expected);
    EXPECT_THAT(verify(now->path)->findings, IsEmpty());
  }
  auto both = retagged(old, {.python = "py2.py3"}).value();
  EXPECT_EQ(retagged(both.path, {.python = "-py2"})->file_name, "demo-1.0-py3-none-linux_x86_64.whl");
}

TEST_F(Rewrite, RetagRefusesWhatCannotBeSet) {
  auto old = build(spec());
  for (const auto& changes : {Retag{}, Retag{.python = "py3"}, Retag{.python = "-py2"}, Retag{.python = "-py3"},
                              Retag{.platform = ""}, Retag{.platform = "+"}, Retag{.abi = "none..abi3"}}) {
    auto refused = retagged(old, changes);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "W023") << render(refused.error());
  }
  for (const auto& changes : {Retag{.python = "cp 312"}, Retag{.build = "x"}, Retag{.platform = "a/b"}}) {
    auto refused = retagged(old, changes);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "M002") << render(refused.error());
  }
  EXPECT_FALSE(sys::exists(directory_ + "/new"));
}

TEST_F(Rewrite, RetagRefusesAWheelThatIsNotSound) {
  auto old = build(spec());
  auto bytes = sys::read_file(old, 1u << 30).value();
  ASSERT_TRUE(sys::write_file(old, bytes.substr(0, bytes.size() - 5)));
  auto refused = retagged(old, {.build = "1"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "W010");
}

TEST_F(Rewrite, EveryDifferenceOutsideDistInfoIsFound) {
  auto old = build(spec());
  struct Row {
    const char* what;
    std::function<void(WheelSpec&)> change;
    const char* place;
  };
  for (const auto& row :
       {Row{"changed", [](WheelSpec& s) { s.members[0].data = content::Rope::literal(std::string(3'000'000, 'c')); },
            "demo/b.so"},
        Row{"added", [](WheelSpec& s) { s.members.push_back({"demo/c.py", content::Rope::literal(""), false}); },
            "demo/c.py"},
        Row{"removed", [](WheelSpec& s) { s.members.erase(s.members.begin()); }, "demo/b.so"},
        Row{"executable", [](WheelSpec& s) { s.members[1].executable = true; }, "demo/__init__.py"}}) {
    auto other = spec("1.1");
    row.change(other);
    auto derivation = compare_derived(build(other), old).value();
    ASSERT_EQ(derivation.findings.size(), 1u) << row.what << "\n" << render(derivation.findings);
    EXPECT_EQ(derivation.findings[0].code, "W024");
    EXPECT_THAT(derivation.findings[0].place, HasSubstr(row.place));
  }
}

TEST_F(Rewrite, AnotherVersionAndAnotherCompressionAreNoDifference) {
  auto old = build(spec());
  auto derivation = compare_derived(build(spec("1.1"), codec::Profile::stored), old).value();
  EXPECT_THAT(derivation.findings, IsEmpty()) << render(derivation.findings);
  EXPECT_THAT(derivation.changed,
              ElementsAre("demo-1.1.dist-info/METADATA", "demo-1.1.dist-info/RECORD", "demo-1.1.dist-info/WHEEL"));
}

} // namespace
} // namespace quarry::wheel
