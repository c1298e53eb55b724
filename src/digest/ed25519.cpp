#include "digest/ed25519.hpp"

#include <algorithm>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <vector>

namespace quarry {

namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Digest = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

Key key_of(const std::array<std::uint8_t, 32>& bytes) {
  return {EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes.data(), bytes.size()), &EVP_PKEY_free};
}

std::string text_of(BIO* bio) {
  char* data = nullptr;
  auto size = BIO_get_mem_data(bio, &data);
  return size > 0 ? std::string(data, static_cast<std::size_t>(size)) : std::string();
}

Bio memory() { return {BIO_new(BIO_s_mem()), &BIO_free}; }

} // namespace

std::string base64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3), '\0');
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes_of(bytes), static_cast<int>(bytes.size()));
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string bytes(text.size() / 4 * 3, '\0');
  if (EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), bytes_of(text), static_cast<int>(text.size())) <
      0)
    return std::nullopt;
  auto padding = std::count(text.begin(), text.end(), '=');
  if (padding > 2 || static_cast<std::size_t>(padding) > bytes.size()) return std::nullopt;
  bytes.resize(bytes.size() - static_cast<std::size_t>(padding));
  // The decoder skips blanks and takes any bits behind the last byte: only one text for one value counts.
  return base64(bytes) == text ? std::optional(std::move(bytes)) : std::nullopt;
}

std::optional<Ed25519PublicKey> Ed25519PublicKey::parse(std::string_view base64) {
  auto raw = from_base64(base64);
  Ed25519PublicKey key;
  if (!raw || raw->size() != key.bytes_.size()) return std::nullopt;
  std::copy(raw->begin(), raw->end(), key.bytes_.begin());
  return key_of(key.bytes_) ? std::optional(key) : std::nullopt;
}

std::string Ed25519PublicKey::base64() const {
  return quarry::base64({reinterpret_cast<const char*>(bytes_.data()), bytes_.size()});
}

std::string Ed25519PublicKey::id() const {
  auto key = key_of(bytes_);
  unsigned char* der = nullptr;
  auto size = i2d_PUBKEY(key.get(), &der);
  std::string text(reinterpret_cast<const char*>(der), size > 0 ? static_cast<std::size_t>(size) : 0);
  OPENSSL_free(der);
  return sha256(text).hex();
}

std::string Ed25519PublicKey::pem() const {
  auto key = key_of(bytes_);
  auto bio = memory();
  PEM_write_bio_PUBKEY(bio.get(), key.get());
  return text_of(bio.get());
}

bool Ed25519PublicKey::verifies(std::string_view message, const Ed25519Signature& signature) const {
  auto key = key_of(bytes_);
  Digest context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  return key && context && EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         EVP_DigestVerify(context.get(), signature.bytes.data(), signature.bytes.size(), bytes_of(message),
                          message.size()) == 1;
}

Result<Ed25519PrivateKey> Ed25519PrivateKey::create() {
  Key key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), &EVP_PKEY_free);
  if (!key) return fail(ErrorKind::internal, "B006", "no key could be made", "the system has no randomness; try again");
  auto bio = memory();
  PEM_write_bio_PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return parse(text_of(bio.get()));
}

Result<Ed25519PrivateKey> Ed25519PrivateKey::parse(std::string_view pem) {
  Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free);
  auto no_password = [](char*, int, int, void*) { return 0; }; // an encrypted key would ask the terminal
  std::shared_ptr<EVP_PKEY> key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr), &EVP_PKEY_free);
  Ed25519PrivateKey made;
  auto size = made.public_.bytes_.size();
  bool good = key && EVP_PKEY_id(key.get()) == EVP_PKEY_ED25519 &&
              EVP_PKEY_get_raw_public_key(key.get(), made.public_.bytes_.data(), &size) == 1 && size == 32;
  if (!good)
    return fail(ErrorKind::invalid_argument, "B006", "this is not a private Ed25519 key in PEM, or it has a password",
                "`quarry key create` or `openssl genpkey -algorithm ed25519` makes one");
  made.key_ = std::move(key);
  return made;
}

std::string Ed25519PrivateKey::pem() const {
  auto bio = memory();
  PEM_write_bio_PrivateKey(bio.get(), static_cast<EVP_PKEY*>(key_.get()), nullptr, nullptr, 0, nullptr, nullptr);
  return text_of(bio.get());
}

Ed25519Signature Ed25519PrivateKey::sign(std::string_view message) const {
  Ed25519Signature signature;
  auto size = signature.bytes.size();
  Digest context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, static_cast<EVP_PKEY*>(key_.get()));
  EVP_DigestSign(context.get(), signature.bytes.data(), &size, bytes_of(message), message.size());
  return signature;
}

} // namespace quarry
