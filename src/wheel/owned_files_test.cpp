#include "wheel/owned_files.hpp"

#include "zip/forge_for_test.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::wheel {
namespace {

using ::testing::ElementsAre;

TEST(OwnedFiles, AreNamedByWhereTheyAreInstalled) {
  zip::forge::Zip zip;
  zip.items.clear();
  for (const char* name : {"pkg/a.so", "demo-1.data/platlib/pkg/b.so", "demo-1.data/scripts/tool",
                           "demo-1.data/data/share/c", "demo-1.data/headers/d.h", "demo-1.dist-info/RECORD"})
    zip.items.push_back(zip::forge::item(name, "bytes"));
  auto files = owned_files(content::Rope::literal(zip.bytes()), "demo-1-py3-none-any.whl");
  ASSERT_TRUE(files) << render(files.error());
  std::vector<std::string> paths;
  for (const auto& file : *files) paths.push_back(file.path);
  EXPECT_THAT(paths, ElementsAre("pkg/a.so", "pkg/b.so", "../../../bin/tool", "../../../share/c"));
  EXPECT_EQ(files->front().size, 5u);
}

TEST(OwnedFiles, OfTheScriptsDirectoryOfWindowsAreScripts) {
  zip::forge::Zip zip;
  zip.items = {zip::forge::item("demo-1.data/data/Scripts/tool.exe", "bytes")};
  auto files = owned_files(content::Rope::literal(zip.bytes()), "demo-1-py3-none-win_amd64.whl");
  ASSERT_TRUE(files) << render(files.error());
  EXPECT_EQ(files->at(0).path, "../../../bin/tool.exe");
}

TEST(OwnedFiles, OfAFileThatIsNotNamedLikeAWheelAreRefused) {
  auto files = owned_files(content::Rope::literal(""), "demo.whl");
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().code, "M002");
}

} // namespace
} // namespace quarry::wheel
