#include "run/bucket.hpp"

#include "sys/clock.hpp"
#include <gtest/gtest.h>

namespace quarry::run {
namespace {

constexpr std::string_view k_home = "ROCm/TheRock", k_other = "ROCm/rocm-libraries",
                           k_internal = "ROCm/therock-releases-internal";

struct BucketCase {
  Era era;
  std::string_view repository;
  bool fork;
  std::string_view release_type, updated_at; // empty: not known
  std::string_view bucket, external_repo;
};

// Worked out by hand from the rules of docs/formats/run-layout.md, both eras, row by row.
const BucketCase k_bucket_cases[] = {
    // February: home, internal, everybody else
    {Era::feb, k_home, false, "", "", "therock-ci-artifacts", ""},
    {Era::feb, k_home, true, "", "", "therock-ci-artifacts-external", "ROCm-TheRock/"},
    {Era::feb, k_other, false, "", "", "therock-ci-artifacts-external", "ROCm-rocm-libraries/"},
    {Era::feb, k_other, true, "", "", "therock-ci-artifacts-external", "ROCm-rocm-libraries/"},
    {Era::feb, k_internal, false, "", "", "therock-artifacts-internal", "ROCm-therock-releases-internal/"},
    {Era::feb, k_internal, true, "", "", "therock-ci-artifacts-external", "ROCm-therock-releases-internal/"},
    // … a release type decides the bucket, the prefix stays
    {Era::feb, k_home, false, "nightly", "", "therock-nightly-artifacts", ""},
    {Era::feb, k_home, true, "nightly", "", "therock-nightly-artifacts", "ROCm-TheRock/"},
    {Era::feb, k_internal, false, "dev", "", "therock-dev-artifacts", "ROCm-therock-releases-internal/"},
    {Era::feb, k_other, false, "prerelease", "", "therock-prerelease-artifacts", "ROCm-rocm-libraries/"},
    // … the old names up to the second of the cutover, and not for releases
    {Era::feb, k_home, false, "", "2025-11-11T16:18:47Z", "therock-artifacts", ""},
    {Era::feb, k_home, false, "", "2025-11-11T16:18:48Z", "therock-artifacts", ""},
    {Era::feb, k_home, false, "", "2025-11-11T16:18:49Z", "therock-ci-artifacts", ""},
    {Era::feb, k_home, true, "", "2025-11-11T16:18:48Z", "therock-artifacts-external", "ROCm-TheRock/"},
    {Era::feb, k_other, false, "", "2025-11-01T00:00:00Z", "therock-artifacts-external", "ROCm-rocm-libraries/"},
    {Era::feb, k_internal, false, "", "2025-11-01T00:00:00Z", "therock-artifacts-internal",
     "ROCm-therock-releases-internal/"},
    {Era::feb, k_home, false, "nightly", "2025-11-01T00:00:00Z", "therock-nightly-artifacts", ""},
    // August: the release type decides, only the external bucket keeps repositories apart
    {Era::aug, k_home, false, "", "", "therock-ci-artifacts", ""},
    {Era::aug, k_home, false, "ci", "", "therock-ci-artifacts", ""},
    {Era::aug, k_home, true, "ci", "", "therock-ci-artifacts-external", "ROCm-TheRock/"},
    {Era::aug, k_other, false, "ci", "", "therock-ci-artifacts-external", "ROCm-rocm-libraries/"},
    {Era::aug, k_internal, false, "", "", "therock-ci-artifacts-external", "ROCm-therock-releases-internal/"},
    {Era::aug, k_home, false, "dev", "", "therock-dev-artifacts", ""},
    {Era::aug, k_home, false, "dev-bkc", "", "therock-dev-artifacts", ""},
    {Era::aug, k_home, false, "nightly", "", "therock-nightly-artifacts", ""},
    {Era::aug, k_home, false, "nightly-bkc", "", "therock-nightly-artifacts", ""},
    {Era::aug, k_home, true, "nightly", "", "therock-nightly-artifacts", ""},
    {Era::aug, k_other, false, "prerelease", "", "therock-prerelease-artifacts", ""},
    {Era::aug, k_home, false, "", "2025-11-01T00:00:00Z", "therock-ci-artifacts", ""}, // the cutover is forgotten
    // ours: buckets as in August
    {Era::quarry, k_home, false, "", "", "therock-ci-artifacts", ""},
    {Era::quarry, k_home, true, "", "", "therock-ci-artifacts-external", "ROCm-TheRock/"},
    {Era::quarry, k_other, false, "nightly-bkc", "", "therock-nightly-artifacts", ""},
    // the case of a repository's name decides nothing
    {Era::feb, "rocm/therock", false, "", "", "therock-ci-artifacts", ""},
    {Era::aug, "ROCM/THEROCK", false, "", "", "therock-ci-artifacts", ""},
    {Era::feb, "rocm/TheRock-Releases-Internal", false, "", "", "therock-artifacts-internal",
     "rocm-TheRock-Releases-Internal/"},
};

Origin origin_of(const BucketCase& c) {
  Origin origin{std::string(c.repository), c.fork, std::string(c.release_type), std::nullopt};
  if (!c.updated_at.empty()) origin.updated_at_us = *sys::parse_rfc3339(c.updated_at);
  return origin;
}

TEST(Bucket, FollowsTheRulesOfEachEra) {
  for (const auto& c : k_bucket_cases) {
    auto bucket = choose_bucket(origin_of(c), c.era);
    ASSERT_TRUE(bucket) << c.repository;
    auto row = std::string(to_string(c.era)) + " " + std::string(c.repository) + " " + std::string(c.release_type) +
               (c.fork ? " fork " : " ") + std::string(c.updated_at);
    EXPECT_EQ(bucket->name, c.bucket) << row;
    EXPECT_EQ(bucket->external_repo, c.external_repo) << row;
    EXPECT_FALSE(bucket->reasons.empty()) << row;
  }
}

TEST(Bucket, ANamedBucketWins) {
  Origin fork{std::string(k_home), true, "", std::nullopt};
  auto feb = *choose_bucket(fork, Era::feb, "own-bucket");
  EXPECT_EQ(feb.name, "own-bucket");
  EXPECT_EQ(feb.external_repo, "");
  EXPECT_EQ(choose_bucket(fork, Era::feb, "therock-ci-artifacts-external")->external_repo, "");
  EXPECT_EQ(choose_bucket(fork, Era::aug, "own-bucket")->external_repo, "");
  EXPECT_EQ(choose_bucket(fork, Era::aug, "therock-ci-artifacts-external")->external_repo, "ROCm-TheRock/");
}

std::string code_of(Origin origin, Era era, std::string_view named = {}) {
  auto bucket = choose_bucket(origin, era, named);
  return bucket ? "" : bucket.error().code;
}

TEST(Bucket, RefusesWhatItDoesNotKnow) {
  for (auto bad :
       {"", "TheRock", "/TheRock", "ROCm/", "ROCm/a/b", "RO Cm/x", "-a/x", "ROCm/..", "ROCm/x\n", "ROCm/x%2F"})
    EXPECT_EQ(code_of({bad, false, "", {}}, Era::aug), "L022") << bad;
  for (auto bad : {"release", "Nightly", "nightly ", "bkc"})
    EXPECT_EQ(code_of({std::string(k_home), false, bad, {}}, Era::aug), "L023") << bad;
  EXPECT_EQ(code_of({std::string(k_home), false, "nightly-bkc", {}}, Era::feb), "L023");
  for (auto bad : {"ab", "Upper", "a_b", "-ab", "ab-", "a..b", "s3://x", "a/b"})
    EXPECT_EQ(code_of({}, Era::aug, bad), "L027") << bad;
  EXPECT_EQ(code_of({}, Era::aug, std::string(64, 'a')), "L027");
  EXPECT_EQ(parse_era("may").error().code, "L024");
}

} // namespace
} // namespace quarry::run
