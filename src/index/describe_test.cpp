#include "index/describe.hpp"

#include "sys/file.hpp"
#include "sys/path.hpp"
#include <gtest/gtest.h>

namespace quarry::index {
namespace {

class DescribeProven : public testing::Test {
protected:
  void SetUp() override {
    root_ = *sys::make_temporary_directory(testing::TempDir(), "quarry-describe-");
    prover_ =
        std::make_shared<const wheel::Prover>(wheel::Prover::open(path::join(root_, "key"), {"quarry 1"}).value());
    wheel::WheelSpec spec;
    spec.metadata.name = "x";
    spec.metadata.version = "1.0";
    spec.metadata.requires_python = ">=3.10";
    spec.tags = {"py3", "none", "any"};
    spec.root_is_purelib = true;
    spec.members = {{"x/lib.so", content::Rope::literal(k_bytes), false}};
    wheel::PackOptions options{codec::Profile::stored, 1, {}, prover_};
    path_ = wheel::pack(spec, root_, options).value().path;
  }
  void TearDown() override { EXPECT_TRUE(sys::remove_tree(root_)); }

  std::string text() const { return sys::read_file(path_).value(); }
  void write(const std::string& text) const { ASSERT_TRUE(sys::write_file(path_, text)); }
  /// The wheel with the first `from` replaced by `to` of the same length.
  void alter(const std::string& from, const std::string& to) const {
    auto bytes = text();
    auto at = bytes.find(from);
    ASSERT_NE(at, bytes.npos);
    ASSERT_EQ(from.size(), to.size());
    write(bytes.replace(at, to.size(), to));
  }

  inline static const std::string k_bytes = "the bytes of a member that nobody should read twice";
  std::string root_, path_;
  std::shared_ptr<const wheel::Prover> prover_;
};

TEST_F(DescribeProven, SaysWhatAFullReadingSays) {
  auto full = describe(path_).value();
  auto proven = describe_proven(path_, *prover_);
  ASSERT_TRUE(proven);
  EXPECT_EQ(proven->file, full.file);
  EXPECT_EQ(proven->sidecar, full.sidecar);
  EXPECT_EQ(proven->holds_library, full.holds_library);
  EXPECT_FALSE(proven->hashed);
  EXPECT_TRUE(full.hashed);
}

// The digest is the recorded one, so a store that is given these bytes under it refuses them.
TEST_F(DescribeProven, NamesTheRecordedDigestOfAnAlteredFile) {
  auto before = describe(path_).value();
  alter("nobody", "NOBODY");
  auto proven = describe_proven(path_, *prover_);
  ASSERT_TRUE(proven);
  EXPECT_EQ(proven->file.sha256, before.file.sha256);
  EXPECT_FALSE(proven->hashed);
  EXPECT_FALSE(describe(path_));
}

TEST_F(DescribeProven, LeavesAWheelWhoseMetadataChangedToAFullReading) {
  alter("Requires-Python: >=3.10", "Requires-Python: >=3.99");
  EXPECT_FALSE(describe_proven(path_, *prover_));
}

TEST_F(DescribeProven, LeavesAWheelOfAnotherSizeToAFullReading) {
  write(text() + "x");
  EXPECT_FALSE(describe_proven(path_, *prover_));
}

TEST_F(DescribeProven, LeavesAWheelWithoutAProofToAFullReading) {
  ASSERT_TRUE(sys::remove_file(wheel::proof_path(path_)));
  EXPECT_FALSE(describe_proven(path_, *prover_));
}

} // namespace
} // namespace quarry::index
