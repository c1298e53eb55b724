// What the S3 store says of a write whose answer was lost or cannot be read, and of a look before a write that fails.
#include "s3/copy.hpp"
#include "store/testing/servers.hpp"
#include "store/testing/temporary_directory.hpp"
#include "sys/machine.hpp"
#include "sys/tree.hpp"
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace quarry::store {
namespace {

using content::Rope;

constexpr std::uint64_t k_part_bytes = 64u << 10;

class LostAnswers : public ::testing::Test {
protected:
  void SetUp() override { server_.control("DELETE"); }
  void TearDown() override { server_.control("DELETE"); }
  void arm(testing::Server& server, const std::string& fault) {
    server.control("POST", R"({"faults":[)" + fault + "]}");
  }
  std::unique_ptr<ObjectStore> open(testing::Server& server) {
    return testing::open_at(server, prefix_, testing::tuning(k_part_bytes), {{"XDG_STATE_HOME", directory_.path()}});
  }
  static PutOptions once(const std::string& bytes) {
    PutOptions options;
    options.precondition = Precondition::if_absent();
    options.sha256 = sha256(bytes);
    return options;
  }
  bool is_journal_empty() const {
    auto left = sys::list_directory(directory_.path() + "/quarry/uploads");
    return !left || left->empty();
  }

  testing::TemporaryDirectory directory_;
  testing::Server& server_ = testing::s3_double();
  std::string prefix_ = "answers/" + sys::random_hex(6);
  const std::string large_ = std::string(3 * k_part_bytes + 5, 'x');
};

// Nothing was written yet, so the outcome is known: the write did not happen.
TEST_F(LostAnswers, ALookBeforeAWriteThatFailsIsNoUnknownOutcome) {
  auto& server = testing::s3_double({"--without", "conditions"});
  auto store = open(server);
  ASSERT_FALSE(*store->conditional_writes());
  ASSERT_TRUE(store->put("there", Rope::literal("old"), {}));
  std::string etag;
  ASSERT_TRUE(store->get("there", 10, &etag));
  PutOptions match;
  match.precondition = Precondition::if_match(etag);
  for (const std::string action : {"before", "status:500:InternalError", "status:502:BadGateway",
                                   "status:504:GatewayTimeout", "status:503:SlowDown"}) {
    server.control("DELETE");
    arm(server, R"({"action":")" + action + R"(","method":"HEAD","times":1000})");
    auto created = store->put("new", Rope::literal("new"), once("new"));
    auto swapped = store->put("there", Rope::literal("new"), match);
    auto in_parts = store->put("large", Rope::literal(large_), once(large_));
    for (const auto* refused : {&created, &swapped, &in_parts}) {
      ASSERT_FALSE(*refused) << action;
      EXPECT_NE(refused->error().code, "R004") << action << "\n" << render(refused->error());
      EXPECT_NE(refused->error().kind, ErrorKind::outcome_unknown) << action;
    }
    const auto said = server.control("GET");
    for (const auto& row : said.at("ledger")) EXPECT_EQ(row[0], "HEAD") << action << " " << row.dump();
  }
  server.control("DELETE");
  EXPECT_FALSE(*store->head("new"));
  EXPECT_FALSE(*store->head("large"));
  EXPECT_EQ(**store->get("there", 10), "old");
}

TEST_F(LostAnswers, AnUnreadableAnswerToTheEndOfAnUploadIsLookedUp) {
  auto store = open(server_);
  ASSERT_TRUE(*store->conditional_writes());
  arm(server_, R"({"action":"garbled","method":"POST","query":"uploadId"})");
  auto written = store->put("large", Rope::literal(large_), once(large_));
  ASSERT_TRUE(written) << render(written.error());
  EXPECT_EQ(written->size, large_.size());
  EXPECT_EQ(written->etag, (*store->head("large"))->etag);
  EXPECT_EQ(**store->get("large", 1u << 20), large_);
  EXPECT_EQ(server_.control("GET").at("armed"), 0);
  EXPECT_TRUE(is_journal_empty()) << "there is nothing to resume";
  // Where the look fails, too, nobody knows; the next run finds the object.
  arm(server_, R"({"action":"garbled","method":"POST","query":"uploadId"},)"
               R"({"action":"status:503:SlowDown","method":"HEAD","times":1000})");
  auto unknown = store->put("second", Rope::literal(large_), once(large_));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, "R004") << render(unknown.error());
  server_.control("DELETE");
  auto again = store->put("second", Rope::literal(large_), once(large_));
  EXPECT_TRUE(again || again.error().code == "R002") << render(again.error());
  EXPECT_EQ(**store->get("second", 1u << 20), large_);
}

// The same bytes with another header have the same ETag: only the mark shows that the write happened.
TEST_F(LostAnswers, AWriteOfTheSameBytesThatWasAnsweredWithAnErrorHappened) {
  auto store = open(server_);
  ASSERT_TRUE(*store->conditional_writes());
  auto first = store->put("page", Rope::literal("same"), {});
  ASSERT_TRUE(first);
  PutOptions match;
  match.precondition = Precondition::if_match(first->etag);
  match.cache_control = "no-cache";
  arm(server_, R"({"action":"error-after","method":"PUT"},)"
               R"({"action":"status:500:InternalError","method":"PUT","times":1000})");
  auto written = store->put("page", Rope::literal("same"), match);
  ASSERT_TRUE(written) << render(written.error());
  EXPECT_EQ((*store->head("page"))->cache_control, "no-cache");
}

// A success that S3 did not write comes from something between: it may hold the request, and send it on later.
TEST_F(LostAnswers, AnUnchangedObjectProvesNothingAfterASuccessThatIsNotFromS3) {
  auto store = open(server_);
  ASSERT_TRUE(*store->conditional_writes());
  auto first = store->put("page", Rope::literal("old"), {});
  ASSERT_TRUE(first);
  PutOptions match;
  match.precondition = Precondition::if_match(first->etag);
  const std::string fails = R"({"action":"status:500:InternalError","method":"PUT","times":1000})";
  arm(server_, fails);
  auto refused = store->put("page", Rope::literal("new"), match);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().code, "R004") << "S3 has answered each attempt: " << render(refused.error());
  server_.control("DELETE");
  arm(server_, R"({"action":"empty-200","method":"PUT"},)" + fails);
  auto unknown = store->put("page", Rope::literal("new"), match);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, "R004") << render(unknown.error());
}

