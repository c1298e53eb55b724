#include "wheel/proof.hpp"

#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/secret_file.hpp"
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace quarry::wheel {
namespace {

class ProofTest : public testing::Test {
protected:
  void SetUp() override {
    root_ = testing::TempDir() + "proof-" + testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::string at(const std::string& name) const { return path::join(root_, name); }
  Prover prover(const std::string& key = "key", const std::string& verifier = "quarry 1") {
    return Prover::open(at(key), {verifier}).value();
  }

  std::string root_;
  Proof proof_{"x-1.0-py3-none-any.whl", 42, sha256("wheel"), sha256("metadata")};
  std::string wheel() const { return at(proof_.file_name); }
};

TEST_F(ProofTest, RecallsWhatTheSameKeyRecorded) {
  ASSERT_TRUE(prover().record(wheel(), proof_));
  auto found = prover().recall(wheel());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->file_name, proof_.file_name);
  EXPECT_EQ(found->size, 42u);
  EXPECT_EQ(found->sha256, proof_.sha256);
  EXPECT_EQ(found->metadata_sha256, proof_.metadata_sha256);
}

TEST_F(ProofTest, RecordsOfOthersCountForNothing) {
  ASSERT_TRUE(prover("other").record(wheel(), proof_));
  EXPECT_FALSE(prover().recall(wheel())) << "another user's or machine's key";
  ASSERT_TRUE(prover("key", "quarry 0").record(wheel(), proof_));
  EXPECT_FALSE(prover().recall(wheel())) << "another version of the rules";
  ASSERT_TRUE(sys::remove_file(proof_path(wheel())));
  EXPECT_FALSE(prover().recall(wheel())) << "no record";
}

// Each byte of the record matters or is not part of what it says: no change makes it speak of other bytes.
TEST_F(ProofTest, AnAlteredRecordNeverSpeaksOfOtherBytes) {
  ASSERT_TRUE(prover().record(wheel(), proof_));
  auto text = sys::read_file(proof_path(wheel())).value();
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto altered = text;
    altered[i] = static_cast<char>(altered[i] ^ 1);
    ASSERT_TRUE(sys::write_file(proof_path(wheel()), altered));
    auto found = prover().recall(wheel());
    if (!found) continue;
    EXPECT_EQ(found->sha256, proof_.sha256) << i;
    EXPECT_EQ(found->size, proof_.size) << i;
    EXPECT_EQ(found->metadata_sha256, proof_.metadata_sha256) << i;
  }
}

TEST_F(ProofTest, ARecordBelongsToOneFileName) {
  ASSERT_TRUE(prover().record(wheel(), proof_));
  auto other = at("y-1.0-py3-none-any.whl");
  std::filesystem::copy_file(proof_path(wheel()), proof_path(other));
  EXPECT_FALSE(prover().recall(other));
}

TEST_F(ProofTest, TheKeyIsPrivateToItsUser) {
  prover();
  struct stat status{};
  ASSERT_EQ(::stat(at("key").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(static_cast<std::size_t>(status.st_size), sys::k_secret_digits);
  for (unsigned mode : {0640u, 0604u, 0620u, 0602u}) {
    ASSERT_EQ(::chmod(at("key").c_str(), mode), 0);
    auto refused = Prover::open(at("key"), {"quarry 1"});
    ASSERT_FALSE(refused) << mode;
    EXPECT_EQ(refused.error().code, "D015");
  }
  std::filesystem::create_symlink(at("key"), at("link"));
  EXPECT_FALSE(Prover::open(at("link"), {"quarry 1"}));
}

TEST_F(ProofTest, AnIncompleteKeyIsMadeAgain) {
  ASSERT_TRUE(sys::write_file(at("key"), "short", 0600));
  ASSERT_TRUE(prover().record(wheel(), proof_));
  EXPECT_TRUE(prover().recall(wheel()));
}

TEST_F(ProofTest, ANameTooLongForARecordGetsNone) {
  Proof proof{std::string(245, 'x') + ".whl", 1, {}, {}};
  EXPECT_TRUE(prover().record(at(proof.file_name), proof));
  EXPECT_FALSE(prover().recall(at(proof.file_name)));
}

} // namespace
} // namespace quarry::wheel
