#include "base/zeros.hpp"

#include <gtest/gtest.h>
#include <string>

namespace quarry::zeros {
namespace {

TEST(Zeros, FindsTheFirstByteThatIsNotZero) {
  EXPECT_TRUE(all_zero(""));
  EXPECT_EQ(first_not_zero(""), std::string_view::npos);
  for (std::size_t size : {1u, 2u, 4095u, 4096u, 4097u, 10'000u}) {
    std::string bytes(size, '\0');
    EXPECT_TRUE(all_zero(bytes));
    EXPECT_EQ(first_not_zero(bytes), std::string_view::npos);
    for (std::size_t place : {std::size_t{0}, size / 2, size - 1}) {
      bytes.assign(size, '\0');
      bytes[place] = '\1';
      EXPECT_FALSE(all_zero(bytes));
      EXPECT_EQ(first_not_zero(bytes), place) << size;
    }
  }
}

} // namespace
} // namespace quarry::zeros
