#include "digest/hmac.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace quarry {

Sha256 hmac_sha256(std::string_view key, std::string_view message) {
  Sha256 out;
  unsigned size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(message.data()),
       message.size(), out.bytes.data(), &size);
  return out;
}

bool same_secret(const Sha256& a, const Sha256& b) {
  return CRYPTO_memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0;
}

} // namespace quarry
