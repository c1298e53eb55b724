// What the S3 store does when the server misbehaves: each fault is scripted, and afterwards the store is as if nothing
// had happened, or the error says what did.
#include "store/put_once.hpp"
#include "store/testing/servers.hpp"
#include "store/testing/temporary_directory.hpp"
#include "sys/file.hpp"
#include "sys/machine.hpp"
#include "sys/tree.hpp"
#include "thread/pool.hpp"
#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>

namespace quarry::store {
namespace {

#ifdef __SANITIZE_ADDRESS__ // gcc
constexpr bool k_address_sanitizer = true;
#elif defined(__has_feature) // clang
constexpr bool k_address_sanitizer = __has_feature(address_sanitizer);
#else
constexpr bool k_address_sanitizer = false;
#endif

using content::Rope;

constexpr std::uint64_t k_part = 64u << 10;

class S3Store : public ::testing::Test {
protected:
  void SetUp() override {
    server_.control("DELETE");
    ASSERT_TRUE(*store_->conditional_writes()); // the questions are asked before faults are armed
    server_.control("DELETE");
  }
  void arm(const std::string& faults) { server_.control("POST", R"({"faults":[)" + faults + "]}"); }
  void nothing_left_armed() { EXPECT_EQ(server_.control("GET").at("armed"), 0) << "a fault was never met"; }
  /// "PUT key query,names status" of all requests since, but for those that look or ask.
  std::vector<std::string> requests(const std::string& method = "") {
    std::vector<std::string> found;
    auto now = server_.control("GET");
    for (const auto& row : now.at("ledger")) {
      if (!method.empty() && row[0] != method) continue;
      std::string text = row[0].get<std::string>();
      for (const auto& name : row[2]) text += " " + name.get<std::string>();
      found.push_back(text + " " + std::to_string(row[3].get<int>()));
    }
    return found;
  }
  Result<ObjectInfo> put(const std::string& key, const std::string& bytes, Precondition precondition = {}) {
    PutOptions options;
    options.precondition = std::move(precondition);
    options.sha256 = sha256(bytes);
    return store_->put(key, Rope::literal(bytes), options);
  }
  std::string get(const std::string& key) {
    auto bytes = store_->get(key, 10 << 20);
    EXPECT_TRUE(bytes) << render(bytes.error());
    return bytes && *bytes ? **bytes : "(absent)";
  }
  static std::string noise(std::size_t size) {
    std::string bytes(size, 0);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 2654435761u >> 11);
    return bytes;
  }
  testing::TemporaryDirectory directory_;
  testing::Server& server_ = testing::s3_double();
  std::string prefix_ = "faults/" + sys::random_hex(6);
  std::unique_ptr<ObjectStore> store_ = open();
  std::unique_ptr<ObjectStore> open() {
    return testing::open_at(server_, prefix_, testing::tuning(k_part), {{"XDG_STATE_HOME", directory_.path()}});
  }
};

struct Fault {
  std::string name, json;
};
void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }
const std::vector<Fault>& passing_faults() {
  static const std::vector<Fault> all = {{"slow_down", R"("action":"status:503:SlowDown")"},
                                         {"internal_error", R"("action":"status:500:InternalError")"},
                                         {"request_timeout", R"("action":"status:400:RequestTimeout")"},
                                         {"throttled", R"("action":"status:429:TooManyRequests")"},
                                         {"conflict", R"("action":"status:409:OperationAborted")"},
                                         {"closed_before", R"("action":"before")"},
                                         {"reply_lost", R"("action":"after")"},
                                         {"clock", R"("action":"skew")"},
                                         {"bad_digest_once", R"("action":"status:400:BadDigest")"},
                                         {"other_region", R"("action":"moved:us-east-1")"}};
  return all;
}

// Every operation meets every fault that passes, and ends as without it.
class PassingFaults : public S3Store, public ::testing::WithParamInterface<Fault> {
protected:
  void once(const std::string& method, const std::string& query = "") {
    arm("{" + GetParam().json + R"(,"method":")" + method + R"(","query":")" + query + R"("})");
  }
};
INSTANTIATE_TEST_SUITE_P(Table, PassingFaults, ::testing::ValuesIn(passing_faults()),
                         [](const auto& fault) { return fault.param.name; });

TEST_P(PassingFaults, APutIsDoneOnce) {
  once("PUT");
  auto written = put("k", "bytes", Precondition::if_absent());
  ASSERT_TRUE(written) << render(written.error());
  EXPECT_EQ(get("k"), "bytes");
  EXPECT_EQ((*store_->head("k"))->etag, written->etag);
  nothing_left_armed();
  once("PUT");
  auto swapped = put("k", "other", Precondition::if_match(written->etag));
  ASSERT_TRUE(swapped) << render(swapped.error());
  EXPECT_EQ(get("k"), "other");
  nothing_left_armed();
}

TEST_P(PassingFaults, ReadsGoOn) {
  ASSERT_TRUE(put("k", "bytes"));
  once("GET");
  EXPECT_EQ(get("k"), "bytes");
  once("HEAD");
  auto found =
      store_->head("k"); // whose answers have no body: refusals that are told by their code are asked for again
  ASSERT_TRUE(found) << render(found.error());
  EXPECT_TRUE(found->has_value());
  once("GET", "list-type");
  EXPECT_EQ(store_->list("")->size(), 1u);
  once("DELETE");
  EXPECT_TRUE(store_->remove("k"));
  nothing_left_armed();
}

