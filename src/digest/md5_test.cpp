#include "digest/md5.hpp"

#include "base/text.hpp"
#include <gtest/gtest.h>
#include <string>
#include <string_view>

namespace quarry {
namespace {

std::string md5(std::string_view text, std::size_t step) {
  Md5Hasher hasher;
  for (; !text.empty(); text.remove_prefix(std::min(step, text.size())))
    hasher.update(std::as_bytes(std::span(text.substr(0, step))));
  return text::hex(hasher.finish());
}

// RFC 1321, A.5; and lengths around the end of a block, by coreutils' md5sum.
TEST(Md5, VectorsInPiecesOfAnySize) {
  for (std::size_t step : {1, 3, 63, 64, 65, 1000}) {
    EXPECT_EQ(md5("", step), "d41d8cd98f00b204e9800998ecf8427e");
    EXPECT_EQ(md5("abc", step), "900150983cd24fb0d6963f7d28e17f72");
    EXPECT_EQ(md5("12345678901234567890123456789012345678901234567890123456789012345678901234567890", step),
              "57edf4a22be3c955ac49da2e2107b67a");
    EXPECT_EQ(md5(std::string(55, 'x'), step), "04364420e25c512fd958a70738aa8f72");
    EXPECT_EQ(md5(std::string(56, 'x'), step), "668a72d5ba17f08e62dabcafad6db14b");
    EXPECT_EQ(md5(std::string(64, 'x'), step), "c1bb4f81d892b2d57947682aeb252456");
    EXPECT_EQ(md5(std::string(1000, 'x'), step), "398533d48111e9f664b1f64cb10c4b63");
  }
}

} // namespace
} // namespace quarry
