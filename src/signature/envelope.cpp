#include "signature/envelope.hpp"

#include "base/json.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::signature {

namespace {

constexpr const char* k_statement_type = "https://in-toto.io/Statement/v1";

std::string text_of(const Json& object, const char* key) {
  auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<Ed25519Signature> signature_of(const std::string& base64) {
  auto bytes = from_base64(base64);
  Ed25519Signature signature;
  if (!bytes || bytes->size() != signature.bytes.size()) return std::nullopt;
  std::copy(bytes->begin(), bytes->end(), signature.bytes.begin());
  return signature;
}

} // namespace

std::string statement(const Subject& subject) {
  auto hex = subject.sha256.hex();
  Json json{{"_type", k_statement_type},
            {"subject",
             Json::array({{{"name", fmt::format("{}/{}.json", subject.kind, hex)}, {"digest", {{"sha256", hex}}}}})},
            {"predicateType", fmt::format("urn:quarry:{}:1", subject.kind)},
            {"predicate", {{"record", hex}}}};
  return json::text(json);
}

std::string pre_authentication_encoding(std::string_view payload) {
  return fmt::format("DSSEv1 {} {} {} {}", k_payload_type.size(), k_payload_type, payload.size(), payload);
}

std::string envelope(const Subject& subject, const Ed25519PrivateKey& key) {
  auto payload = statement(subject);
  auto signature = key.sign(pre_authentication_encoding(payload));
  std::string bytes(signature.bytes.begin(), signature.bytes.end());
  Json json{{"payload", base64(payload)},
            {"payloadType", k_payload_type},
            {"signatures", Json::array({{{"keyid", key.public_key().id()}, {"sig", base64(bytes)}}})}};
  return json::text(json);
}

bool verifies(std::string_view envelope_json, const Subject& subject, const Ed25519PublicKey& key) {
  auto json = json::parse({envelope_json, "an envelope"});
  if (!json || !json->is_object() || text_of(*json, "payloadType") != k_payload_type) return false;
  auto payload = from_base64(text_of(*json, "payload"));
  // The statement about a record has one form, so it is compared instead of interpreted.
  if (!payload || *payload != statement(subject)) return false;
  auto signatures = json->find("signatures");
  if (signatures == json->end() || !signatures->is_array()) return false;
  auto message = pre_authentication_encoding(*payload);
  return std::any_of(signatures->begin(), signatures->end(), [&](const Json& one) {
    if (!one.is_object()) return false;
    auto signature = signature_of(text_of(one, "sig"));
    return signature && key.verifies(message, *signature);
  });
}

} // namespace quarry::signature
