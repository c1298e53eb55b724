#include "base/ascii.hpp"

#include <gtest/gtest.h>
#include <string>

namespace quarry::ascii {
namespace {

std::string all_that(bool (*is)(char)) {
  std::string found;
  for (int c = 0; c < 256; ++c)
    if (is(static_cast<char>(c))) found += static_cast<char>(c);
  return found;
}

TEST(Ascii, ClassesHoldWhatTheirNamesSayAndNothingElse) {
  const std::string lower = "abcdefghijklmnopqrstuvwxyz", upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", digits = "0123456789";
  EXPECT_EQ(all_that(is_digit), digits);
  EXPECT_EQ(all_that(is_lower), lower);
  EXPECT_EQ(all_that(is_upper), upper);
  EXPECT_EQ(all_that(is_letter), upper + lower);
  EXPECT_EQ(all_that(is_alnum), digits + upper + lower);
  EXPECT_EQ(all_that(is_lower_hex), digits + "abcdef");
}

} // namespace
} // namespace quarry::ascii
