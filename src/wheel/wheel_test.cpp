#include "wheel/draft_for_test.hpp"

#include "sys/process.hpp"
#include "sys/tree.hpp"
#include <algorithm>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace quarry::wheel {
namespace {

using testing::HasSubstr;

std::string hex_of(std::string_view text) { return sha256(text).hex(); }

class Wheel : public testing::Test {
protected:
  void SetUp() override { directory_ = sys::make_temporary_directory(testing::TempDir(), "wheel-").value(); }
  void TearDown() override { ASSERT_TRUE(sys::remove_tree(directory_)); }

  static WheelSpec spec() {
    WheelSpec s;
    s.metadata.name = "Demo.Package";
    s.metadata.version = "1.0";
    s.metadata.summary = "a demo";
    s.metadata.license_expression = "MIT";
    s.metadata.license_files = {"LICENSE"};
    s.tags.platform = "linux_x86_64"; // Windows has no name with a quote
    s.members = {{"demo/b.so", content::Rope::literal(std::string(3'000'000, 'b')), false},
                 {"demo/__init__.py", content::Rope::literal("x = 1\n"), false},
                 {"demo/bin/tool", content::Rope::literal("#!/bin/sh\n"), true},
                 {"demo/a,b \"q\".txt", content::Rope::literal("odd name"), false}};
    s.entry_points = {{"console_scripts", "demo", "demo.cli", "main"}};
    s.dist_info = {{"licenses/LICENSE", content::Rope::literal("MIT"), false}};
    return s;
  }
  Result<Built> build(const WheelSpec& s, PackOptions options = {}) { return pack(s, directory_ + "/dist", options); }

