#include "cli/job_files.hpp"

#include "sys/file.hpp"
#include <gtest/gtest.h>

namespace quarry::cli {
namespace {

TEST(JobFiles, AnOpenLineIsEndedFirst) {
  auto directory = sys::make_temporary_directory(::testing::TempDir(), "job-").value();
  auto path = directory + "/output";
  struct Case {
    const char *before, *after;
  };
  for (const auto& [before, after] :
       {Case{"", "a=1\n"}, {"x=0\n", "x=0\na=1\n"}, {"x=0", "x=0\na=1\n"}, {"\n", "\na=1\n"}}) {
    ASSERT_TRUE(sys::write_file(path, before));
    ASSERT_TRUE(append_for_job("GITHUB_OUTPUT", path, "a=1\n"));
    EXPECT_EQ(sys::read_file(path).value(), after);
  }
  ASSERT_TRUE(append_for_job("GITHUB_OUTPUT", directory + "/new", "a=1\n"));
  EXPECT_EQ(sys::read_file(directory + "/new").value(), "a=1\n");
  ASSERT_TRUE(append_for_job("GITHUB_OUTPUT", directory + "/none", ""));
  EXPECT_FALSE(sys::exists(directory + "/none"));
  ASSERT_TRUE(append_for_job("GITHUB_OUTPUT", "", "a=1\n"));
  auto refused = append_for_job("GITHUB_OUTPUT", directory, "a=1\n");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().context.back(), "while writing GITHUB_OUTPUT");
  ASSERT_TRUE(sys::remove_tree(directory));
}

} // namespace
} // namespace quarry::cli
