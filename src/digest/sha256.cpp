#include "digest/sha256.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <libdeflate.h>
#include <openssl/evp.h>
#include <utility>
#include <zlib.h>
// With large files zlib renames this one by a macro, ours as well.
#undef crc32_combine

namespace quarry {

std::string Sha256::hex() const { return text::hex(bytes); }
std::string Sha256::short_hex() const { return hex().substr(0, 12); }
std::string Sha256::base64url() const { return text::base64url(bytes); }

namespace {
std::optional<Sha256> from_bytes(const std::optional<std::vector<std::uint8_t>>& raw) {
  Sha256 out;
  if (!raw || raw->size() != out.bytes.size()) return std::nullopt;
  std::copy(raw->begin(), raw->end(), out.bytes.begin());
  return out;
}
} // namespace

namespace {
/// Digits are random, so a branch for each of them is mispredicted: records hold tens of thousands of digests.
constexpr auto k_hex_values = [] {
  std::array<std::int8_t, 256> values{};
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<std::int8_t>(ascii::hex_value(static_cast<char>(i)));
  return values;
}();
} // namespace

std::strong_ordering Sha256::operator<=>(const Sha256& other) const {
  return std::memcmp(bytes.data(), other.bytes.data(), bytes.size()) <=> 0;
}

std::optional<Sha256> Sha256::from_hex(std::string_view t) {
  Sha256 out;
  if (t.size() != 2 * out.bytes.size()) return std::nullopt;
  int all = 0; // negative if one is
  for (std::size_t i = 0; i < out.bytes.size(); ++i) {
    int high = k_hex_values[static_cast<unsigned char>(t[2 * i])];
    int low = k_hex_values[static_cast<unsigned char>(t[2 * i + 1])];
    all |= high | low;
    out.bytes[i] = static_cast<std::uint8_t>((high & 15) << 4 | (low & 15));
  }
  return all < 0 ? std::nullopt : std::optional(out);
}
std::optional<Sha256> Sha256::from_base64url(std::string_view t) { return from_bytes(text::from_base64url(t)); }

struct Sha256Hasher::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  bool begun = false;
  ~State() { EVP_MD_CTX_free(context); }
};

namespace {
// Out of memory, or a libcrypto without SHA-256: nothing here can go on.
void must(bool ok) {
  if (!ok) std::abort();
}

// EVP_sha256() is looked up in the library's providers, under a lock, each time a digest begins with it.
const EVP_MD* algorithm() {
  static const EVP_MD* const fetched = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  must(fetched != nullptr);
  return fetched;
}

void begin(EVP_MD_CTX* context, bool& begun) {
  if (std::exchange(begun, true)) return;
  must(EVP_DigestInit_ex(context, algorithm(), nullptr) == 1);
}
} // namespace

Sha256Hasher::Sha256Hasher() : state_(std::make_unique<State>()) {}
Sha256Hasher::~Sha256Hasher() = default;
Sha256Hasher::Sha256Hasher(Sha256Hasher&&) noexcept = default;
Sha256Hasher& Sha256Hasher::operator=(Sha256Hasher&&) noexcept = default;

void Sha256Hasher::update(std::span<const std::byte> bytes) {
  begin(state_->context, state_->begun);
  must(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1);
}

Sha256 Sha256Hasher::finish() {
  Sha256 out;
  unsigned size = 0;
  begin(state_->context, state_->begun);
  must(EVP_DigestFinal_ex(state_->context, out.bytes.data(), &size) == 1);
  state_->begun = false;
  return out;
}

Sha256 sha256(std::span<const std::byte> bytes) {
  Sha256Hasher hasher;
  hasher.update(bytes);
  return hasher.finish();
}
Sha256 sha256(std::string_view text) { return sha256(std::as_bytes(std::span(text))); }

std::uint32_t crc32(std::uint32_t crc, std::span<const std::byte> bytes) {
  return libdeflate_crc32(crc, bytes.data(), bytes.size());
}
std::uint32_t crc32_combine(std::uint32_t first, std::uint32_t second, std::uint64_t second_bytes) {
  return static_cast<std::uint32_t>(::crc32_combine64(first, second, static_cast<z_off64_t>(second_bytes)));
}

} // namespace quarry
