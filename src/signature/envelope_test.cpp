#include "signature/stored.hpp"

#include "base/json.hpp"
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace quarry::signature {
namespace {

using ::testing::SizeIs;

// RFC 8032, section 7.1, TEST 2: the key and the signature of the one byte 0x72.
constexpr const char* k_rfc_key_base64 = "PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=";
constexpr const char* k_rfc_signature_base64 =
    "kqAJqfDUyrhyDoILX2QlQKKye1QWUD+Ps3YiI+vbadoIWsHkPhWZbkWPNhPQ8R2MOHsurrQwKu6wDSkWErsMAA==";

Subject subject_of(const std::string& name) { return {"evidence", sha256(name)}; }
Ed25519PrivateKey new_key() { return *Ed25519PrivateKey::create(); }

TEST(Ed25519, AgreesWithRfc8032) {
  auto key = Ed25519PublicKey::parse(k_rfc_key_base64);
  ASSERT_TRUE(key);
  auto bytes = from_base64(k_rfc_signature_base64);
  ASSERT_TRUE(bytes && bytes->size() == 64);
  Ed25519Signature signature;
  std::copy(bytes->begin(), bytes->end(), signature.bytes.begin());
  EXPECT_TRUE(key->verifies("\x72", signature));
  EXPECT_FALSE(key->verifies("\x73", signature));
  signature.bytes[0] ^= 1;
  EXPECT_FALSE(key->verifies("\x72", signature));
}

TEST(Ed25519, KeysAreWrittenAndReadAgain) {
  auto key = new_key();
  auto again = Ed25519PrivateKey::parse(key.pem());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->public_key().base64(), key.public_key().base64());
  EXPECT_EQ(Ed25519PublicKey::parse(key.public_key().base64())->id(), key.public_key().id());
  for (const std::string junk : {"", "junk", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"}) {
    auto refused = Ed25519PrivateKey::parse(junk);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "B006");
  }
  for (const auto* junk :
       {"", "AAAA", "PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw", "PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgx="})
    EXPECT_FALSE(Ed25519PublicKey::parse(junk)) << junk;
}

TEST(Stored, SomethingElseInThePlaceOfASignatureIsNotOne) {
  auto store = store::make_memory_store();
  auto key = new_key();
  auto subject = subject_of("a");
  auto at = sign(*store, subject, key);
  ASSERT_TRUE(at && sign(*store, subject, key)) << "signing twice is fine";
  ASSERT_TRUE(store->put(*at, content::Rope::literal("{}"), {}));
  auto refused = sign(*store, subject, key);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "R011");
  EXPECT_NE(refused.error().message.find(key.public_key().id()), std::string::npos);
}

TEST(Envelope, HasTheEncodingOfDsse) {
  EXPECT_EQ(pre_authentication_encoding("hello"), "DSSEv1 28 application/vnd.in-toto+json 5 hello");
}

TEST(Envelope, CountsForItsRecordAndItsKeyOnly) {
  auto key = new_key(), other = new_key();
  auto signed_by_key = envelope(subject_of("a"), key);
  EXPECT_TRUE(verifies(signed_by_key, subject_of("a"), key.public_key()));
  EXPECT_FALSE(verifies(signed_by_key, subject_of("b"), key.public_key()));
  EXPECT_FALSE(verifies(signed_by_key, {"waiver", sha256("a")}, key.public_key())) << "of another kind";
  EXPECT_FALSE(verifies(signed_by_key, subject_of("a"), other.public_key()));
}

/// Every change of one byte of an envelope, and every cut, is either refused or leaves what was signed as it was.
TEST(Envelope, NoAlteredOneIsAccepted) {
  auto key = new_key();
  auto subject = subject_of("a");
  const auto good = envelope(subject, key);
  std::size_t accepted = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    EXPECT_FALSE(verifies(good.substr(0, i), subject, key.public_key()));
    for (char byte : {'A', 'z', '0', '"', ' ', '\xff'}) {
      auto altered = good;
      if (altered[i] == byte) continue;
      altered[i] = byte;
      if (!verifies(altered, subject, key.public_key())) continue;
      ++accepted;
      auto json = json::parse({altered, "an envelope"});
      ASSERT_TRUE(json) << altered;
      auto was = json::parse({good, "an envelope"});
      EXPECT_EQ((*json)["payload"], (*was)["payload"]) << altered; // the keyid is a hint that nothing relies on
      EXPECT_EQ((*json)["payloadType"], (*was)["payloadType"]) << altered;
    }
  }
  EXPECT_LT(accepted, 6 * (std::string("\"keyid\":\"").size() + 64));
}

TEST(Envelope, ASignatureOfThePayloadAloneIsRefused) {
  auto key = new_key();
  auto subject = subject_of("a");
  auto payload = statement(subject);
  auto raw = key.sign(payload); // not of the encoding
  Json json{{"payload", base64(payload)},
            {"payloadType", k_payload_type},
            {"signatures",
             Json::array({{{"keyid", ""}, {"sig", base64({reinterpret_cast<const char*>(raw.bytes.data()), 64})}}})}};
  EXPECT_FALSE(verifies(json.dump(), subject, key.public_key()));
  json["payloadType"] = "text/plain";
  EXPECT_FALSE(verifies(json.dump(), subject, key.public_key()));
  for (const auto* junk : {"", "[]", "{}", "{\"signatures\":1}", "null"})
    EXPECT_FALSE(verifies(junk, subject, key.public_key())) << junk;
}

TEST(Stored, ARecordMayHaveSeveralSignaturesAndJunk) {
  auto store = store::make_memory_store();
  auto key = new_key(), other = new_key();
  auto subject = subject_of("a");
  ASSERT_TRUE(sign(*store, subject, key));
  ASSERT_TRUE(sign(*store, subject, key)) << "once more is the same";
  ASSERT_TRUE(sign(*store, subject, other));
  auto place = "signatures/" + subject.sha256.hex();
  ASSERT_TRUE(store->put(place + "/junk.json", content::Rope::literal("junk"), {}));
  ASSERT_TRUE(store->put(place + "/long.json", content::Rope::literal(std::string(1 << 15, 'x')), {}));
  auto found = load(*store, {subject.sha256, sha256("b")});
  ASSERT_TRUE(found) << render(found.error());
  ASSERT_THAT(*found, SizeIs(1));
  EXPECT_THAT(found->at(subject.sha256), SizeIs(3));
}

} // namespace
} // namespace quarry::signature
