// An installed distribution against what it came from, as values: no environment is needed.
#include "venv/expansion.hpp"
#include "venv/file_checks.hpp"
#include "venv/payload_links.hpp"
#include "venv/strangers.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::venv {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

dist::RecordRow row_of(const std::string& path, const std::string& bytes) {
  dist::RecordRow row;
  row.path = path, row.sha256 = sha256(bytes), row.size = bytes.size();
  return row;
}

Distribution core_with(const std::vector<std::string>& paths) {
  Distribution found{"core", "1.0", "core-1.0.dist-info", {}};
  for (const auto& path : paths) found.record.emplace(path, row_of(path, path)); // each file holds its own path
  return found;
}

WheelContent wheel_with(const std::vector<std::string>& paths) {
  WheelContent wheel;
  for (const auto& path : paths) wheel.files[path] = {sha256(path), path.size()};
  wheel.scripts = {"tool"};
  wheel.dist_info = "core-1.0.dist-info";
  return wheel;
}

std::vector<std::string> paths_of(const std::vector<FileCheck>& checks) {
  std::vector<std::string> out;
  for (const auto& check : checks) out.push_back(check.path);
  return out;
}

TEST(CompareWithWheel, EveryFileIsCheckedAndWhatInstallersAddIsAllowed) {
  auto wheel = wheel_with({"core/a.py", "core/b.so"});
  auto added = core_with(
      {"core/a.py", "core/b.so", "core/__pycache__/a.pyc", "core-1.0.dist-info/INSTALLER", "../../../bin/tool"});
  auto result = compare_with_wheel(added, wheel);
  EXPECT_THAT(result.defects, IsEmpty());
  EXPECT_THAT(paths_of(result.checks), UnorderedElementsAre("core/a.py", "core/b.so", "core/__pycache__/a.pyc",
                                                            "core-1.0.dist-info/INSTALLER", "../../../bin/tool"));
  EXPECT_EQ(result.proven.size(), 2u); // what an installer wrote proves nothing
  EXPECT_TRUE(agrees(wheel, added));
}

TEST(CompareWithWheel, RowsMustBeThoseOfTheWheel) {
  auto wheel = wheel_with({"core/a.py", "core/b.so"});
  auto result = compare_with_wheel(
      core_with({"core/a.py", "core/evil.py", "../../../bin/other", "core-1.0.dist-info/NOTES"}), wheel);
  EXPECT_THAT(result.defects,
              UnorderedElementsAre("core/b.so is in the wheel of core and not in RECORD",
                                   "core/evil.py is in RECORD and not in the wheel of core",
                                   "../../../bin/other is in RECORD and not in the wheel of core",
                                   "core-1.0.dist-info/NOTES is in RECORD and not in the wheel of core"));
  EXPECT_FALSE(agrees(wheel, core_with({"core/a.py"})));
  auto altered = core_with({"core/a.py", "core/b.so"});
  altered.record.at("core/b.so").sha256 = sha256("others");
  EXPECT_FALSE(agrees(wheel, altered));
  // The check is against the wheel's digest, whatever RECORD says.
  for (const auto& check : compare_with_wheel(altered, wheel).checks) EXPECT_EQ(check.sha256, sha256(check.path));
}

TEST(CompareWithSdist, FilesMustBeMembersOfIt) {
  SdistContent sdist{"core-1.0.tar.gz", {sha256("core/a.py")}, {"tool"}};
  auto built = core_with({"core/a.py", "core-1.0.dist-info/METADATA", "../../../bin/tool", "core/__pycache__/a.pyc"});
  EXPECT_THAT(compare_with_sdist(built, sdist).defects, IsEmpty());
  auto noted = core_with({"core/a.py", "rocm_sdk/_install_info.py", "core-1.0.dist-info/../evil.py"});
  EXPECT_THAT(compare_with_sdist(noted, sdist).defects,
              ElementsAre("core-1.0.dist-info/../evil.py is not a file of core-1.0.tar.gz",
                          "rocm_sdk/_install_info.py is not a file of core-1.0.tar.gz"));
  sdist.build_notes = {"rocm_sdk/_install_info.py"};
  EXPECT_THAT(compare_with_sdist(noted, sdist).defects,
              ElementsAre("core-1.0.dist-info/../evil.py is not a file of core-1.0.tar.gz"));
}