TEST_P(PassingFaults, AnUploadInPartsIsWhole) {
  auto bytes = noise(k_part * 3 + 5);
  for (const auto* where :
       {R"(,"method":"POST","query":"uploads"})", R"(,"method":"PUT","query":"partNumber","skip":1})",
        R"(,"method":"POST","query":"uploadId"})"})
    arm("{" + GetParam().json + where);
  auto written = put("large", bytes, Precondition::if_absent());
  ASSERT_TRUE(written) << render(written.error());
  EXPECT_EQ(get("large"), bytes);
  nothing_left_armed();
  EXPECT_EQ(*open()->remove_leftovers(INT64_MAX),
            GetParam().name == "reply_lost" ? 1u : 0u); // the first start nobody heard of
}

TEST_P(PassingFaults, ACopyIsDone) {
  auto bytes = noise(k_part * 2 + 5);
  ASSERT_TRUE(put("from", bytes));
  once("PUT");
  ASSERT_TRUE(store_->copy("from", "to", {}));
  PutOptions once_only;
  once_only.precondition = Precondition::if_absent();
  once("POST", "uploadId");
  auto copied = store_->copy("from", "again", once_only);
  ASSERT_TRUE(copied) << render(copied.error());
  EXPECT_EQ(get("to"), bytes);
  EXPECT_EQ(get("again"), bytes);
  nothing_left_armed();
}

TEST_F(S3Store, WhatAHeadCannotSayIsLearnedFromAGet) {
  ASSERT_TRUE(put("k", "bytes"));
  for (const std::string action : {"skew", "moved:eu-west-1"}) {
    server_.control("DELETE");
    arm(R"({"action":")" + action + R"(","times":2})");
    auto found = store_->head("k");
    ASSERT_TRUE(found) << render(found.error());
    EXPECT_TRUE(found->has_value());
    auto refused = action == "skew" ? " 403" : " 400";
    EXPECT_EQ(requests(),
              (std::vector<std::string>{std::string("HEAD") + refused, std::string("GET") + refused, "HEAD 200"}));
    nothing_left_armed();
  }
  auto wrong = testing::open_at(server_, prefix_, testing::tuning(k_part), {{"AWS_SECRET_ACCESS_KEY", "canary"}});
  EXPECT_EQ(wrong->head("k").error().code, "K004"); // not only "denied"
}

TEST_F(S3Store, ASourceThatChangesWhileItIsCopiedIsSaid) {
  ASSERT_TRUE(put("from", noise(k_part * 2 + 5)));
  for (const auto& condition : {Precondition{}, Precondition::if_absent()}) {
    arm(R"({"action":"replace","method":"PUT"})");
    PutOptions options;
    options.precondition = condition;
    auto copied = store_->copy("from", "to", options);
    ASSERT_FALSE(copied);
    EXPECT_EQ(copied.error().code, "K022") << render(copied.error());
    EXPECT_FALSE(*store_->head("to"));
    nothing_left_armed();
    ASSERT_TRUE(put("from", noise(k_part * 2 + 5)));
  }
  EXPECT_EQ(server_.control("GET").at("uploads"), 0);
}

// Whoever may overwrite an object can also write the digest that we record. The bytes of another version do not help:
// the server copies the version that was hashed, or nothing.
TEST_F(S3Store, AForgedDigestIsNotCopiedWhenTheSourceIsHashed) {
  const auto tested = noise(k_part * 2 + 5), other = noise(k_part * 2 + 5).replace(0, 4, "evil");
  ASSERT_TRUE(put("wheel", tested));
  PutOptions options{Precondition::if_absent(), {}, {}, {}, sha256(tested), true};
  auto copied = store_->copy_from(*store_, "wheel", "good", options);
  ASSERT_TRUE(copied) << render(copied.error());
  EXPECT_TRUE(*copied);
  EXPECT_EQ(get("good"), tested);

  auto forged = server_.call({.action = "overwrite",
                              .method = "PUT",
                              .key = s3::BucketKey(prefix_ + "/wheel"),
                              .headers = {{"x-amz-meta-quarry-sha256", sha256(tested).hex()}},
                              .body = Rope::literal(other)},
                             server_.bucket);
  ASSERT_TRUE(forged) << render(forged.error().error);
  ASSERT_EQ((*store_->head("wheel"))->recorded_sha256, sha256(tested)) << "the forgery is believed where it may be";
  auto refused = store_->copy_from(*store_, "wheel", "bad", options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "R008") << render(refused.error());
  EXPECT_FALSE(*store_->head("bad"));
  Once once{{}, sha256(tested), {}, {}, {}, tested.size(), true};
  EXPECT_EQ(copy_once(*store_, "wheel", *store_, "bad", once).error().code, "R008");
  // What lies at the target already, with a forged digest, is read, too.
  EXPECT_EQ(copy_once(*store_, "good", *store_, "wheel", once).error().code, "R009");
  EXPECT_FALSE(*copy_once(*store_, "wheel", *store_, "good", once));
}

TEST_F(S3Store, ASourceThatIsReplacedAfterItWasHashedIsNotCopied) {
  const auto bytes = noise(k_part * 2 + 5);
  ASSERT_TRUE(put("from", bytes));
  arm(R"({"action":"replace","method":"PUT"})");
  auto copied = store_->copy_from(*store_, "from", "to", {Precondition::if_absent(), {}, {}, {}, sha256(bytes), true});
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code, "K022") << render(copied.error());
  EXPECT_FALSE(*store_->head("to"));
  nothing_left_armed();
}

