#pragma once
// DSSE envelopes (github.com/secure-systems-lab/dsse, protocol version 1) around in-toto statements (Statement v1).
// Pure.
#include "base/result.hpp"
#include "digest/ed25519.hpp"
#include <string>
#include <string_view>

namespace quarry::signature {

constexpr std::string_view k_payload_type = "application/vnd.in-toto+json";

/// What is signed: a record of a store.
struct Subject {
  std::string kind; ///< "evidence", "waiver", "verdict", "move"
  Sha256 sha256;    ///< of its bytes
};

/// The statement about a record, as canonical JSON: its subject is `{kind}/{sha256}.json`, its predicate says the kind.
std::string statement(const Subject& subject);
/// What DSSE signs: `DSSEv1 {length} {type} {length} {payload}`.
std::string pre_authentication_encoding(std::string_view payload);
/// The envelope with one signature, as canonical JSON.
std::string envelope(const Subject& subject, const Ed25519PrivateKey& key);
/// Whether an envelope holds a signature of this key over the statement about this record. False for anything that is
/// not such an envelope: other types, another record, several signatures of which none is this key's.
bool verifies(std::string_view envelope_json, const Subject& subject, const Ed25519PublicKey& key);

} // namespace quarry::signature
