#include "index/build.hpp"

#include "codec/compression.hpp"
#include "index/check.hpp"
#include "index/describe.hpp"
#include "index/pages.hpp"
#include "index/read_page.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include "tar/tar.hpp"
#include "wheel/wheel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::index {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::int64_t k_now = 1'795'253'400'000'000; // 2026-11-21T09:30:00Z

std::string wheel_in(const std::string& directory, const std::string& name, const std::string& version,
                     const std::string& requires_python = "", const std::string& text = "x = 1\n") {
  wheel::WheelSpec spec;
  spec.metadata.name = name;
  spec.metadata.version = version;
  spec.metadata.requires_python = requires_python;
  spec.members.push_back({"module.py", content::Rope::literal(text), false});
  auto built = wheel::pack(spec, directory, {});
  if (built) return built->path;
  ADD_FAILURE() << built.error().message;
  return "";
}

struct SdistFile {
  std::string path, text;
};

std::string sdist_in(const std::string& directory, const std::string& file_name, const std::vector<SdistFile>& files) {
  std::string bytes;
  auto gzip =
      codec::Compressor::create(codec::Compression::gzip, 1, [&](std::span<const std::byte> chunk) -> Result<void> {
        bytes.append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
        return {};
      });
  tar::Writer tar([&](std::span<const std::byte> chunk) { return gzip->write(chunk); });
  for (const auto& file : files) EXPECT_TRUE(tar.file(file.path, content::Rope::literal(file.text), false));
  EXPECT_TRUE(tar.finish() && gzip->finish());
  auto path = path::join(directory, file_name);
  EXPECT_TRUE(sys::write_file(path, bytes));
  return path;
}

std::string pkg_info(const std::string& name, const std::string& version, const std::string& more = "") {
  return "Metadata-Version: 2.2\nName: " + name + "\nVersion: " + version + "\n" + more;
}

class Build : public testing::Test {
protected:
  void SetUp() override {
    root_ = sys::make_temporary_directory(testing::TempDir(), "index").value();
    ASSERT_TRUE(sys::make_directories(at("w")));
  }
  void TearDown() override { EXPECT_TRUE(sys::remove_tree(root_)); }

  std::string at(std::string_view name) const { return path::join(root_, name); }
  std::string text(std::string_view name) const { return sys::read_file(at(name)).value_or("missing"); }

  BuildResult build(const std::string& directory, const std::string& output = "", std::int64_t now = k_now) {
    sys::FixedClock clock(now);
    auto plan = plan_build({at(directory), output.empty() ? "" : at(output), 2, {}}, clock);
    EXPECT_TRUE(plan) << (plan ? "" : render(plan.error()));
    if (!plan) return {};
    auto result = execute_build(*plan);
    EXPECT_TRUE(result) << (result ? "" : render(result.error()));
    return result.value_or(BuildResult{});
  }
  Error refused(const std::string& directory) {
    sys::FixedClock clock(k_now);
    auto plan = plan_build({at(directory), "", 2, {}}, clock);
    EXPECT_FALSE(plan);
    return plan ? Error{} : plan.error();
  }
  CheckReport check(const std::string& directory) {
    auto report = check_index(at(directory), {2, {}, {}, true});
    EXPECT_TRUE(report) << (report ? "" : render(report.error()));
    return report.value_or(CheckReport{});
  }
  std::vector<std::string> tree(std::string_view name) const {
    std::vector<std::string> paths;
    auto entries = sys::list_tree(at(name));
    if (!entries) return {entries.error().message};
    for (const auto& entry : *entries)
      if (entry.type == sys::EntryType::file) paths.push_back(entry.path);
    return paths;
  }

  std::string root_;
};

TEST_F(Build, WritesPagesSidecarsAndNothingElse) {
  wheel_in(at("w"), "Demo.Pkg", "1.0+local.1", ">=3.10");
  sdist_in(at("w"), "demo_meta-1.0.tar.gz",
           {{"demo_meta-1.0/PKG-INFO", pkg_info("demo-meta", "1.0", "Requires-Python: >=3.9\n")},
            {"demo_meta-1.0/setup.py", ""}});
  build("w");
  EXPECT_THAT(tree("w"), ElementsAre("demo_meta-1.0.tar.gz", "demo_pkg-1.0+local.1-py3-none-any.whl",
                                     "demo_pkg-1.0+local.1-py3-none-any.whl.metadata", "index.html",
                                     "simple-json/demo-meta/index.html", "simple-json/demo-pkg/index.html",
                                     "simple-json/index.html", "simple/demo-meta/index.html",
                                     "simple/demo-pkg/index.html", "simple/index.html"));
  EXPECT_THAT(text("w/simple/demo-pkg/index.html"),
              HasSubstr("href=\"../../demo_pkg-1.0%2Blocal.1-py3-none-any.whl#sha256="));
  auto page = read_json_page({text("w/simple-json/demo-meta/index.html"), "page"}).value();
  EXPECT_EQ(page.files.at(0).requires_python, ">=3.9");
  EXPECT_EQ(page.files.at(0).upload_time, "2026-11-21T09:30:00.000000Z");
  auto report = check("w");
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_EQ(exit_code(report), 0);
  EXPECT_EQ(report.projects, 2u);
  EXPECT_EQ(report.files, 2u);
  EXPECT_EQ(report.pages, 7u);
}