// Such a server would take a copy in parts with any ETag: the store looks before it writes instead.
TEST_F(S3Store, ACopyKeepsIfMatchWhereTheServerIgnoresIt) {
  auto store = testing::open_at(testing::s3_double({"--without", "if-match"}), prefix_, testing::tuning(k_part));
  EXPECT_FALSE(*store->conditional_writes());
  ASSERT_TRUE(store->put("from", Rope::literal("new"), {}));
  auto first = store->put("to", Rope::literal("old"), {});
  ASSERT_TRUE(first) << render(first.error());
  PutOptions options;
  options.precondition = Precondition::if_match("00000000000000000000000000000000");
  auto copied = store->copy("from", "to", options);
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code, "R003");
  EXPECT_EQ(**store->get("to", 10), "old");
  options.precondition = Precondition::if_match(first->etag);
  copied = store->copy("from", "to", options);
  ASSERT_TRUE(copied) << render(copied.error());
  EXPECT_EQ(**store->get("to", 10), "new");
}

TEST_F(S3Store, ARefusalIsOnlyARivalsWhenAConditionWasSent) {
  struct Case {
    std::string status, plain, conditional;
  };
  for (const auto& c : std::vector<Case>{{"409:OperationAborted", "K006", "K006"}, // nobody has made the object
                                         {"412:PreconditionFailed", "K005", "R002"}}) {
    for (bool conditional : {false, true}) {
      arm(R"({"action":"status:)" + c.status + R"(","method":"PUT","times":100})");
      auto refused = put("k", "bytes", conditional ? Precondition::if_absent() : Precondition{});
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code, conditional ? c.conditional : c.plain) << c.status;
      server_.control("DELETE");
    }
  }
  ASSERT_TRUE(put("k", "by another writer", Precondition{}));
  arm(R"({"action":"status:409:OperationAborted","method":"PUT","times":100})");
  EXPECT_EQ(put("k", "bytes", Precondition::if_absent()).error().code, "R002") << "another writer made it";
  server_.control("DELETE");
}

