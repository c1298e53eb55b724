#include "inspect/path_rules.hpp"

#include <gmock/gmock.h>

namespace quarry::inspect {

namespace {
std::string paths_table(const std::string& keys) { return "schema = \"quarry.windows-paths/1\"\n" + keys; }

TEST(WindowsPaths, Reads) {
  auto read = parse_windows_paths({paths_table("file_max = 259\ndirectory_max = 247\nprefix = 88\n"), "w.toml"});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->file_max, 259);
  EXPECT_EQ(read->directory_max, 247);
  EXPECT_EQ(read->prefix, 88);
}

TEST(WindowsPaths, RefusesWhatIsNotInOrder) {
  for (const auto* keys :
       {"", "file_max = 259\ndirectory_max = 247\n", "file_max = 200\ndirectory_max = 247\nprefix = 88\n",
        "file_max = 259\ndirectory_max = 50\nprefix = 88\n", "file_max = 259\ndirectory_max = 247\nprefix = -1\n",
        "file_max = 259\ndirectory_max = 247\nprefix = 88\nmore = 1\n",
        "file_max = \"259\"\ndirectory_max = 247\nprefix = 88\n"}) {
    auto read = parse_windows_paths({paths_table(keys), "w.toml"});
    ASSERT_FALSE(read) << keys;
    EXPECT_EQ(read.error().code, "Q009");
    EXPECT_THAT(read.error().message, testing::HasSubstr("w.toml"));
  }
}
} // namespace

} // namespace quarry::inspect