TEST_F(Build, TheSidecarIsTheWheelsOwnMetadata) {
  auto path = wheel_in(at("w"), "a", "1");
  build("w");
  auto report = wheel::require_sound(path).value();
  EXPECT_EQ(text("w/a-1-py3-none-any.whl.metadata"), report.metadata_text);
  EXPECT_TRUE(check_sidecar(report.metadata_text, report, "x"));
  EXPECT_EQ(check_sidecar(report.metadata_text + "\n", report, "x").error().code, "I004");
  report.container_broken = true;
  report.findings.push_back({"Z001", Severity::error, "", "", ""});
  EXPECT_EQ(sidecar_for(report).error().code, "I004");
}

TEST_F(Build, TwiceIsOnce) {
  wheel_in(at("w"), "a", "1");
  EXPECT_GT(build("w").writes(), 0u);
  auto first = text("w/simple-json/a/index.html");
  EXPECT_EQ(build("w", "", k_now + 1'000'000).writes(), 0u);
  EXPECT_EQ(text("w/simple-json/a/index.html"), first);
}

TEST_F(Build, KeepsTimesAndYanksOfUnchangedFilesAlone) {
  wheel_in(at("w"), "a", "1");
  wheel_in(at("w"), "a", "2");
  build("w");
  auto json = text("w/simple-json/a/index.html");
  json.replace(json.find("\"yanked\":false"), 14, "\"yanked\":\"broken\"");
  ASSERT_TRUE(sys::write_file(at("w/simple-json/a/index.html"), json));
  wheel_in(at("w"), "a", "2", "", "x = 2\n");
  build("w", "", k_now + 1'000'000);
  auto page = read_html_page({text("w/simple/a/index.html"), "page"}).value();
  EXPECT_EQ(page.files.at(0).yank_reason, "broken");
  EXPECT_EQ(page.files.at(0).upload_time, "2026-11-21T09:30:00.000000Z");
  EXPECT_FALSE(page.files.at(1).yanked);
  EXPECT_EQ(page.files.at(1).upload_time, "2026-11-21T09:30:01.000000Z");
}

TEST_F(Build, RemovesItsOwnStalePagesAndNobodyElses) {
  wheel_in(at("w"), "a", "1");
  auto gone = wheel_in(at("w"), "gone", "1");
  build("w");
  ASSERT_TRUE(sys::make_directories(at("w/simple/foreign")));
  ASSERT_TRUE(sys::write_file(at("w/simple/foreign/index.html"), "<a href=x>x</a>"));
  ASSERT_TRUE(sys::remove_file(gone));
  EXPECT_EQ(build("w").pages_removed, 2u);
  EXPECT_FALSE(sys::exists(at("w/simple/gone")));
  EXPECT_FALSE(sys::exists(at("w/simple-json/gone")));
  EXPECT_TRUE(sys::exists(at("w/simple/foreign/index.html")));
  EXPECT_THAT(text("w/simple/index.html"), Not(HasSubstr("gone")));
}

TEST_F(Build, AnOutputOfItsOwnLeavesTheDirectoryAlone) {
  wheel_in(at("w"), "a", "1");
  auto before = tree("w");
  build("w", "site");
  EXPECT_EQ(tree("w"), before);
  EXPECT_THAT(tree("site"), Contains("dist/a-1-py3-none-any.whl.metadata"));
  EXPECT_THAT(text("site/simple/a/index.html"), HasSubstr("href=\"../../dist/a-1-py3-none-any.whl#"));
  EXPECT_THAT(check("site").findings, IsEmpty());
  EXPECT_EQ(build("w", "site").writes(), 0u);
  wheel_in(at("w"), "a", "1", "", "x = 2\n");
  EXPECT_GT(build("w", "site").files_placed, 0u);
  EXPECT_THAT(check("site").findings, IsEmpty());
}

