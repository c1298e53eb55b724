#include "dist/version_change.hpp"

#include <gtest/gtest.h>

namespace quarry::dist {
namespace {

VersionChange to_release() { return VersionChange::create({"7.2.0rc1", "7.2.0"}).value(); }

TEST(VersionChange, TakesVersionsOfOneRelease) {
  EXPECT_TRUE(VersionChange::create({"7.2.0rc1", "7.2.0rc2"}));
  EXPECT_TRUE(VersionChange::create({"7.2.0a20261101", "7.2"}));
  for (const auto& ends : std::vector<VersionChange::Ends>{
           {"7.2.0rc1", "7.3.0"}, {"7.2.0", "7.2.0"}, {"7.2.0", "7.2.0rc1"}, {"7.2.0rc2", "7.2.0rc1"}}) {
    auto refused = VersionChange::create(ends);
    ASSERT_FALSE(refused) << ends.candidate << " " << ends.release;
    EXPECT_EQ(refused.error().code, "M016");
  }
  EXPECT_EQ(VersionChange::create({"latest", "7.2.0"}).error().code, "M004");
}

TEST(VersionChange, FollowsTheLocalSegmentOfFrameworks) {
  auto change = to_release();
  EXPECT_EQ(change.of("7.2.0rc1"), "7.2.0");
  EXPECT_EQ(change.of("7.2.0-RC.1"), "7.2.0");
  EXPECT_EQ(change.of("2.9.0+rocm7.2.0rc1"), "2.9.0+rocm7.2.0");
  EXPECT_EQ(change.of("2.9.0a1+git1a2b3c.rocm7.2.0rc1"), "2.9.0a1+git1a2b3c.rocm7.2.0");
  for (const auto* stays : {"7.2.0", "7.2.0rc10", "7.2.0rc2", "2.9.0+rocm7.2.0rc10", "2.9.0+myrocm7.2.0rc1", "2.9.0",
                            "7.2.0rc1.post1", "", "x"})
    EXPECT_EQ(change.of(stays), std::nullopt) << stays;
}

TEST(VersionChange, ChangesVersionAndPinsOfMetadataAlone) {
  EXPECT_EQ(changed_metadata("Metadata-Version: 2.4\r\nName: torch\nVersion: 2.9.0+rocm7.2.0rc1\n"
                             "Summary: for 7.2.0rc1\n"
                             "Requires-Dist: rocm[libraries,devel]==7.2.0rc1\n"
                             "Requires-Dist: rocm-sdk-core (==7.2.0rc1) ; platform_version == \"7.2.0rc1\"\n"
                             "Requires-Dist: triton === 3.5.0+rocm7.2.0rc1, != 3.4\n"
                             "Requires-Dist: jinja2==3.1,\n  >=7.2.0rc1\n"
                             "\n"
                             "Version: 7.2.0rc1\nRequires-Dist: rocm==7.2.0rc1\n",
                             to_release()),
            "Metadata-Version: 2.4\r\nName: torch\nVersion: 2.9.0+rocm7.2.0\n"
            "Summary: for 7.2.0rc1\n"
            "Requires-Dist: rocm[libraries,devel]==7.2.0\n"
            "Requires-Dist: rocm-sdk-core (==7.2.0) ; platform_version == \"7.2.0rc1\"\n"
            "Requires-Dist: triton === 3.5.0+rocm7.2.0, != 3.4\n"
            "Requires-Dist: jinja2==3.1,\n  >=7.2.0rc1\n"
            "\n"
            "Version: 7.2.0rc1\nRequires-Dist: rocm==7.2.0rc1\n");
  EXPECT_EQ(changed_metadata("Version: 7.2.0rc1", to_release()), "Version: 7.2.0");
  EXPECT_EQ(changed_requirements("[libraries]\nrocm-sdk-libraries==7.2.0rc1\n", to_release()),
            "[libraries]\nrocm-sdk-libraries==7.2.0\n");
  EXPECT_EQ(changed_requirements("rocm==", to_release()), "rocm==");
}

TEST(VersionChange, ChangesLiteralsThatAreAVersionAndNothingElse) {
  EXPECT_EQ(changed_literals("# it's 7.2.0rc1\n__version__ = \"7.2.0rc1\"\nv = ('2.9.0+rocm7.2.0rc1', \"7.2.0rc1 \", "
                             "'a', \"x7.2.0rc1\")\nw = \"7.2.0rc1'\n",
                             to_release()),
            "# it's 7.2.0rc1\n__version__ = \"7.2.0\"\nv = ('2.9.0+rocm7.2.0', \"7.2.0rc1 \", "
            "'a', \"x7.2.0rc1\")\nw = \"7.2.0rc1'\n");
  EXPECT_EQ(changed_literals("", to_release()), "");
  EXPECT_TRUE(names_version("_dist_info.py"));
  EXPECT_FALSE(names_version("my_dist_info.py"));
}

} // namespace
} // namespace quarry::dist