// A 412 may be the answer to our own first attempt. If the look fails, too, the upload may still be there.
TEST_F(LostAnswers, AnUploadWhoseRefusalIsInDoubtIsResumed) {
  auto store = open(server_);
  ASSERT_TRUE(*store->conditional_writes());
  arm(server_, R"({"action":"before","method":"POST","query":"uploadId"},)"
               R"({"action":"status:412:PreconditionFailed","method":"POST","query":"uploadId"},)"
               R"({"action":"status:503:SlowDown","method":"HEAD","times":1000})");
  auto unknown = store->put("large", Rope::literal(large_), once(large_));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, "R004") << render(unknown.error());
  EXPECT_EQ(server_.control("GET").at("uploads"), 1) << "for the next run";
  EXPECT_FALSE(is_journal_empty());
  server_.control("DELETE");
  auto again = store->put("large", Rope::literal(large_), once(large_));
  ASSERT_TRUE(again) << render(again.error());
  const auto said = server_.control("GET");
  for (const auto& row : said.at("ledger")) EXPECT_NE(row[0], "PUT") << "the parts were there: " << row.dump();
  EXPECT_EQ(said.at("uploads"), 0);
  EXPECT_TRUE(is_journal_empty());
  // A 412 without doubt ends the upload: nobody will want it.
  auto refused = store->put("large", Rope::literal(large_), once(large_));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "R002") << render(refused.error());
  EXPECT_EQ(server_.control("GET").at("uploads"), 0);
  EXPECT_TRUE(is_journal_empty());
}

