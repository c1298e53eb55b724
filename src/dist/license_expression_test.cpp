#include "dist/license_expression.hpp"

#include <gtest/gtest.h>
#include <string>

namespace quarry::dist {

namespace {
TEST(LicenseExpression, Accepts) {
  for (const auto* text : {"MIT", "mit", "Apache-2.0", "GPL-2.0-or-later", "GPL-2.0+", "LicenseRef-Proprietary",
                           "MIT AND BSD-3-Clause", "mit or apache-2.0", "Apache-2.0 WITH LLVM-exception", "(MIT)",
                           "((MIT) AND (BSD-3-Clause OR ISC))", "MIT OR (Apache-2.0 WITH LLVM-exception)", "  MIT  "})
    EXPECT_TRUE(check_license_expression(text)) << text;
}

TEST(LicenseExpression, Refuses) {
  for (const auto* text : {"",
                           " ",
                           "MIT License",
                           "MIT and also Apache",
                           "MIT AND",
                           "AND MIT",
                           "MIT OR OR ISC",
                           "(MIT",
                           "MIT)",
                           "()",
                           "MIT ( ISC )",
                           "MIT, ISC",
                           "MIT/ISC",
                           "MIT WITH",
                           "WITH LLVM-exception",
                           "MIT WITH a WITH b",
                           "(MIT) WITH LLVM-exception",
                           "MIT WITH (LLVM-exception)",
                           "Apache_2.0",
                           "+",
                           "MIT++",
                           "M\303\255T"}) {
    auto checked = check_license_expression(text);
    ASSERT_FALSE(checked) << text;
    EXPECT_EQ(checked.error().code, "M014");
  }
}

TEST(LicenseExpression, IsBounded) {
  std::string long_text = "MIT";
  while (long_text.size() <= k_license_expression_bytes_max) long_text += " OR MIT";
  EXPECT_FALSE(check_license_expression(long_text));
  EXPECT_FALSE(check_license_expression(std::string(k_license_expression_bytes_max, '(')));
}
} // namespace

} // namespace quarry::dist
