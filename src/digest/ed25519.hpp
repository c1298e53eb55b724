#pragma once
// Ed25519 (RFC 8032) by OpenSSL. Keys are PEM files as `openssl genpkey -algorithm ed25519` writes them. Pure but for
// create(), which asks the operating system for randomness. Thread-safe.
#include "base/result.hpp"
#include "digest/sha256.hpp"
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace quarry {

struct Ed25519Signature {
  std::array<std::uint8_t, 64> bytes{};
};

class Ed25519PublicKey {
public:
  /// 32 bytes in base64 (RFC 4648 §4), as `quarry key show` prints them; nullopt for any other text. Only
  /// the length is checked: bytes that are not a point of the curve verify no signature.
  static std::optional<Ed25519PublicKey> parse(std::string_view base64);
  std::string base64() const;
  /// sha256 of the key's SubjectPublicKeyInfo: what names it in envelopes.
  std::string id() const;
  std::string pem() const;
  bool verifies(std::string_view message, const Ed25519Signature& signature) const;

private:
  friend class Ed25519PrivateKey;
  std::array<std::uint8_t, 32> bytes_{};
};

class Ed25519PrivateKey {
public:
  /// internal B006 if the operating system has no randomness.
  static Result<Ed25519PrivateKey> create();
  /// invalid_argument B006 for text that is not an unencrypted Ed25519 key in PEM.
  static Result<Ed25519PrivateKey> parse(std::string_view pem);
  std::string pem() const;
  const Ed25519PublicKey& public_key() const { return public_; }
  Ed25519Signature sign(std::string_view message) const;

private:
  Ed25519PrivateKey() = default;
  std::shared_ptr<void> key_; ///< an EVP_PKEY
  Ed25519PublicKey public_;
};

/// RFC 4648 §4, with padding, as envelopes have it.
std::string base64(std::string_view bytes);
/// nullopt unless it is exactly what base64() writes.
std::optional<std::string> from_base64(std::string_view text);

} // namespace quarry
