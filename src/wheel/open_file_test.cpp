#include "sys/tree.hpp"
#include "wheel/open_file.hpp"
#include <gtest/gtest.h>
#include <string>

namespace quarry::wheel {
namespace {

class OpenFileTest : public testing::Test {
protected:
  void SetUp() override { directory_ = sys::make_temporary_directory(testing::TempDir(), "open-").value(); }
  void TearDown() override { ASSERT_TRUE(sys::remove_tree(directory_)); }
  sys::File written() const {
    auto file = sys::File::create(directory_ + "/x").value();
    EXPECT_TRUE(file.write_at(0, std::as_bytes(std::span(std::string_view("written")))));
    return file;
  }
  std::string directory_;
};

TEST_F(OpenFileTest, ReadsWhatWasWritten) {
  auto file = written();
  std::string into(7, '\0');
  ASSERT_TRUE(OpenFile(file, 7).read(0, std::as_writable_bytes(std::span(into))));
  EXPECT_EQ(into, "written");
}

// Somebody cuts the file while it is read back.
TEST_F(OpenFileTest, ReadsNothingBehindItsEnd) {
  auto file = written();
  std::string into(8, '\0');
  auto done = OpenFile(file, 8).read(0, std::as_writable_bytes(std::span(into)));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "W014");
  EXPECT_EQ(done.error().kind, ErrorKind::corrupt);
}

} // namespace
} // namespace quarry::wheel