TEST_F(Build, AnOutputAroundTheDirectoryLinksIntoIt) {
  ASSERT_TRUE(sys::make_directories(at("site/files/x")));
  wheel_in(at("site/files/x"), "a", "1");
  build("site/files/x", "site");
  EXPECT_THAT(text("site/simple/a/index.html"), HasSubstr("href=\"../../files/x/a-1-py3-none-any.whl#"));
  EXPECT_THAT(check("site").findings, IsEmpty());
}

TEST_F(Build, FindsPackagesInDist) {
  ASSERT_TRUE(sys::make_directories(at("w/dist")));
  wheel_in(at("w/dist"), "a", "1");
  build("w");
  EXPECT_THAT(text("w/index.html"), HasSubstr("href=\"dist/a-1-py3-none-any.whl#"));
  EXPECT_THAT(check("w").findings, IsEmpty());
}

TEST_F(Build, RefusesAnEmptyDirectoryAndNone) {
  EXPECT_EQ(refused("w").code, "I001");
  EXPECT_EQ(refused("none").code, "I001");
  EXPECT_EQ(traits(refused("w").kind).exit_code, 3);
}

TEST_F(Build, RefusesOneDistributionUnderTwoNames) {
  auto path = wheel_in(at("w"), "foo-bar", "1.0");
  ASSERT_TRUE(sys::write_file(at("w/Foo_Bar-1.0.0-py3-none-any.whl"), sys::read_file(path).value()));
  auto error = refused("w");
  EXPECT_EQ(error.code, "I003");
  EXPECT_EQ(traits(error.kind).exit_code, 7);
}

TEST_F(Build, RefusesABrokenWheelAndWritesNothing) {
  auto path = wheel_in(at("w"), "a", "1");
  auto bytes = sys::read_file(path).value();
  bytes[bytes.size() / 3] ^= 1;
  ASSERT_TRUE(sys::write_file(path, bytes));
  auto error = refused("w");
  EXPECT_EQ(traits(error.kind).exit_code, 6);
  EXPECT_THAT(tree("w"), ElementsAre("a-1-py3-none-any.whl"));
}

TEST_F(Build, RefusesSdistsThatContradictTheirName) {
  struct Case {
    const char* title;
    std::vector<SdistFile> files;
    std::string code;
  };
  for (const auto& c :
       std::vector<Case>{{"no PKG-INFO", {{"a-1/setup.py", ""}}, "I002"},
                         {"PKG-INFO too deep", {{"a-1/b/PKG-INFO", pkg_info("a", "1")}}, "I002"},
                         {"two top directories", {{"a-1/PKG-INFO", pkg_info("a", "1")}, {"b/x", ""}}, "I002"},
                         {"another name", {{"a-1/PKG-INFO", pkg_info("b", "1")}}, "I002"},
                         {"another version", {{"a-1/PKG-INFO", pkg_info("a", "2")}}, "I002"},
                         {"ambiguous metadata", {{"a-1/PKG-INFO", pkg_info("a", "1", "Name: b\n")}}, "M006"}}) {
    sdist_in(at("w"), "a-1.tar.gz", c.files);
    EXPECT_EQ(refused("w").code, c.code) << c.title;
  }
  ASSERT_TRUE(sys::write_file(at("w/a-1.tar.gz"), "not gzip"));
  EXPECT_EQ(traits(refused("w").kind).exit_code, 6);
}

// ---- index check: one defect at a time, made in a sound index

class Check : public Build {
protected:
  void SetUp() override {
    Build::SetUp();
    wheel_in(at("w"), "a", "1", ">=3.8");
    wheel_in(at("w"), "b", "1");
    sdist_in(at("w"), "c-1.tar.gz", {{"c-1/PKG-INFO", pkg_info("c", "1")}});
    build("w");
    ASSERT_THAT(check("w").findings, IsEmpty());
  }
  void edit(const std::string& name, std::string_view from, std::string_view to) {
    auto content = text(name);
    auto hit = content.find(from);
    ASSERT_NE(hit, std::string::npos) << from << " in " << content;
    ASSERT_TRUE(sys::write_file(at(name), content.replace(hit, from.size(), to)));
  }
  void expect(const std::string& code, int exit) {
    auto report = check("w");
    EXPECT_THAT(report.findings, Contains(Field(&Finding::code, code))) << render(report.findings);
    EXPECT_EQ(exit_code(report), exit) << render(report.findings);
  }
};

const std::string k_wheel = "w/a-1-py3-none-any.whl";