  // An archive of these files under a wheel's name, whatever they say.
  std::string forge(const std::string& file_name, const std::vector<std::pair<std::string, std::string>>& files) {
    std::vector<zip::Entry> entries;
    for (const auto& [name, text] : files) entries.push_back({name, content::Rope::literal(text), false});
    auto path = directory_ + "/" + file_name;
    auto file = sys::File::create(path).value();
    auto written = zip::write(entries, {}, {}, file);
    EXPECT_TRUE(written) << render(written.error());
    return path;
  }
  std::vector<std::string> names_in(const std::string& directory) {
    std::vector<std::string> out;
    auto entries = sys::list_tree(directory).value();
    for (const auto& e : entries) out.push_back(e.path);
    return out;
  }
  std::string directory_;
};

TEST_F(Wheel, IsPackedInTheCanonicalOrder) {
  auto built = build(spec());
  ASSERT_TRUE(built) << render(built.error());
  EXPECT_EQ(built->file_name, "demo_package-1.0-py3-none-linux_x86_64.whl");
  Findings findings;
  auto zip = zip::Reader::open(content::Rope::file(built->path).value(), "x", findings);
  ASSERT_TRUE(zip && findings.empty());
  std::vector<std::string> names;
  for (const auto& m : zip->members()) names.push_back(m.name);
  EXPECT_THAT(names,
              testing::ElementsAre("demo/__init__.py", "demo/a,b \"q\".txt", "demo/b.so", "demo/bin/tool",
                                   "demo_package-1.0.dist-info/METADATA", "demo_package-1.0.dist-info/WHEEL",
                                   "demo_package-1.0.dist-info/entry_points.txt",
                                   "demo_package-1.0.dist-info/licenses/LICENSE", "demo_package-1.0.dist-info/RECORD"));
  EXPECT_TRUE(zip->find("demo/bin/tool")->executable());
  auto record = zip->read_all(*zip->find("demo_package-1.0.dist-info/RECORD"), 1 << 20).value();
  EXPECT_THAT(record, HasSubstr("\"demo/a,b \"\"q\"\".txt\",sha256=" + sha256("odd name").base64url() + ",8\n"));
  EXPECT_TRUE(record.ends_with("demo_package-1.0.dist-info/RECORD,,\n"));
  auto metadata = zip->read_all(*zip->find("demo_package-1.0.dist-info/METADATA"), 1 << 20).value();
  EXPECT_EQ(built->metadata_sha256.hex(), hex_of(metadata));
  EXPECT_EQ(built->sha256, content::sha256_of_file(built->path).value());
  EXPECT_EQ(built->file_count, 9u);
}

TEST_F(Wheel, ThatWePackIsSound) {
  for (auto profile : {codec::Profile::release, codec::Profile::ci, codec::Profile::stored}) {
    auto built = build(spec(), {profile, 2, {}});
    ASSERT_TRUE(built);
    for (unsigned workers : {1u, 3u}) {
      auto report = verify(built->path, workers);
      ASSERT_TRUE(report) << render(report.error());
      EXPECT_THAT(render(report->findings), testing::IsEmpty());
      EXPECT_EQ(exit_code(*report), 0);
      EXPECT_EQ(report->sha256, built->sha256);
      EXPECT_EQ(report->metadata->name, "Demo.Package");
      EXPECT_EQ(report->entry_points.size(), 1u);
      EXPECT_EQ(report->record.size(), 9u);
    }
  }
}

TEST_F(Wheel, HasTheSameBytesForAnyWorkersAndMemberOrder) {
  auto forward = spec(), backward = spec();
  std::reverse(backward.members.begin(), backward.members.end());
  auto first = build(forward, {codec::Profile::release, 1, {}}).value().sha256;
  EXPECT_EQ(build(backward, {codec::Profile::release, 5, {}}).value().sha256, first);
}

TEST_F(Wheel, UnpacksAndPacksBackToTheSameBytes) {
  auto built = build(spec()).value();
  auto tree = unpack(built.path, directory_ + "/out", 2);
  ASSERT_TRUE(tree) << render(tree.error());
  EXPECT_EQ(*tree, directory_ + "/out/demo_package-1.0");
  EXPECT_THAT(names_in(directory_ + "/out"),
              testing::Each(testing::StartsWith("demo_package-1.0"))); // no partial directory
  auto entries = sys::list_tree(*tree).value();
  auto tool = std::find_if(entries.begin(), entries.end(), [](const auto& e) { return e.path == "demo/bin/tool"; });
  EXPECT_EQ(tool->mode & 0111, 0111u);
  auto again = pack_tree(*tree, directory_ + "/again", {});
  ASSERT_TRUE(again) << render(again.error());
  EXPECT_EQ(again->sha256, built.sha256);
}

TEST_F(Wheel, DoesNotUnpackOverADirectory) {
  auto built = build(spec()).value();
  ASSERT_TRUE(unpack(built.path, directory_ + "/out"));
  auto second = unpack(built.path, directory_ + "/out");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, "W015");
}

TEST_F(Wheel, PacksATreeByWhatWheelSays) {
  auto tree = directory_ + "/tree";
  ASSERT_TRUE(sys::make_directories(tree + "/Foo.Bar-2.dist-info"));
  ASSERT_TRUE(sys::write_file(tree + "/foo.py", "1\n"));
  ASSERT_TRUE(
      sys::write_file(tree + "/Foo.Bar-2.dist-info/METADATA", "Metadata-Version: 2.1\nName: foo-bar\nVersion: 2.0\n"));
  ASSERT_TRUE(sys::write_file(
      tree + "/Foo.Bar-2.dist-info/WHEEL",
      "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\nTag: py2-none-any\nBuild: 3x\n"));
  ASSERT_TRUE(sys::write_file(tree + "/Foo.Bar-2.dist-info/RECORD", "nonsense"));
  auto built = pack_tree(tree, directory_ + "/dist", {});
  ASSERT_TRUE(built) << render(built.error());
  EXPECT_EQ(built->file_name, "Foo.Bar-2-3x-py2.py3-none-any.whl");
  EXPECT_EQ(exit_code(verify(built->path).value()), 0);
}

