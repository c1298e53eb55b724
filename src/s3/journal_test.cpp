// The journal of an upload: who holds it, and what it remembers.
#include "s3/journal.hpp"

#include "s3/put.hpp"
#include "sys/tree.hpp"
#include "thread/pool.hpp"
#include <atomic>
#include <filesystem>
#include <gtest/gtest.h>

namespace quarry::s3 {
namespace {

class Journals : public ::testing::Test {
protected:
  void SetUp() override { ASSERT_TRUE(sys::make_directories(place_.directory, 0700)); }
  void TearDown() override { std::filesystem::remove_all(root_); }
  std::string root_ = *sys::make_temporary_directory(::testing::TempDir(), "journals-");
  JournalPlace place_{root_ + "/real"};
};

const JournalEntry k_entry{"upload", "nonce", "sha256", "headers", 30, 10, {}};

TEST_F(Journals, RemembersAnUploadAndItsParts) {
  {
    auto journal = Journal::open(place_, "object");
    ASSERT_TRUE(journal);
    EXPECT_FALSE(journal->entry());
    journal->begin(k_entry);
    journal->add(2, {"etag", 7, 10});
  }
  auto again = Journal::open(place_, "object");
  ASSERT_TRUE(again && again->entry());
  const auto& entry = *again->entry();
  EXPECT_EQ(entry.upload_id, "upload");
  EXPECT_EQ(entry.headers, "headers");
  ASSERT_TRUE(entry.parts.contains(2));
  EXPECT_EQ(entry.parts.at(2).etag, "etag");
  again->remove();
  EXPECT_FALSE(Journal::open(place_, "object")->entry());
}

// It comes from a header of the server.
TEST_F(Journals, AnETagMayBeAnyBytes) {
  auto journal = Journal::open(place_, "object");
  journal->begin(k_entry);
  journal->add(1, {"\xff", 7, 10});
  journal->add(2, {"two", 7, 10});
  journal.reset();
  EXPECT_TRUE(Journal::open(place_, "object")->entry()->parts.contains(2));
}

// A kill or a full disk cuts a line short; the next run goes on below it.
TEST_F(Journals, ATornLineLosesOnlyItself) {
  {
    auto journal = Journal::open(place_, "object");
    journal->begin(k_entry);
    journal->add(1, {"one", 7, 10});
    journal->add(2, {"two", 7, 10});
  }
  auto file = std::filesystem::directory_iterator(place_.directory)->path();
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 5);
  Journal::open(place_, "object")->add(3, {"three", 7, 10});
  auto parts = Journal::open(place_, "object")->entry()->parts;
  EXPECT_TRUE(parts.contains(1) && parts.contains(3));
  EXPECT_FALSE(parts.contains(2));
}

TEST_F(Journals, AnotherSpellingOfTheDirectoryFindsItLocked) {
  std::filesystem::create_directory_symlink(place_.directory, root_ + "/link");
  auto held = Journal::open(place_, "object");
  ASSERT_TRUE(held);
  for (const auto& spelling : {root_ + "/link", root_ + "/./real", root_ + "/link/../real/", place_.directory})
    EXPECT_FALSE(Journal::open({spelling}, "object")) << spelling;
  EXPECT_TRUE(Journal::open(place_, "other"));
}

// Each holder begins an upload and removes the journal again, so nobody who holds it may find an upload in it. Without
// a look at the name after locking, one of several threads locks a removed file and reads the file of the next one.
TEST_F(Journals, ARemovedFileIsNotHeld) {
  std::atomic<int> found = 0, held = 0;
  ASSERT_TRUE(parallel_for(4, 4, [&](std::size_t) -> Result<void> {
    for (int i = 0; i < 4000; ++i) {
      auto journal = Journal::open(place_, "object");
      if (!journal) continue;
      ++held;
      if (journal->entry()) ++found;
      journal->begin(k_entry);
      journal->remove();
    }
    return {};
  }));
  EXPECT_GT(held, 0);
  EXPECT_EQ(found, 0);
}

/// Amazon's answers for a bucket in eu-west-1. Refuses every part but the first while `cut` is set.
class FarBucket final : public net::Transport {
public:
  net::Answer send(const net::Request& request) override {
    if (request.url.host.find("eu-west-1") == std::string::npos)
      return net::Response{
          301, {{"x-amz-bucket-region", "eu-west-1"}}, "<Error><Code>PermanentRedirect</Code></Error>"};
    const auto& query = request.url.query;
    auto has = [&](const char* name) { return query.find(name) != std::string::npos; };
    begun += has("uploads") ? 1 : 0;
    if (has("uploads"))
      return xml("<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>");
    if (cut && has("partNumber=2")) return net::Response{403, {}, "<Error><Code>AccessDenied</Code></Error>"};
    if (has("partNumber")) return net::Response{200, {{"etag", "\"e\""}}, ""};
    if (request.method == "POST")
      return xml("<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>");
    if (has("uploadId"))
      return xml("<ListPartsResult><IsTruncated>false</IsTruncated><Part><PartNumber>1</PartNumber><Size>1000</Size>"
                 "<ETag>\"e\"</ETag></Part></ListPartsResult>");
    return net::Response{200, {{"etag", "\"e\""}}, "bytes"};
  }
  static net::Answer xml(const std::string& body) { return net::Response{200, {}, body}; }
  bool cut = true;
  int begun = 0; ///< uploads
};

// The first run has learned the bucket's region by its first request, before it begins the upload; the second run
// begins with the region that is configured.
TEST_F(Journals, TheRegionThatWasLearnedDoesNotHideAnUpload) {
  auto server = std::make_shared<FarBucket>();
  const std::map<std::string, std::string> variables = {{"QUARRY_S3_ANONYMOUS", "1"}, {"AWS_REGION", "us-east-1"}};
  const sys::RealClock clock;
  const std::string bytes(1500, 'x');
  PutRequest request;
  request.key = BucketKey("large");
  request.content = content::Rope::literal(bytes);
  request.sha256 = sha256(bytes);
  auto run = [&](bool reads_first) {
    Bucket bucket(*parse_location("s3://bucket", variables, {}), server,
                  make_credential_cache(variables, {}, server, clock, "us-east-1"), clock);
    if (reads_first) EXPECT_TRUE(bucket.call({.action = "read", .key = BucketKey("k")}));
    CapabilityCache capabilities(bucket, "", clock);
    auto slabs = std::make_shared<Slabs>(1u << 20);
    return put_object({bucket, capabilities, *slabs, place_, {.part_bytes = 1000, .uploaders = 1}}, request);
  };
  auto killed = run(true);
  ASSERT_FALSE(killed);
  EXPECT_EQ(killed.error().error.code, "K003");
  server->cut = false;
  auto resumed = run(false);
  ASSERT_TRUE(resumed) << render(resumed.error().error);
  EXPECT_EQ(server->begun, 1);
}

} // namespace
} // namespace quarry::s3