TEST_F(Check, NoIndex) { EXPECT_EQ(check_index(at("none"), {}).error().code, "I001"); }
TEST_F(Check, DanglingLink) {
  ASSERT_TRUE(sys::remove_file(at(k_wheel)));
  expect("I010", 1);
}
TEST_F(Check, LinkElsewhereIsANote) {
  edit("w/index.html", "href=\"a-1", "href=\"https://example.org/a-1");
  auto report = check("w");
  EXPECT_EQ(exit_code(report), 0);
  EXPECT_THAT(report.findings, Contains(Field(&Finding::code, "I010")));
}
TEST_F(Check, NoHash) {
  auto page = read_html_page({text("w/simple/a/index.html"), "p"}).value();
  edit("w/simple/a/index.html", "#sha256=" + page.files.at(0).hashes.at(0).second, "");
  expect("I011", 1);
}
TEST_F(Check, AnotherFileUnderTheName) {
  wheel_in(at("w"), "a", "1", ">=3.8", "x = 2\n");
  expect("I012", 6);
}
TEST_F(Check, AnotherSize) {
  edit("w/simple-json/a/index.html", "\"size\":", "\"size\":1");
  expect("I013", 6);
}
TEST_F(Check, BrokenWheel) {
  auto bytes = sys::read_file(at(k_wheel)).value();
  ASSERT_TRUE(sys::write_file(at(k_wheel), bytes.substr(0, bytes.size() - 1)));
  auto report = check("w");
  EXPECT_EQ(exit_code(report), 6);
  EXPECT_THAT(report.findings, Contains(Field(&Finding::code, testing::StartsWith("Z"))));
}
TEST_F(Check, SidecarMissingAlteredOrNotOffered) {
  ASSERT_TRUE(sys::write_file(at(k_wheel + ".metadata"), text(k_wheel + ".metadata") + "\n"));
  expect("I014", 6);
  ASSERT_TRUE(sys::remove_file(at(k_wheel + ".metadata")));
  expect("I014", 1);
}
TEST_F(Check, SidecarOfAnSdist) {
  edit("w/simple/c/index.html", " data-size", " data-core-metadata=\"true\" data-size");
  expect("I014", 1);
}
TEST_F(Check, FormsThatDisagree) {
  edit("w/simple-json/a/index.html", "\"yanked\":false", "\"yanked\":true");
  expect("I015", 1);
  ASSERT_TRUE(sys::remove_tree(at("w/simple-json/a")));
  expect("I015", 1);
}
TEST_F(Check, FieldsThatClientsReadDifferently) {
  edit("w/simple-json/a/index.html", "\"yanked\":false", "\"yanked\":null");
  expect("I016", 1);
  build("w");
  edit("w/index.html", "<title>", "<base href=\"/x/\"><title>");
  expect("I016", 1);
}
TEST_F(Check, Names) {
  edit("w/simple/a/index.html", ">a-1-py3", ">other-1-py3");
  expect("I017", 1);
  build("w");
  ASSERT_TRUE(sys::rename(at("w/simple/b"), at("w/simple/B")));
  expect("I017", 1);
}
TEST_F(Check, PageMissingOrNotListed) {
  ASSERT_TRUE(sys::remove_file(at("w/simple/a/index.html")));
  expect("I018", 1);
  build("w");
  edit("w/simple/index.html", "<a href=\"b/\">b</a>", "");
  expect("I018", 1);
}
TEST_F(Check, AnEmptyDirectoryIsNotAMissingPage) {
  ASSERT_TRUE(sys::make_directories(at("w/simple/left-by-a-rollback")));
  EXPECT_THAT(check("w").findings, IsEmpty());
}
TEST_F(Check, APageForPeopleLeadsToProjects) {
  ASSERT_TRUE(sys::write_file(at("w/index.html"), overview_page({.title = "many", .directory = {}}, {"a", "b", "c"})));
  EXPECT_THAT(check("w").findings, IsEmpty());
  ASSERT_TRUE(
      sys::write_file(at("w/index.html"), overview_page({.title = "many", .directory = {}}, {"a", "b", "c", "gone"})));
  expect("I018", 1);
}
TEST_F(Check, RequiresPythonOfAnotherFile) {
  edit("w/simple/a/index.html", "&gt;=3.8", "&gt;=3.9");
  expect("I019", 1);
}
TEST_F(Check, UnreadablePages) {
  ASSERT_TRUE(sys::write_file(at("w/simple/a/index.html"), "\xff"));
  expect("I020", 1);
  ASSERT_TRUE(sys::write_file(at("w/simple-json/a/index.html"), "{"));
  expect("I021", 1);
}
TEST_F(Check, ATreeOfItsOwn) {
  auto report = check("w/simple");
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_EQ(report.projects, 3u);
}

} // namespace
} // namespace quarry::index