TEST_F(Wheel, AnEmptyFileThatGetsItsContentWhileOthersArePackedIsNotPackedEmpty) {
  auto built = build(spec()).value();
  auto tree = *unpack(built.path, directory_ + "/out");
  ASSERT_TRUE(sys::write_file(tree + "/demo/late.py", ""));
  ASSERT_TRUE(pack_tree(tree, directory_ + "/quiet", {}));
  PackOptions options;
  options.on_progress = [&](std::uint64_t) { EXPECT_TRUE(sys::write_file(tree + "/demo/late.py", "1\n")); };
  auto refused = pack_tree(tree, directory_ + "/race", options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "D008");
  EXPECT_FALSE(sys::exists(directory_ + "/race/" + built.file_name));
}

TEST_F(Wheel, RefusesTreesThatAreNoWheels) {
  auto tree = directory_ + "/tree", info = tree + "/x-1.dist-info";
  auto expect = [&](const char* code) {
    auto built = pack_tree(tree, directory_ + "/dist", {});
    ASSERT_FALSE(built) << code;
    EXPECT_EQ(built.error().code, code) << render(built.error());
    EXPECT_EQ(built.error().kind == ErrorKind::invalid_argument || built.error().kind == ErrorKind::not_found ||
                  built.error().kind == ErrorKind::corrupt,
              true);
    EXPECT_FALSE(sys::exists(directory_ + "/dist/x-1-py3-none-any.whl"));
  };
  expect("D001");
  ASSERT_TRUE(sys::make_directories(tree));
  expect("W006");
  ASSERT_TRUE(sys::make_directories(info));
  expect("D001"); // no WHEEL
  ASSERT_TRUE(sys::write_file(info + "/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n"));
  expect("W012"); // no Tag
  ASSERT_TRUE(sys::write_file(info + "/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"));
  expect("W006"); // no METADATA
  ASSERT_TRUE(sys::write_file(info + "/METADATA", "Metadata-Version: 2.1\nName: y\nVersion: 1\n"));
  expect("W007");
  ASSERT_TRUE(sys::write_file(info + "/METADATA", "Metadata-Version: 2.1\nName: x\nVersion: 1\n"));
  ASSERT_TRUE(sys::write_file(
      info + "/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\nTag: cp39-abi3-linux_x86_64\n"));
  expect("W012"); // not a product
  ASSERT_TRUE(sys::write_file(info + "/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"));
  ASSERT_EQ(::symlink("WHEEL", (tree + "/link").c_str()), 0);
  expect("W013");
  ASSERT_TRUE(sys::remove_file(tree + "/link"));
  ASSERT_TRUE(sys::make_directories(tree + "/y-1.dist-info"));
  expect("W006");
}

TEST_F(Wheel, RefusesMembersThatNoWheelMayHold) {
  auto with = [](const char* path) {
    auto s = spec();
    s.members.pop_back(); // the name with a quote
    s.tags = {};
    s.members.push_back({path, content::Rope::literal("x"), false});
    return s;
  };
  const std::pair<const char*, const char*> cases[] = {{"../up", "Z014"},
                                                       {"demo/b.so", "Z001"},
                                                       {"Demo/x", "Z017"},
                                                       {"demo_package-1.0.dist-info/x", "W011"},
                                                       {"other-1.0.dist-info/METADATA", "W006"},
                                                       {"demo_package-1.0.data/etc/x", "W011"},
                                                       {"other-1.0.data/data/x", "W011"},
                                                       {"demo_package-1.0.data/scripts", "W011"},
                                                       {"demo_package-1.0.data/purelib/demo/b.so", "W018"},
                                                       {"demo_package-1.0.data/scripts/demo", "W018"},
                                                       {"demo_package-1.0.data/data/bin/python3", "W020"},
                                                       {"demo/nul.txt", "W021"}};
  for (const auto& [path, code] : cases) {
    auto built = build(with(path));
    ASSERT_FALSE(built) << path;
    EXPECT_EQ(built.error().code, code) << path;
    EXPECT_EQ(built.error().kind, ErrorKind::invalid_argument) << path;
  }
  auto jws = spec();
  jws.dist_info.push_back({"RECORD.jws", content::Rope::literal("x"), false});
  EXPECT_EQ(build(jws).error().code, "W011");
  auto license = spec();
  license.dist_info.clear();
  EXPECT_EQ(build(license).error().code, "W008");
  auto script = spec();
  script.entry_points = {{"console_scripts", "python", "a", "b"}};
  EXPECT_EQ(build(script).error().code, "W009");
  auto requirement = spec();
  requirement.metadata.requires_dist = {"six; bogus == 'x'"};
  EXPECT_EQ(build(requirement).error().code, "M010");
  EXPECT_FALSE(sys::exists(directory_ + "/dist"));
}

