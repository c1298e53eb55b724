#pragma once
// HMAC with SHA-256 (RFC 2104) by OpenSSL.
#include "digest/sha256.hpp"
#include <string_view>

namespace quarry {

Sha256 hmac_sha256(std::string_view key, std::string_view message);
/// Compares without telling by its duration where the first difference is.
bool same_secret(const Sha256& a, const Sha256& b);

} // namespace quarry