// A refusal for good (400) removes the parts. If the server does not do that, the journal still names the upload.
TEST_F(LostAnswers, AnUploadThatCannotBeEndedIsNotForgotten) {
  auto store = open(server_);
  ASSERT_TRUE(*store->conditional_writes());
  const std::string unfit =
      R"({"action":"status:400:InvalidRequest","method":"PUT","query":"partNumber","times":1000})";
  arm(server_, unfit + R"(,{"action":"status:403:AccessDenied","method":"DELETE","times":1000})");
  auto refused = store->put("large", Rope::literal(large_), once(large_));
  ASSERT_FALSE(refused);
  EXPECT_EQ(server_.control("GET").at("uploads"), 1) << render(refused.error());
  EXPECT_FALSE(is_journal_empty()) << "the next run must be able to end it";
  server_.control("DELETE");
  const std::string other(large_.size(), 'y'); // another object of that name: the old upload is of no use
  auto written = store->put("large", Rope::literal(other), once(other));
  ASSERT_TRUE(written) << render(written.error());
  EXPECT_EQ(server_.control("GET").at("uploads"), 0);
  EXPECT_TRUE(is_journal_empty());
  // Without the second refusal the parts are removed at once.
  arm(server_, unfit);
  ASSERT_FALSE(store->put("second", Rope::literal(large_), once(large_)));
  EXPECT_EQ(server_.control("GET").at("uploads"), 0);
  EXPECT_TRUE(is_journal_empty());
}

// settled() finds the object; the size of a copy is that of its source, because no content was sent.
TEST_F(LostAnswers, ACopyWhoseReplyWasLostHasItsSize) {
  auto store = open(server_);
  ASSERT_TRUE(store->put("from", Rope::literal(large_), once(large_)));
  auto source = *store->head("from");
  auto variables = server_.environment();
  auto transport = net::make_client({});
  s3::Bucket bucket(*s3::parse_location("s3://" + server_.bucket + "/" + prefix_, variables, {}), transport,
                    s3::make_credential_cache(variables, {}, transport, testing::clock(), "us-east-1"),
                    testing::clock());
  s3::CapabilityCache capabilities(bucket, prefix_, testing::clock());
  auto slabs = std::make_shared<s3::Slabs>(1u << 20);
  const s3::JournalPlace journals;
  auto copy_to = [&](const std::string& to, s3::Condition condition) {
    s3::CopyRequest request;
    request.from = s3::BucketKey(prefix_ + "/from");
    request.from_etag = source->etag;
    request.size = source->size;
    request.to.key = s3::BucketKey(prefix_ + "/" + to);
    request.to.condition = condition;
    return s3::copy_object({bucket, capabilities, *slabs, journals, {}}, request);
  };
  ASSERT_TRUE(capabilities.get());
  for (const std::string action : {"after", "garbled", "page-after"})
    for (auto condition : {s3::Condition::none, s3::Condition::absent}) {
      bool in_parts = condition != s3::Condition::none;
      auto to = action + (in_parts ? "-in-parts" : "");
      server_.control("DELETE");
      auto end = in_parts ? std::string(R"("method":"POST","query":"uploadId")") : std::string(R"("method":"PUT")");
      arm(server_, R"({"action":")" + action + R"(",)" + end + "}");
      auto copied = copy_to(to, condition);
      ASSERT_TRUE(copied) << to << "\n" << render(copied.error().error);
      EXPECT_EQ(copied->size, large_.size()) << to;
      EXPECT_EQ(copied->etag, (*store->head(to))->etag) << to;
      EXPECT_EQ(server_.control("GET").at("armed"), 0) << to;
      EXPECT_EQ(**store->get(to, 1u << 20), large_);
    }
}

} // namespace
} // namespace quarry::store