using Draft = DraftText;

struct Case {
  const char* label;
  const char* code; // of the first error; "" sound
  int exit_code;
  void (*change)(Draft&);
};

// clang-format off
const Case k_cases[] = {
  {"sound", "", 0, [](Draft&) {}},
  {"RECORD missing", "W001", 6, [](Draft& d) { d.has_record = false; }},
  {"a file that RECORD lacks", "W002", 6, [](Draft& d) { d.record = d.row(d.info + "METADATA", d.metadata) + d.row(d.info + "WHEEL", d.wheel) + d.info + "RECORD,,\n"; }},
  {"a row without file", "W002", 6, [](Draft& d) { d.record_more = d.row("gone.py", "1\n"); }},
  {"a row twice", "W002", 6, [](Draft& d) { d.record_more = d.row("x.py", "1\n"); }},
  {"a row twice, differently", "W002", 6, [](Draft& d) { d.record_more = d.row("x.py", "2\n"); }},
  {"a row in another spelling", "W002", 6, [](Draft& d) { d.record_more = d.row("./x.py", "1\n"); }},
  {"a wrong digest", "W003", 6, [](Draft& d) { d.record = d.row("x.py", "2\n") + d.row(d.info + "METADATA", d.metadata) + d.row(d.info + "WHEEL", d.wheel) + d.info + "RECORD,,\n"; }},
  {"a wrong size", "W003", 6, [](Draft& d) { d.record = "x.py,sha256=" + sha256("1\n").base64url() + ",3\n" + d.row(d.info + "METADATA", d.metadata) + d.row(d.info + "WHEEL", d.wheel); }},
  {"no digest", "W003", 6, [](Draft& d) { d.record = "x.py,,\n" + d.row(d.info + "METADATA", d.metadata) + d.row(d.info + "WHEEL", d.wheel); }},
  {"no digest anywhere", "W003", 6, [](Draft& d) { d.record = "x.py,,\n" + d.info + "METADATA,,\n" + d.info + "WHEEL,,\n" + d.info + "RECORD,,\n"; }},
  {"md5", "W003", 6, [](Draft& d) { d.record = "x.py,md5=YR8NVq2fQPKr2uKMdhXLvA,2\n" + d.row(d.info + "METADATA", d.metadata) + d.row(d.info + "WHEEL", d.wheel); }},
  {"sha1", "W003", 6, [](Draft& d) { d.record = "x.py,sha1=5f6p4Sk2wnh1bTDdlVOt6RwLpXg,2\n" + d.row(d.info + "METADATA", d.metadata) + d.row(d.info + "WHEEL", d.wheel); }},
  {"a digest in hexadecimal", "W003", 6, [](Draft& d) { d.record = "x.py,sha256=" + hex_of("1\n") + ",2\n" + d.row(d.info + "METADATA", d.metadata) + d.row(d.info + "WHEEL", d.wheel); }},
  {"a digest with padding", "W003", 6, [](Draft& d) { d.record = "x.py,sha256=" + sha256("1\n").base64url() + "=,2\n" + d.row(d.info + "METADATA", d.metadata) + d.row(d.info + "WHEEL", d.wheel); }},
  {"RECORD digests itself", "W004", 6, [](Draft& d) { d.record = d.row("x.py", "1\n") + d.row(d.info + "METADATA", d.metadata) + d.row(d.info + "WHEEL", d.wheel) + d.row(d.info + "RECORD", "?"); }},
  {"RECORD lists its signature", "W004", 6, [](Draft& d) { d.files.emplace_back(d.info + "RECORD.jws", "{}"); }},
  {"RECORD is not a table", "M008", 6, [](Draft& d) { d.record = "x.py,\"sha"; }},
  {"Wheel-Version 2.0", "W005", 1, [](Draft& d) { d.wheel.replace(15, 3, "2.0"); }},
  {"no dist-info", "W006", 1, [](Draft& d) { d.info = "x-1.info/"; }},
  {"two dist-infos", "W006", 1, [](Draft& d) { d.files.emplace_back("y-1.dist-info/METADATA", "x"); }},
  {"a dist-info of another project", "W006", 1, [](Draft& d) { d.info = "y-1.dist-info/"; }},
  {"a dist-info of another version", "W006", 1, [](Draft& d) { d.info = "x-2.dist-info/"; }},
  {"METADATA missing", "W006", 1, [](Draft& d) { d.has_metadata = false; }},
  {"WHEEL missing", "W006", 1, [](Draft& d) { d.has_wheel = false; }},
  {"METADATA with another name", "W007", 1, [](Draft& d) { d.metadata = "Metadata-Version: 2.1\nName: y\nVersion: 1\n"; }},
  {"METADATA with another version", "W007", 1, [](Draft& d) { d.metadata = "Metadata-Version: 2.1\nName: x\nVersion: 2\n"; }},
  {"METADATA without name", "M006", 1, [](Draft& d) { d.metadata = "Metadata-Version: 2.1\nVersion: 1\n"; }},
  {"a licence file missing", "W008", 1, [](Draft& d) { d.metadata = "Metadata-Version: 2.4\nName: x\nVersion: 1\nLicense-File: COPYING\n"; }},
  {"a licence file outside, before metadata 2.4", "", 0, [](Draft& d) { d.metadata = "Metadata-Version: 2.1\nName: x\nVersion: 1\nLicense-File: ../LICENSE.txt\n"; d.files.emplace_back(d.info + "LICENSE.txt", "MIT"); }},
  {"a script without callable", "W009", 1, [](Draft& d) { d.files.emplace_back(d.info + "entry_points.txt", "[console_scripts]\nx = x\n"); }},
  {"a script that replaces python", "W009", 1, [](Draft& d) { d.files.emplace_back(d.info + "entry_points.txt", "[console_scripts]\npython = x:y\n"); }},
  {"entry points that are not a table", "W009", 1, [](Draft& d) { d.files.emplace_back(d.info + "entry_points.txt", "console_scripts\n"); }},
  {"a tag that the file name lacks", "W012", 1, [](Draft& d) { d.wheel += "Tag: py2-none-any\n"; }},
  {"another platform in WHEEL", "W012", 1, [](Draft& d) { d.name = "x-1-py3-none-manylinux_2_28_x86_64.whl"; d.wheel.replace(d.wheel.find("any"), 3, "linux_x86_64"); }},
  {"a build tag that WHEEL lacks", "W012", 1, [](Draft& d) { d.name = "x-1-7-py3-none-any.whl"; }},
  {"a .data directory of another project", "W011", 1, [](Draft& d) { d.files.emplace_back("y-1.data/scripts/x", "x"); }},
  {"an unknown key in .data", "W011", 1, [](Draft& d) { d.files.emplace_back("x-1.data/etc/x", "x"); }},
  {"an installer's file", "W011", 1, [](Draft& d) { d.files.emplace_back(d.info + "INSTALLER", "pip\n"); }},
  {"a file beside its copy in purelib", "W018", 1, [](Draft& d) { d.files.emplace_back("x-1.data/purelib/x.py", "2\n"); }},
  {"METADATA below platlib", "W019", 1, [](Draft& d) { d.files.emplace_back("x-1.data/platlib/x-1.dist-info/METADATA", "x"); }},
  {"a script file that replaces python", "W020", 1, [](Draft& d) { d.files.emplace_back("x-1.data/scripts/python3", "x"); }},
  {"a script file and an entry point", "W018", 1, [](Draft& d) { d.files.emplace_back("x-1.data/scripts/x", "x"); d.files.emplace_back(d.info + "entry_points.txt", "[gui_scripts]\nx = x:y\n"); }},
  {"an entry point whose last word pip takes", "W009", 1, [](Draft& d) { d.files.emplace_back(d.info + "entry_points.txt", "[console_scripts]\nx python = x:y\n"); }},
  {"an entry point with a bracket", "W009", 1, [](Draft& d) { d.files.emplace_back(d.info + "entry_points.txt", "[console_scripts]\nx[y = x:y\n"); }},
  {"an entry point that pip makes python.exe of", "W009", 1, [](Draft& d) { d.files.emplace_back(d.info + "entry_points.txt", "[console_scripts]\npython.py = x:y\n"); }},
  {"an entry point that is read as settings", "W009", 1, [](Draft& d) { d.files.emplace_back(d.info + "entry_points.txt", "[console_scripts]\npyvenv.cfg = x:y\n"); }},
  {"two entry points for one program on Windows", "W018", 1, [](Draft& d) { d.files.emplace_back(d.info + "entry_points.txt", "[console_scripts]\na = x:y\na.py = x:y\n"); }},
  {"settings of the interpreter among the scripts", "W020", 1, [](Draft& d) { d.files.emplace_back("x-1.data/scripts/pyvenv.cfg", "x"); }},
  {"settings of the interpreter in bin", "W020", 1, [](Draft& d) { d.files.emplace_back("x-1.data/data/bin/PYVENV.CFG", "x"); }},
  {"a search path beside the interpreter", "W020", 1, [](Draft& d) { d.files.emplace_back("x-1.data/scripts/python312._pth", "x"); }},
  {"a file for the environment's bin", "W020", 1, [](Draft& d) { d.files.emplace_back("x-1.data/data/bin", "x"); }},
  {"a file for the environment's lib64", "W020", 1, [](Draft& d) { d.files.emplace_back("x-1.data/data/lib64", "x"); }},
  {"a directory where the interpreter is", "W020", 1, [](Draft& d) { d.files.emplace_back("x-1.data/data/bin/python/x", "x"); }},
  {"an egg-info of the wheel's own project", "W019", 1, [](Draft& d) { d.files.emplace_back("X.egg-info/PKG-INFO", "Name: x\nVersion: 9\n"); }},
  {"an egg-info with a version", "W019", 1, [](Draft& d) { d.files.emplace_back("x-9-py3.egg-info", "Name: x\nVersion: 9\n"); }},
  {"an egg-info of another project", "", 0, [](Draft& d) { d.files.emplace_back("y.egg-info/PKG-INFO", "Name: y\n"); }},
  {"a name that Windows cannot have", "W021", 1, [](Draft& d) { d.files.emplace_back("x/aux.py", "x"); }},
  {"a requirement that cannot be parsed", "M010", 1, [](Draft& d) { d.metadata += "Requires-Dist: bad !!\n"; }},
  {"a Python that cannot be parsed", "M005", 1, [](Draft& d) { d.metadata += "Requires-Python: banana\n"; }},
  {"an extra that cannot be parsed", "M011", 1, [](Draft& d) { d.metadata += "Provides-Extra: a b\n"; }},
  {"an entry point that cannot be parsed", "W009", 1, [](Draft& d) { d.files.emplace_back(d.info + "entry_points.txt", "[g]\nx = not a ref!\n"); }},
  {"an old requirement that cannot be parsed", "", 0, [](Draft& d) { d.metadata = "Metadata-Version: 2.0\nName: x\nVersion: 1\nRequires-Dist: pytz (>dev)\n"; }},
  {"a name that is no wheel's", "M002", 1, [](Draft& d) { d.name = "x-1.whl"; }},
  {"sha512", "", 0, [](Draft& d) { d.record = "x.py,sha512=Ortmd680rFfAylgo_ZT52IbCbOWajOYOz2d4B5Qj3M_x1vGctlWAXVYJjm04oacQ3uWVI-7XUR5ankuMyzpGhg,2\n" + d.row(d.info + "METADATA", d.metadata) + d.row(d.info + "WHEEL", d.wheel) + d.info + "RECORD,,\n"; }},
  {"a wrong sha512", "W003", 6, [](Draft& d) { d.record = "x.py,sha512=Artmd680rFfAylgo_ZT52IbCbOWajOYOz2d4B5Qj3M_x1vGctlWAXVYJjm04oacQ3uWVI-7XUR5ankuMyzpGhg,2\n" + d.row(d.info + "METADATA", d.metadata) + d.row(d.info + "WHEEL", d.wheel) + d.info + "RECORD,,\n"; }},
  {"RECORD with CRLF", "", 0, [](Draft& d) { std::string r = d.row("x.py", "1\n") + d.row(d.info + "METADATA", d.metadata) + d.row(d.info + "WHEEL", d.wheel) + d.info + "RECORD,,\n"; d.record.emplace(); for (char c : r) { if (c == '\n') *d.record += '\r'; *d.record += c; } }},
  {"RECORD without sizes", "", 0, [](Draft& d) { d.record = "x.py,sha256=" + sha256("1\n").base64url() + ",\n" + d.row(d.info + "METADATA", d.metadata) + d.row(d.info + "WHEEL", d.wheel) + d.info + "RECORD,,\n"; }},
  {"RECORD that does not list itself", "", 0, [](Draft& d) { d.record = d.row("x.py", "1\n") + d.row(d.info + "METADATA", d.metadata) + d.row(d.info + "WHEEL", d.wheel); }},
  {"an unlisted signature", "", 0, [](Draft& d) { d.record = d.row("x.py", "1\n") + d.row(d.info + "METADATA", d.metadata) + d.row(d.info + "WHEEL", d.wheel) + d.info + "RECORD,,\n"; d.files.emplace_back(d.info + "RECORD.jws", "{}"); }},
  {"a local platform tag", "", 0, [](Draft& d) { d.name = "x-1-py3-none-linux_x86_64.whl"; d.wheel.replace(d.wheel.find("any"), 3, "linux_x86_64"); }},
  {"a compressed tag in WHEEL", "", 0, [](Draft& d) { d.name = "x-1-py2.py3-none-any.whl"; d.wheel.replace(d.wheel.find("py3"), 3, "py2.py3"); }},
  {"an old name that is not normalised", "", 0, [](Draft& d) { d.name = "X-1.0-py3-none-any.whl"; d.info = "X-1.0.dist-info/"; }},
  {"a dist-info in another spelling than the file", "", 0, [](Draft& d) { d.name = "X-1.0-py3-none-any.whl"; }},
  {"a licence file at its old place", "", 0, [](Draft& d) { d.metadata += "License-File: LICENSE\n"; d.files.emplace_back(d.info + "LICENSE", "MIT"); }},
  {"Wheel-Version 1.9", "", 0, [](Draft& d) { d.wheel.replace(15, 3, "1.9"); }},
  {"data files", "", 0, [](Draft& d) { d.files.emplace_back("x-1.data/scripts/run", "#!python\n"); d.files.emplace_back("x-1.data/data/share/x", ""); }},
};
// clang-format on