// The role of a test job may not write to .quarry/; what it has tested must be recorded all the same.
TEST_F(S3Store, AnExpiredRecordOfAbilitiesServesWhoMayNotRenewIt) {
  ASSERT_TRUE(put("k", "1", Precondition::if_absent())); // the record is made
  auto key = prefix_ + "/.quarry/capabilities.json";
  auto made = server_.call({.action = "read", .key = s3::BucketKey(key)}, server_.bucket);
  ASSERT_TRUE(made);
  auto old = Json::parse(made->response.body);
  auto keep = [&](const std::string& checked) {
    old["checked"] = checked;
    auto text = old.dump();
    ASSERT_TRUE(server_.call({.action = "write",
                              .method = "PUT",
                              .key = s3::BucketKey(key),
                              .body = content::Rope::literal(text),
                              .body_sha256 = sha256(text).hex()},
                             server_.bucket));
  };
  for (const std::string checked : {"2020-01-01T00:00:00.000000Z", "2999-01-01T00:00:00.000000Z"}) {
    keep(checked);
    arm(R"({"action":"status:403:AccessDenied","method":"PUT","key":"*/.quarry/*","times":1000})");
    store_ = open();
    auto written = put("evidence-" + checked, "1", Precondition::if_absent());
    EXPECT_TRUE(written) << render(written.error());
    EXPECT_TRUE(*store_->conditional_writes());
    server_.control("DELETE");
    store_ = open(); // who may renew it does
    ASSERT_TRUE(put("other-" + checked, "1", Precondition::if_absent()));
    auto renewed = server_.call({.action = "read", .key = s3::BucketKey(key)}, server_.bucket);
    EXPECT_NE(Json::parse(renewed->response.body)["checked"], checked);
  }
  ASSERT_TRUE(server_.call({.action = "remove", .method = "DELETE", .key = s3::BucketKey(key)}, server_.bucket));
  arm(R"({"action":"status:403:AccessDenied","method":"PUT","key":"*/.quarry/*","times":1000})");
  store_ = open();
  auto refused = store_->conditional_writes();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "K003");
  EXPECT_NE(refused.error().hint.find(".quarry/"), std::string::npos);
  server_.control("DELETE");
}

TEST_F(S3Store, AListThatDoesNotMoveOnIsNotBelieved) {
  auto& server = testing::s3_double({"--page", "3"});
  auto store = testing::open_at(server, prefix_, testing::tuning(k_part));
  for (int i = 0; i < 7; ++i) ASSERT_TRUE(store->put("k" + std::to_string(i), Rope::literal("x"), {}));
  EXPECT_EQ(store->list("")->size(), 7u);
  server.control("POST", R"({"faults":[{"action":"stuck","query":"list-type","times":100}]})");
  auto listed = store->list("");
  server.control("DELETE");
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code, "K020");
}

TEST_F(S3Store, AListOfPartsThatDoesNotMoveOnIsNotResumedFrom) {
  auto& server = testing::s3_double({"--page", "3"});
  auto store = testing::open_at(server, prefix_, testing::tuning(k_part), {{"XDG_STATE_HOME", directory_.path()}});
  auto bytes = noise(k_part * 8);
  PutOptions options;
  options.sha256 = sha256(bytes);
  ASSERT_TRUE(store->conditional_writes());
  server.control(
      "POST",
      R"({"faults":[{"action":"status:503:SlowDown","method":"PUT","query":"partNumber","skip":5,"times":1000}]})");
  ASSERT_FALSE(store->put("large", Rope::literal(bytes), options));
  server.control("DELETE");
  server.control("POST", R"({"faults":[{"action":"stuck","method":"GET","query":"uploadId","times":100}]})");
  auto written = store->put("large", Rope::literal(bytes), options);
  EXPECT_EQ(server.control("GET").at("armed"), 98); // two pages were enough to see it
  server.control("DELETE");
  ASSERT_TRUE(written) << render(written.error());
  EXPECT_EQ(content::sha256_of(*store->open("large"))->hex(), sha256(bytes).hex());
}

TEST_F(S3Store, AServerThatRefusesTheHeadersOfChecksumsGetsNone) {
  auto store =
      testing::open_at(testing::s3_double({"--without", "checksum-headers"}), prefix_, testing::tuning(k_part));
  auto bytes = noise(k_part * 3);
  PutOptions options;
  options.precondition = Precondition::if_absent();
  for (const auto& body : {bytes, std::string("small")}) {
    auto written = store->put("k" + std::to_string(body.size()), Rope::literal(body), options);
    ASSERT_TRUE(written) << render(written.error());
  }
}

TEST_F(S3Store, ASuccessThatHoldsAnErrorIsNone) {
  auto bytes = noise(k_part * 2);
  arm(R"({"action":"error-in-200","method":"POST","query":"uploadId"})");
  ASSERT_TRUE(put("large", bytes));
  EXPECT_EQ(get("large"), bytes);
  arm(R"({"action":"error-in-200","method":"PUT"})");
  ASSERT_TRUE(store_->copy("large", "copy", {}));
  EXPECT_EQ(get("copy"), bytes);
  nothing_left_armed();
}

// What a captive portal, a proxy or a wrong address says is nothing that the store said.
class ForeignAnswers : public S3Store, public ::testing::WithParamInterface<Fault> {};
INSTANTIATE_TEST_SUITE_P(Table, ForeignAnswers,
                         ::testing::Values(Fault{"page", "page:200"}, Fault{"denied", "page:403"},
                                           Fault{"absent", "page:404"}, Fault{"no_method", "page:501"},
                                           Fault{"redirect", "redirect:302:https://login.example/?token=canary"}),
                         [](const auto& fault) { return fault.param.name; });
TEST_P(ForeignAnswers, AreNotBelieved) {
  ASSERT_TRUE(put("k", "bytes"));
  ASSERT_TRUE(put("large", noise(k_part * 3)));
  arm(R"({"action":")" + GetParam().json + R"(","times":1000})");
  std::map<std::string, Error> errors;
  auto keep = [&](const std::string& what, const auto& done) {
    ASSERT_FALSE(done) << what;
    errors[what] = done.error();
  };
  keep("head", store_->head("k"));
  keep("get", store_->get("k", 1000));
  keep("open", store_->open("k"));
  keep("list", store_->list(""));
  keep("remove", store_->remove("k"));
  keep("copy", store_->copy("large", "copy", {}));
  keep("put", put("k", "other"));
  keep("put once", put("new", "other", Precondition::if_absent()));
  for (const auto& [what, error] : errors) {
    EXPECT_EQ(error.code, "K020") << what << "\n" << render(error);
    EXPECT_EQ(render(error).find("canary"), std::string::npos);
  }
  server_.control("DELETE");
  EXPECT_EQ(get("k"), "bytes");
}

// Without a size the object would be copied, and read, as an empty one.
TEST_F(S3Store, AnObjectWithoutASizeIsNotBelieved) {
  ASSERT_TRUE(put("k", "bytes"));
  arm(R"({"action":"no-length","method":"HEAD","times":1000})");
  EXPECT_EQ(store_->head("k").error().code, "K020");
  EXPECT_EQ(store_->open("k").error().code, "K020");
  EXPECT_EQ(store_->copy("k", "copy", {}).error().code, "K020");
  PutOptions once;
  once.precondition = Precondition::if_absent();
  EXPECT_EQ(store_->copy("k", "copy", once).error().code, "K020");
  server_.control("DELETE");
  EXPECT_EQ(get("copy"), "(absent)");
}

TEST_F(S3Store, ARecordThatIsAPageIsTold) {
  ASSERT_TRUE(put("channels/x.json", "<!DOCTYPE html><title>Sign in</title>"));
  ASSERT_TRUE(put("simple/index.html", "<!DOCTYPE html><title>Links</title>"));
  auto record = store_->get("channels/x.json", 1000);
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().code, "K020");
  EXPECT_NE(record.error().message.find(store_->url("channels/x.json")), std::string::npos);
  EXPECT_NE(get("simple/index.html"), "(absent)");
}

TEST_F(S3Store, APartIsStoredWhenItsEtagIsThere) {
  auto bytes = noise(k_part * 3);
  for (const std::string action : {"error-in-200", "no-etag"}) {
    server_.control("DELETE");
    arm(R"({"action":")" + action + R"(","method":"PUT","query":"partNumber"})");
    auto written = put("large-" + action, bytes);
    ASSERT_TRUE(written) << render(written.error());
    EXPECT_EQ(get("large-" + action), bytes);
    auto parts = requests("PUT");
    EXPECT_EQ(std::count(parts.begin(), parts.end(), "PUT partNumber uploadId 200"), 4) << action;
    arm(R"({"action":")" + action + R"(","method":"PUT","query":"partNumber","times":1000})");
    auto never = put("never-" + action, bytes);
    ASSERT_FALSE(never);
    EXPECT_EQ(never.error().code, action == "no-etag" ? "K020" : "K006") << render(never.error());
  }
  server_.control("DELETE");
  ASSERT_TRUE(store_->remove_leftovers(INT64_MAX)); // what the next run would have resumed
}

// Every write of one object fails, everything else works.
TEST_F(S3Store, AServerThatOnlyFailsIsNoRival) {
  ASSERT_TRUE(put("there", "0"));
  std::string etag;
  ASSERT_TRUE(store_->get("there", 10, &etag));
  struct Case {
    std::string action, code;
  };
  for (const auto& c : std::vector<Case>{{"status:503:SlowDown", "K006"},
                                         {"status:500:InternalError", "K006"},
                                         {"status:507:InsufficientStorage", "K014"},
                                         {"status:501:NotImplemented", "K008"},
                                         {"status:502:BadGateway", "R004"}, // a gateway: S3 may still be at work
                                         {"status:504:GatewayTimeout", "R004"},
                                         {"before", "R004"}}) { // nobody answered: it may come to pass yet
    arm(R"({"action":")" + c.action + R"(","method":"PUT","times":1000})");
    auto swapped = put("there", "1", Precondition::if_match(etag));
    ASSERT_FALSE(swapped) << c.action;
    EXPECT_EQ(swapped.error().code, c.code) << render(swapped.error());
    auto created = put("new", "1", Precondition::if_absent());
    ASSERT_FALSE(created) << c.action;
    EXPECT_EQ(created.error().code, c.code) << render(created.error());
    auto status = c.code == "R004" ? std::string() : c.action.substr(7, 3);
    EXPECT_NE(render(created.error()).find(status), std::string::npos);
    server_.control("DELETE");
  }
  EXPECT_EQ(get("there"), "0");
}

TEST_F(S3Store, APutWhoseAnswersLackTheEtagIsLookedUp) {
  arm(R"({"action":"no-etag","method":"PUT","times":1000})");
  for (const auto& condition : {Precondition{}, Precondition::if_absent()}) {
    auto key = condition.kind == Precondition::Kind::none ? "any" : "new";
    auto written = put(key, "bytes", condition);
    EXPECT_TRUE(written) << key << ": " << render(written.error());
    EXPECT_EQ(get(key), "bytes");
  }
  server_.control("DELETE");
}

// Above the limit of one PUT, on a server that does not check conditions at the end.
TEST_F(S3Store, ALookThatFailsBeforeTheEndKeepsTheParts) {
  auto& server = testing::s3_double({"--without", "complete-conditions"});
  auto tuned = testing::tuning(k_part);
  tuned.parts.single_put_bytes = k_part;
  auto store = testing::open_at(server, prefix_, tuned, {{"XDG_STATE_HOME", directory_.path()}});
  ASSERT_TRUE(*store->conditional_writes());
  auto bytes = noise(k_part * 3);
  PutOptions options;
  options.precondition = Precondition::if_absent();
  options.sha256 = sha256(bytes);
  server.control("POST", R"({"faults":[{"action":"status:503:SlowDown","method":"HEAD","times":1000}]})");
  auto refused = store->put("large", Rope::literal(bytes), options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::unavailable) << render(refused.error());
  EXPECT_EQ(server.control("GET").at("uploads"), 1) << "for the next run";
  server.control("DELETE");
  auto written = store->put("large", Rope::literal(bytes), options);
  ASSERT_TRUE(written) << render(written.error());
  EXPECT_EQ(server.control("GET").at("uploads"), 0);
  EXPECT_EQ(store->put("large", Rope::literal(bytes), options).error().code, "R002");
  server.control("DELETE");
}

// A server that checks if-absent at the end of an upload, and ignores if-match: without a look before the end, the
// whole time of the upload would be open to another writer.
TEST_F(S3Store, PartsAreLookedAtBeforeTheEndWhereIfMatchIsIgnored) {
  auto& server = testing::s3_double({"--without", "if-match"});
  auto store = testing::open_at(server, prefix_, testing::tuning(k_part));
  EXPECT_FALSE(*store->conditional_writes());
  auto first = store->put("large", Rope::literal("old"), {});
  ASSERT_TRUE(first) << render(first.error());
  PutOptions options;
  options.precondition = Precondition::if_match(first->etag);
  server.control("POST", R"({"faults":[{"action":"status:503:SlowDown","method":"HEAD","skip":1,"times":1000}]})");
  EXPECT_FALSE(store->put("large", Rope::literal(noise(k_part * 3)), options)) << "the second look is refused";
  server.control("DELETE");
  EXPECT_EQ(**store->get("large", 10), "old");
  ASSERT_TRUE(store->put("large", Rope::literal(noise(k_part * 3)), options));
}

TEST_F(S3Store, PartsThatTheServerDoesNotJoinAreNotKept) {
  arm(R"({"action":"status:400:EntityTooSmall","method":"POST","query":"uploadId"})");
  auto bytes = noise(k_part * 3);
  EXPECT_FALSE(put("large", bytes));
  EXPECT_EQ(server_.control("GET").at("uploads"), 0);
  EXPECT_TRUE(sys::list_directory(directory_.path() + "/quarry/uploads")->empty());
  ASSERT_TRUE(put("large", bytes));
  EXPECT_EQ(get("large"), bytes);
}

TEST_F(S3Store, TwoVersionsAreNotMixedWhereTheServerIgnoresIfMatch) {
  auto store =
      testing::open_at(testing::s3_double({"--without", "if-match-of-reads"}), prefix_, testing::tuning(k_part));
  auto first = noise(1u << 20), second = first;
  for (auto& byte : second) byte = static_cast<char>(byte ^ 1);
  ASSERT_TRUE(store->put("k", Rope::literal(first), {}));
  auto content = store->open("k");
  ASSERT_TRUE(content);
  std::string begin(1000, '\0'), end(1000, '\0');
  ASSERT_TRUE(content->read(0, std::as_writable_bytes(std::span(begin))));
  ASSERT_TRUE(store->put("k", Rope::literal(second), {}));
  auto read = content->read((1u << 20) - 1000, std::as_writable_bytes(std::span(end)));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, "K022") << render(read.error());
  auto longer = store->open("k");
  ASSERT_TRUE(longer);
  ASSERT_TRUE(store->put("k", Rope::literal("short"), {}));
  auto past = longer->read((1u << 20) - 1000, std::as_writable_bytes(std::span(end)));
  ASSERT_FALSE(past);
  EXPECT_EQ(past.error().code, "K022") << render(past.error());
}

// Nothing was stored then, so this is no unknown outcome.
TEST_F(S3Store, AFullServerIsSaidSoWhenPartsAreJoined) {
  arm(R"({"action":"status:507:InsufficientStorage","method":"POST","query":"uploadId"})");
  auto put = store_->put("large", Rope::literal(noise(k_part * 3)), {});
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, "K014") << render(put.error());
  EXPECT_EQ(server_.control("GET").at("uploads"), 0);
}

// Nobody can resume these: there is no journal without a digest, and never one of a copy.
TEST_F(S3Store, PartsThatNobodyCanResumeAreNotKept) {
  ASSERT_TRUE(put("from", noise(k_part * 3)));
  arm(R"({"action":"status:403:AccessDenied","method":"POST","query":"uploadId","times":2})");
  auto written = store_->put("large", Rope::literal(noise(k_part * 3)), {});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, "K003") << render(written.error());
  EXPECT_EQ(server_.control("GET").at("uploads"), 0);
  PutOptions once;
  once.precondition = Precondition::if_absent();
  auto copied = store_->copy("from", "to", once);
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code, "K003") << render(copied.error());
  EXPECT_EQ(server_.control("GET").at("uploads"), 0);
  nothing_left_armed();
}

TEST_F(S3Store, WhoIsDeniedHearsWhatWasAsked) {
  auto nobody = testing::open_at(server_, prefix_, testing::tuning(k_part), {{"QUARRY_S3_ANONYMOUS", "1"}});
  auto refused = nobody->get("k", 10);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "K003");
  EXPECT_EQ(traits(refused.error().kind).exit_code, 4);
  EXPECT_NE(refused.error().hint.find("credentials"), std::string::npos);
  arm(R"({"action":"status:403:AccessDenied","times":100})");
  EXPECT_NE(put("k", "x").error().hint.find("s3:PutObject"), std::string::npos);
  EXPECT_NE(store_->list("").error().hint.find("s3:ListBucket"), std::string::npos);
}

TEST_F(S3Store, PartsAreRequestsPlusTwo) {
  ASSERT_TRUE(put("large", noise(k_part * 5)));
  auto seen = requests();
  EXPECT_EQ(seen.size(), 7u) << ::testing::PrintToString(seen);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), "PUT partNumber uploadId 200"), 5);
}

TEST_F(S3Store, AnIllServerIsGivenUpAndTheOutcomeIsSaid) {
  arm(R"({"action":"status:503:SlowDown","times":100})");
  auto refused = put("k", "bytes");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::outcome_unknown); // a 503 may have been written all the same
  EXPECT_EQ(refused.error().code, "R004");
  EXPECT_EQ(store_->get("k", 10).error().code, "K006");
  EXPECT_EQ(store_->get("k", 10).error().kind, ErrorKind::unavailable);
}

TEST_F(S3Store, ALostReplyThatARivalBuiltOnIsStillFound) {
  auto first = put("channel", "0");
  ASSERT_TRUE(first);
  std::string etag;
  ASSERT_TRUE(store_->get("channel", 100, &etag)); // whose lineage the next write carries on
  arm(R"({"action":"after","method":"PUT"})");
  auto ours = put("channel", "1", Precondition::if_match(etag));
  ASSERT_TRUE(ours) << render(ours.error());
  EXPECT_EQ(get("channel"), "1");
  nothing_left_armed();
}

TEST_F(S3Store, ARivalsObjectIsNotTakenForOurs) {
  ASSERT_TRUE(put("k", "theirs"));
  arm(R"({"action":"status:500:InternalError","method":"PUT"})");
  auto refused = put("k", "ours", Precondition::if_absent());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "R002");
  EXPECT_EQ(get("k"), "theirs");
}

TEST_F(S3Store, ADownloadThatIsCutGoesOn) {
  auto bytes = noise(k_part * 4);
  ASSERT_TRUE(put("large", bytes));
  auto rope = store_->open("large");
  ASSERT_TRUE(rope);
  arm(R"({"action":"cut:1000","method":"GET","times":3})");
  auto digest = content::sha256_of(*rope);
  ASSERT_TRUE(digest) << render(digest.error());
  EXPECT_EQ(*digest, sha256(bytes));
  nothing_left_armed();
}

TEST_F(S3Store, AnotherRangeIsNotBelieved) {
  ASSERT_TRUE(put("large", noise(k_part * 4)));
  auto rope = store_->open("large");
  arm(R"({"action":"other-range","method":"GET"})");
  auto read = rope->slice(0, 10).read_all(10);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, "K021");
}

TEST_F(S3Store, SmallReadsOfALargeObjectFetchLittle) {
  ASSERT_TRUE(put("large", noise(4 << 20)));
  auto rope = store_->open("large");
  ASSERT_TRUE(rope->slice((4 << 20) - 100, 100).read_all(100)); // where an archive's directory ends
  ASSERT_TRUE(rope->slice(1 << 20, 500).read_all(500));
  EXPECT_LE(store_->counters().bytes_read, 128u << 10);
}

// What a killed run leaves: parts on the server and a journal on the disk.
TEST_F(S3Store, AnUploadThatWasCutShortIsResumed) {
  auto bytes = noise(k_part * 6);
  arm(R"({"action":"status:503:SlowDown","method":"PUT","query":"partNumber","skip":4,"times":1000})");
  auto cut = put("large", bytes, Precondition::if_absent());
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().kind, ErrorKind::unavailable) << render(cut.error());
  EXPECT_FALSE(*store_->head("large"));
  server_.control("DELETE");
  auto again = open();
  PutOptions options;
  options.precondition = Precondition::if_absent();
  options.sha256 = sha256(bytes);
  auto written = again->put("large", Rope::literal(bytes), options);
  ASSERT_TRUE(written) << render(written.error());
  EXPECT_EQ(get("large"), bytes);
  auto parts = requests("PUT");
  EXPECT_EQ(std::count(parts.begin(), parts.end(), "PUT partNumber uploadId 200"), 2)
      << ::testing::PrintToString(parts);
  EXPECT_TRUE(sys::list_directory(directory_.path() + "/quarry/uploads")->empty());
  EXPECT_EQ(*again->remove_leftovers(INT64_MAX), 0u);
}

TEST_F(S3Store, AResumedUploadTakesOnlyPartsThatAreStillTheSame) {
  auto bytes = noise(k_part * 6), other = bytes;
  arm(R"({"action":"status:503:SlowDown","method":"PUT","query":"partNumber","skip":4,"times":1000})");
  ASSERT_FALSE(put("large", bytes));
  server_.control("DELETE");
  other[10] ^= 1; // the same name and size, another file
  ASSERT_TRUE(put("large", other));
  EXPECT_EQ(get("large"), other);
}

// The object that a resumed upload makes has the headers that were given at its start.
TEST_F(S3Store, AnUploadWithOtherHeadersIsNotResumed) {
  auto bytes = noise(k_part * 3);
  PutOptions options;
  options.sha256 = sha256(bytes);
  options.content_type = "text/plain";
  arm(R"({"action":"status:503:SlowDown","method":"PUT","query":"partNumber","skip":1,"times":1000})");
  ASSERT_FALSE(store_->put("large", Rope::literal(bytes), options));
  server_.control("DELETE");
  options.content_type = "application/zip";
  ASSERT_TRUE(store_->put("large", Rope::literal(bytes), options));
  EXPECT_EQ((*store_->head("large"))->content_type, "application/zip");
  EXPECT_EQ(server_.control("GET").at("uploads"), 0) << "the first one was ended";
}

// The start of an upload writes no object, whatever became of it.
TEST_F(S3Store, AnUploadThatCannotBeginLeavesNoDoubt) {
  auto bytes = noise(k_part * 3);
  ASSERT_TRUE(put("from", bytes));
  for (const auto& [action, code] : {std::pair("status:503:SlowDown", "K006"), std::pair("status:504:Gateway", "K006"),
                                     std::pair("before", "H005"), std::pair("after", "H005")}) {
    arm(R"({"action":")" + std::string(action) + R"(","method":"POST","query":"uploads","times":1000})");
    auto written = put("large", bytes, Precondition::if_absent());
    ASSERT_FALSE(written) << action;
    EXPECT_EQ(written.error().code, code) << action << render(written.error());
    EXPECT_NE(written.error().kind, ErrorKind::outcome_unknown);
    PutOptions once;
    once.precondition = Precondition::if_absent();
    auto copied = store_->copy("from", "to", once);
    ASSERT_FALSE(copied) << action;
    EXPECT_EQ(copied.error().code, code) << action << render(copied.error());
    server_.control("DELETE");
  }
  ASSERT_TRUE(store_->remove_leftovers(INT64_MAX));
}

TEST_F(S3Store, APartThatCannotBeCopiedLeavesNoDoubt) {
  ASSERT_TRUE(put("from", noise(k_part * 3)));
  arm(R"({"action":"status:503:SlowDown","method":"PUT","query":"partNumber","times":1000})");
  PutOptions once;
  once.precondition = Precondition::if_absent();
  auto copied = store_->copy("from", "to", once);
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code, "K006") << render(copied.error());
  EXPECT_EQ(server_.control("GET").at("uploads"), 0);
}

TEST_F(S3Store, ACopyKeepsWhatSaysHowTheBytesAreRead) {
  const std::vector<std::pair<std::string, std::string>> kept = {
      {"content-type", "text/css"}, {"cache-control", "max-age=7"},
      {"content-encoding", "gzip"}, {"content-disposition", "attachment"},
      {"content-language", "en"},   {"expires", "Fri, 24 May 2030 00:00:00 GMT"}};
  ASSERT_TRUE(server_.call({.action = "write",
                            .method = "PUT",
                            .key = s3::BucketKey(prefix_ + "/from"),
                            .headers = kept,
                            .body = Rope::literal("bytes")},
                           server_.bucket));
  PutOptions once;
  once.precondition = Precondition::if_absent();
  ASSERT_TRUE(store_->copy("from", "whole", {}));
  ASSERT_TRUE(store_->copy("from", "parts", once));
  EXPECT_TRUE(*open()->copy_from(*store_, "from", "other", once));
  PutOptions read = once; // the bytes pass through this machine, because no digest was recorded
  read.sha256 = sha256("bytes");
  ASSERT_TRUE(store_->copy("from", "read", read));
  for (const std::string key : {"whole", "parts", "other", "read"}) {
    auto head =
        server_.call({.action = "look", .method = "HEAD", .key = s3::BucketKey(prefix_ + "/" + key)}, server_.bucket);
    ASSERT_TRUE(head);
    for (const auto& [name, value] : kept) EXPECT_EQ(net::header(head->response.headers, name), value) << key << name;
  }
}

// Another tool may cut an object short and keep its metadata, with the digest of the whole.
TEST_F(S3Store, ASourceOfAnotherSizeIsNotCopied) {
  const std::string whole = "the whole content", cut = "the whole";
  ASSERT_TRUE(server_.call({.action = "write",
                            .method = "PUT",
                            .key = s3::BucketKey(prefix_ + "/from"),
                            .headers = {{"x-amz-meta-quarry-sha256", sha256(whole).hex()}},
                            .body = Rope::literal(cut)},
                           server_.bucket));
  Once once{{}, sha256(whole), {}, {}, {}, whole.size()};
  auto copied = copy_once(*store_, "from", *store_, "to", once);
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code, "R008") << render(copied.error());
  EXPECT_FALSE(*store_->head("to"));
}

TEST_F(S3Store, WhatGarbageCollectionFindsOfUploads) {
  arm(R"({"action":"status:503:SlowDown","method":"PUT","query":"partNumber","times":1000})");
  ASSERT_FALSE(put("large", noise(k_part * 3)));
  server_.control("DELETE");
  EXPECT_EQ(*store_->remove_leftovers(0), 0u);
  EXPECT_EQ(*store_->remove_leftovers(INT64_MAX), 1u);
  EXPECT_EQ(server_.control("GET").at("uploads"), 0);
}

TEST_F(S3Store, UploadsOfOtherPlacesAreNotEnded) {
  auto& server = testing::s3_double({"--without", "upload-prefix"});
  auto ours = testing::open_at(server, prefix_ + "/ours", testing::tuning(k_part));
  auto theirs = testing::open_at(server, prefix_ + "/theirs", testing::tuning(k_part));
  ASSERT_TRUE(server.call({.action = "begin",
                           .method = "POST",
                           .key = s3::BucketKey(prefix_ + "/theirs/large"),
                           .query = {{"uploads", ""}}},
                          server.bucket));
  EXPECT_EQ(*ours->remove_leftovers(INT64_MAX), 0u);
  EXPECT_EQ(*theirs->remove_leftovers(INT64_MAX), 1u);
}

/// A source whose bytes change between being checked and being sent.
class Turning final : public content::Source {
public:
  explicit Turning(std::string bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t size() const override { return bytes_.size(); }
  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const override {
    std::memcpy(into.data(), bytes_.data() + offset, into.size());
    if (offset <= 100 && offset + into.size() > 100) into[100 - offset] ^= std::byte{1};
    return {};
  }

private:
  std::string bytes_;
};

TEST_F(S3Store, ABitThatFlipsOnTheWayInGetsNoName) {
  for (std::size_t size : {std::size_t{1000}, std::size_t{k_part * 3}}) {
    auto bytes = noise(size);
    PutOptions options;
    options.sha256 = sha256(bytes);
    auto refused = store_->put("k", Rope::of(std::make_shared<Turning>(bytes)), options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "R008");
    EXPECT_FALSE(*store_->head("k"));
  }
  EXPECT_EQ(server_.control("GET").at("uploads"), 0);
}

TEST_F(S3Store, MemoryIsBoundedWhateverTheSize) {
  auto tuned = testing::tuning(1u << 20);
  tuned.memory_bytes = 4u << 20;
  auto store = testing::open_at(testing::s3_double({"--without", "checksums"}), prefix_, tuned);
  ASSERT_TRUE(store->put("warm", Rope::zeros(8 << 20), {}));
  auto before = sys::peak_rss_bytes();
  ASSERT_TRUE(parallel_for(3, 3, [&](std::size_t i) -> Result<void> {
    TRY_DO(store->put("large" + std::to_string(i), Rope::zeros(48 << 20), {}));
    return {};
  }));
  EXPECT_TRUE(k_address_sanitizer /* keeps what was freed */ || sys::peak_rss_bytes() - before <= 24u << 20);
}

TEST_F(S3Store, CredentialsThatEndAreRenewedOnce) {
  testing::TemporaryDirectory home;
  auto refused =
      testing::open_at(server_, prefix_, testing::tuning(k_part), {{"AWS_SESSION_TOKEN", "expired"}})->get("k", 10);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "K004");
  EXPECT_EQ(requests("GET").size(), 2u);
}

