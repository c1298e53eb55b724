#include "content/file_digest.hpp"

#include "content/rope.hpp"
#include "sys/file.hpp"
#include <gtest/gtest.h>

namespace quarry::content {
namespace {

class DigestOfFile : public ::testing::Test {
protected:
  std::string path_ = sys::make_temporary_directory(::testing::TempDir(), "quarry-digest-").value();
  ~DigestOfFile() override { (void)sys::remove_tree(path_); }
};

// 65,536 bytes are read at once, one more is not.
TEST_F(DigestOfFile, IsThatOfTheRope) {
  for (std::size_t size : {0u, 1u, 65535u, 65536u, 65537u, 3000000u}) {
    auto file = path_ + "/file";
    ASSERT_TRUE(sys::File::create(file)->write(std::string(size, 'x')));
    auto found = digest_of_file(file);
    ASSERT_TRUE(found && *found) << size;
    EXPECT_EQ((*found)->size, size);
    EXPECT_EQ((*found)->sha256, *sha256_of_file(file));
  }
}

TEST_F(DigestOfFile, OnlyARegularFileHasOne) {
  EXPECT_FALSE(*digest_of_file(path_));
  EXPECT_FALSE(*digest_of_file(path_ + "/nothing"));
  EXPECT_FALSE(*digest_of_file("/dev/null"));
}

} // namespace
} // namespace quarry::content