TEST_F(Wheel, VerifyFindsEveryDefect) {
  for (const auto& c : k_cases) {
    Draft draft;
    c.change(draft);
    auto path = forge(draft.name, draft.all());
    auto report = verify(path, 2);
    ASSERT_TRUE(report) << c.label;
    auto first = std::find_if(report->findings.begin(), report->findings.end(),
                              [](const Finding& f) { return f.severity == Severity::error; });
    EXPECT_EQ(first == report->findings.end() ? "" : first->code, c.code) << c.label << "\n"
                                                                          << render(report->findings);
    EXPECT_EQ(exit_code(*report), c.exit_code) << c.label << "\n" << render(report->findings);
    auto sound = require_sound(path);
    EXPECT_EQ(sound.has_value(), c.exit_code == 0) << c.label;
    if (!sound) {
      EXPECT_EQ(sound.error().code, "W010");
      EXPECT_EQ(traits(sound.error().kind).exit_code, c.exit_code) << c.label;
      auto unpacked = unpack(path, directory_ + "/refused");
      EXPECT_FALSE(unpacked) << c.label;
      EXPECT_FALSE(sys::exists(directory_ + "/refused")) << c.label;
    }
    ASSERT_TRUE(sys::remove_file(path));
  }
}

TEST_F(Wheel, VerifyFindsEveryAlteredByteOfAFile) {
  Draft draft;
  auto path = forge(draft.name, draft.all());
  auto original = sys::read_file(path).value();
  int refused = 0;
  for (std::size_t i = 0; i < original.size(); ++i) {
    auto bytes = original;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x20);
    ASSERT_TRUE(sys::File::create(path).value().write(bytes));
    auto report = verify(path).value();
    bool sound = exit_code(report) == 0;
    EXPECT_TRUE(!sound || report.metadata_text == draft.metadata) << i;
    refused += !sound;
  }
  // What may change unseen are times, versions and the creator: 24 of the 122 bytes of headers for each of 4 files.
  EXPECT_GT(refused, static_cast<int>(original.size()) - 4 * 26 - 8);
}