TEST_F(S3Store, WrongKeysAndBucketsAreSaid) {
  auto wrong =
      testing::open_at(server_, prefix_, testing::tuning(k_part), {{"AWS_SECRET_ACCESS_KEY", "canary"}})->get("k", 10);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, "K004");
  EXPECT_EQ(render(wrong.error()).find("canary"), std::string::npos);
  auto nowhere =
      std::move(*open_s3_store("s3://no-such-bucket/p", {server_.environment(), testing::clock()}, testing::tuning()));
  EXPECT_EQ(nowhere->get("k", 10).error().code, "K002");
  EXPECT_EQ(nowhere->list("").error().code, "K002");
  EXPECT_EQ(nowhere->put("k", Rope::literal("x"), {}).error().code, "K002");
}

TEST_F(S3Store, ADirectoryThatAConsoleMadeIsNotListed) {
  ASSERT_TRUE(store_->put("shown/page", Rope::literal("x"), {}));
  auto root = store_->url("shown/");
  auto key = root.substr(root.find(server_.bucket) + server_.bucket.size() + 1);
  s3::Call marker{.action = "make a directory", .method = "PUT", .key = s3::BucketKey(key), .body = Rope()};
  ASSERT_TRUE(server_.call(marker, server_.bucket));
  auto listed = store_->list("shown/");
  ASSERT_TRUE(listed) << render(listed.error());
  ASSERT_EQ(listed->size(), 1u);
  EXPECT_EQ(listed->front().key, "shown/page");
  std::string etag; // a page may take its place, with a condition
  EXPECT_EQ(store_->get("shown/", 10, &etag)->value(), "");
  auto page = put("shown/", "page", Precondition::if_match(etag));
  ASSERT_TRUE(page) << render(page.error());
  EXPECT_EQ(store_->list("shown/")->size(), 2u);
}

} // namespace
} // namespace quarry::store
