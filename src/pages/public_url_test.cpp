#include "pages/public_url.hpp"
#include "store/s3_store.hpp"
#include "sys/clock.hpp"
#include <gtest/gtest.h>

namespace quarry::pages {
namespace {

const sys::FixedClock k_clock(0);

std::unique_ptr<store::ObjectStore> store_at(const std::string& locator) {
  return std::move(*store::open_s3_store(locator, {{{"AWS_REGION", "eu-west-1"}}, k_clock}));
}

struct Case {
  std::string said, store, url;
};
class PublicUrls : public ::testing::TestWithParam<Case> {};
TEST_P(PublicUrls, LeadWhereReadersLook) {
  auto parsed = PublicUrl::parse(GetParam().said);
  ASSERT_TRUE(parsed) << render(parsed.error());
  EXPECT_EQ(parsed->of(*store_at(GetParam().store), "d/a+b c.whl"), GetParam().url);
}
INSTANTIATE_TEST_SUITE_P(
    Table, PublicUrls,
    ::testing::Values(Case{"", "s3://b1b/p", "https://b1b.s3.eu-west-1.amazonaws.com/p/d/a%2Bb%20c.whl"},
                      Case{"https://cdn.example", "s3://b1b/p", "https://cdn.example/d/a%2Bb%20c.whl"},
                      Case{"https://cdn.example/a=httpd", "s3://b1b", "https://cdn.example/a=httpd/d/a%2Bb%20c.whl"},
                      Case{"https://cdn.example/x/", "s3://b1b/p", "https://cdn.example/x/d/a%2Bb%20c.whl"},
                      Case{"s3://b1b=https://cdn.example", "s3://b1b/p+q", "https://cdn.example/p%2Bq/d/a%2Bb%20c.whl"},
                      Case{"s3://b1b=https://cdn.example, s3://b1b/p=https://near.example/y", "s3://b1b/p/q",
                           "https://near.example/y/q/d/a%2Bb%20c.whl"},
                      Case{"https://any.example,s3://b1b/p=https://near.example", "s3://b1b/pp",
                           "https://any.example/d/a%2Bb%20c.whl"},
                      Case{"s3://b1b/p=https://near.example", "s3://b1b/pp",
                           "https://b1b.s3.eu-west-1.amazonaws.com/pp/d/a%2Bb%20c.whl"}));

TEST(PublicUrl, APlaceOnAWebServerIsEncodedOnce) {
  auto parsed = PublicUrl::parse("https://h.example/a=https://cdn.example");
  ASSERT_TRUE(parsed) << render(parsed.error());
  auto store = store::open_http_store("https://h.example/a/b%20c", {{}, k_clock});
  ASSERT_TRUE(store) << render(store.error());
  EXPECT_EQ(parsed->of(**store, "d/e f"), "https://cdn.example/b%20c/d/e%20f");
}

TEST(PublicUrl, WhatIsNone) {
  for (const std::string text : {"cdn.example", "ftp://x/", "https://", "https://h/p?signature=canary", "https://h/#f",
                                 "https://h/x?u=http://y"}) {
    auto parsed = PublicUrl::parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, "P013");
    EXPECT_EQ(render(parsed.error()).find("canary"), std::string::npos);
  }
}

} // namespace
} // namespace quarry::pages