TEST_F(Wheel, VerifyBoundsMetadataBeforeInflatingIt) {
  Draft draft;
  draft.metadata = "Metadata-Version: 2.1\nName: x\nVersion: 1\n\n" + std::string(dist::k_metadata_bytes_max, ' ');
  auto report = verify(forge(draft.name, draft.all())).value();
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].code, "Z016");
  EXPECT_EQ(exit_code(report), 6);
}

TEST_F(Wheel, VerifyRefusesWhatIsNoZip) {
  auto path = directory_ + "/x-1-py3-none-any.whl";
  ASSERT_TRUE(sys::write_file(path, "not a zip"));
  EXPECT_EQ(exit_code(verify(path).value()), 6);
  ASSERT_TRUE(sys::write_file(path, ""));
  EXPECT_EQ(exit_code(verify(path).value()), 6);
  EXPECT_EQ(verify(directory_ + "/gone.whl").error().kind, ErrorKind::not_found);
  for (const char* name : {"x-1.tar.gz", "notes.txt", "x-1-py3-none-any.whl.part"}) {
    ASSERT_TRUE(sys::write_file(directory_ + "/" + name, "not a zip"));
    auto refused = verify(directory_ + "/" + name);
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, "W022") << name;
    EXPECT_EQ(refused.error().message.find("is a source distribution") != std::string::npos,
              std::string_view(name).ends_with(".tar.gz"));
  }
}

// Python's csv module must read our RECORD as we meant it, and zipfile our container.
TEST_F(Wheel, PythonAgreesWithOurRecord) {
  auto built = build(spec()).value();
  const char* script = R"(
import base64, csv, hashlib, io, sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
assert z.testzip() is None
record = next(n for n in z.namelist() if n.endswith('/RECORD'))
rows = list(csv.reader(io.StringIO(z.read(record).decode())))
assert [r[0] for r in rows] == z.namelist(), rows
for path, digest, size in rows:
    if path == record: continue
    data = z.read(path)
    assert int(size) == len(data)
    assert digest == 'sha256=' + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('='), path
)";
  sys::ProcessSpec process;
  process.argv = {"python3", "-c", script, built.path};
  process.environment = {{"PATH", std::getenv("PATH")}};
  auto result = sys::run_process(process);
  ASSERT_TRUE(result) << render(result.error());
  EXPECT_EQ(result->exit_code, 0) << result->err;
}

} // namespace
} // namespace quarry::wheel
