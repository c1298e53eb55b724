#include "digest/sha256.hpp"

#include <gtest/gtest.h>
#include <string>

namespace quarry {
namespace {

std::span<const std::byte> as_span(const std::string& text) { return std::as_bytes(std::span(text)); }

// FIPS 180-4 examples and the NIST long message.
TEST(Sha256, Vectors) {
  EXPECT_EQ(sha256("").hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc").hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq").hex(),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')).hex(),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesGiveTheSameAsTheWhole) {
  std::string text(10'000, 'x');
  for (std::size_t step : {1u, 63u, 64u, 65u, 4096u}) {
    Sha256Hasher hasher;
    for (std::size_t at = 0; at < text.size(); at += step)
      hasher.update(as_span(text).subspan(at, std::min(step, text.size() - at)));
    EXPECT_EQ(hasher.finish(), sha256(text)) << step;
    hasher.update(as_span("abc")); // anew after finish
    EXPECT_EQ(hasher.finish(), sha256("abc"));
  }
}

TEST(Sha256, TextForms) {
  auto digest = sha256("abc");
  EXPECT_EQ(digest.short_hex(), "ba7816bf8f01");
  EXPECT_EQ(digest.base64url(), "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0");
  EXPECT_EQ(Sha256::from_hex(digest.hex()), digest);
  EXPECT_EQ(Sha256::from_hex("BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"), digest);
  EXPECT_EQ(Sha256::from_base64url(digest.base64url()), digest);
  EXPECT_EQ(Sha256::from_hex("ba78"), std::nullopt);
  EXPECT_EQ(Sha256::from_hex(digest.hex() + "00"), std::nullopt);
  EXPECT_EQ(Sha256::from_base64url(digest.base64url() + "="), std::nullopt);
  EXPECT_EQ(Sha256::from_base64url("ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa1"),
            std::nullopt); // same bytes, second spelling
}

TEST(Crc32, VectorsAndCombine) {
  EXPECT_EQ(crc32(0, as_span("123456789")), 0xcbf43926u);
  EXPECT_EQ(crc32(0, {}), 0u);
  std::string text = "the quick brown fox jumps over the lazy dog";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    auto first = crc32(0, as_span(text).first(cut)), second = crc32(0, as_span(text).subspan(cut));
    EXPECT_EQ(crc32_combine(first, second, text.size() - cut), crc32(0, as_span(text)));
    EXPECT_EQ(crc32(first, as_span(text).subspan(cut)), crc32(0, as_span(text)));
  }
}

} // namespace
} // namespace quarry
