#pragma once
// AWS Signature Version 4 (docs.aws.amazon.com, "Signature Version 4 signing process"; S3: the path is encoded once and
// not normalised). Pure functions.
#include "digest/sha256.hpp"
#include "s3/secret.hpp"
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quarry::s3 {

using Pairs = std::vector<std::pair<std::string, std::string>>;

struct Keys {
  std::string access_key;
  Secret secret_key;
  Secret session_token; ///< empty for long-lived keys
};

enum class Slash : std::uint8_t { kept, encoded };
/// Percent-encodes by RFC 3986: unreserved characters stay, all others become %XX, also '/' if it is to be encoded.
std::string uri_encode(std::string_view text, Slash slash);
/// Returns the query string, encoded and sorted by encoded bytes, as it is signed and as it is sent.
std::string canonical_query(const Pairs& parameters);

struct SignedRequest {
  std::string method;
  std::string path;         ///< encoded, as it is sent
  std::string query;        ///< canonical_query
  Pairs headers;            ///< to sign, names in lower case: `host`, `x-amz-date`, the header of a session token, …
  std::string payload_hash; ///< hex, or "UNSIGNED-PAYLOAD"
};

struct Scope {
  std::string date; ///< "20130524T000000Z"; its first 8 characters are the day
  std::string region, service = "s3";
};

std::string canonical_request(const SignedRequest& request);
std::string string_to_sign(const SignedRequest& request, const Scope& scope);
std::string signature(const SignedRequest& request, const Scope& scope, const Keys& keys);
/// The value of the Authorization header.
std::string authorization(const SignedRequest& request, const Scope& scope, const Keys& keys);

/// Returns "20130524T000000Z" for microseconds since 1970, UTC.
std::string amz_date(std::int64_t us);

inline constexpr std::string_view k_unsigned_payload = "UNSIGNED-PAYLOAD";
inline constexpr std::string_view k_empty_hash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

} // namespace quarry::s3