TEST(BuildNote, HoldsOneAssignmentAndNothingElse) {
  EXPECT_TRUE(is_build_note("\"\"\"Written by the build.\"\"\"\n\nTARGET_FAMILY = 'gfx94X-dcgpu'\n"));
  for (const char* text : {"", "TARGET_FAMILY = 'x'\n", "\"\"\"a\"\"\"\n\nTARGET_FAMILY = ''\nimport os\n",
                           "\"\"\"a\"\"\" + f()\n\nTARGET_FAMILY = 'x'\n", "\"\"\"a\"\"\"\n\nTARGET_FAMILY = 'x' + '\n",
                           "\"\"\"a\"\"\"\nx\nTARGET_FAMILY = 'x'\n", "\"\"\"a\"\"\"\n\nFAMILY = 'x'\n",
                           "\"\"\"a\"\"\"\n\nTARGET_FAMILY = '\n"})
    EXPECT_FALSE(is_build_note(text)) << text;
}

TEST(CompareWithPayload, FilesAreOfThePayloadAndLinksLeadToProvenFiles) {
  Distribution devel{
      "rocm-sdk-devel", "1.0", "rocm_sdk_devel-1.0.dist-info", {}, dist::unpacking_unsaid("rocm-sdk-devel")};
  for (const char* path :
       {"_rocm_sdk_devel/include/a.h", "_rocm_sdk_devel/lib/liba.so", "_rocm_sdk_devel/lib/strange.so"})
    devel.record.emplace(path, row_of(path, ""));
  EXPECT_TRUE(is_expanded(devel));
  EXPECT_FALSE(is_expanded(core_with({"core/a.py"})));
  DevelPayload payload;
  payload.files["_rocm_sdk_devel/include/a.h"] = {sha256("a.h"), 3};
  payload.links["_rocm_sdk_devel/lib/liba.so"] = "../../_rocm_sdk_libraries_gfx94X/lib/liba.so";
  std::map<std::string, Sha256> proven{{"_rocm_sdk_libraries_gfx94X/lib/liba.so", sha256("94")},
                                       {"_rocm_sdk_libraries_gfx103X/lib/liba.so", sha256("103")}};
  std::string site = "/nowhere";
  auto result = compare_with_payload(devel, {payload, proven, site}); // no links there: hard links or files
  EXPECT_THAT(result.defects, ElementsAre("_rocm_sdk_devel/lib/strange.so is not in the devel payload"));
  ASSERT_THAT(paths_of(result.checks), ElementsAre("_rocm_sdk_devel/include/a.h", "_rocm_sdk_devel/lib/liba.so"));
  EXPECT_THAT(result.checks[1].or_these, UnorderedElementsAre(sha256("94"), sha256("103"))); // any family's
  result = compare_with_payload(devel, {payload, {}, site});
  EXPECT_EQ(result.defects.size(), 2u);
}

TEST(EndOfLink, LinksOfDirectoriesAreFollowedAndCirclesAreNot) {
  DevelPayload payload;
  payload.files["devel/lib/llvm/bin/clang"] = {sha256("clang"), 5};
  payload.links = {{"devel/llvm", "lib/llvm"},
                   {"devel/bin/clang", "../llvm/bin/clang"},
                   {"devel/bin/cc", "clang"},
                   {"devel/lib/liba.so", "liba.so.1"},
                   {"devel/a", "b"},
                   {"devel/b", "a"},
                   {"devel/out", "../../etc/passwd"},
                   {"devel/root", "/etc/passwd"},
                   {"devel/back", "llvm/../x"},
                   {"devel/lib/liba.so.1", "../../_core/lib/liba.so.1"}};
  auto end = [&](const std::string& name) { return end_of_link(payload, "devel/" + name); };
  EXPECT_EQ(end("bin/clang").file, "devel/lib/llvm/bin/clang");
  EXPECT_EQ(end("bin/cc").file, "devel/lib/llvm/bin/clang");
  EXPECT_THAT(end("bin/cc").texts, ElementsAre("clang", "../llvm/bin/clang"));
  EXPECT_EQ(end("lib/liba.so").file, "_core/lib/liba.so.1");
  EXPECT_EQ(end("back").file, "devel/lib/x"); // as the kernel reads it
  for (const auto* nowhere : {"a", "out", "root"}) EXPECT_EQ(end(nowhere).file, std::nullopt) << nowhere;
}

TEST(ListedBy, TopDirectoriesAreThoseOfTheSourcesProjects) {
  auto ours = core_with({"core/a.py", "single.py", "../../../bin/tool"});
  Distribution pip{"pip", "24.0", "pip-24.0.dist-info", {{"pip/x.py", row_of("pip/x.py", "")}}};
  auto listed = listed_by({ours, pip}, {"core"});
  EXPECT_THAT(listed.tops, ElementsAre("core"));
  EXPECT_EQ(listed.paths.size(), 4u);
}

} // namespace
} // namespace quarry::venv
