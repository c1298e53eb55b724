#include "net/url.hpp"

#include <gtest/gtest.h>

namespace quarry::net {
namespace {

TEST(Url, Parts) {
  auto url = parse_url("HTTPS://Example.COM:8443/a%20b/?x=1&y#part");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->host, "example.com");
  EXPECT_EQ(url->port, 8443);
  EXPECT_EQ(url->path, "/a%20b/");
  EXPECT_EQ(url->query, "x=1&y");
  EXPECT_EQ(url->text(), "https://example.com:8443/a%20b/?x=1&y");
  EXPECT_EQ(parse_url("http://[::1]:80/")->text(), "http://[::1]/");
  EXPECT_EQ(parse_url("https://a.example?q")->text(), "https://a.example/?q");
}

TEST(Url, WhatIsNone) {
  for (const std::string text : {"", "ftp://a/", "example.com/x", "https:///x", "https://user@host/",
                                 "https://user:secret@host/", "https://h:0/", "https://h:65536/", "https://h:x/",
                                 "https://h/a b", "https://h/\n", "https://ex%41mple/", "https://h\xc3\xa9/"}) {
    auto url = parse_url(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().code, "H001");
    EXPECT_EQ(url.error().message.find("secret"), std::string::npos);
  }
}

TEST(Url, AQueryMayBeASignatureAndIsNotShown) {
  EXPECT_EQ(parse_url("https://h/p?X-Amz-Signature=canary")->shown(), "https://h/p?…");
  EXPECT_EQ(parse_url("https://h/p")->shown(), "https://h/p");
  for (const auto& refused : {parse_url("https://h:0/p?s=canary").error(),
                              redirected(*parse_url("https://h/p?s=canary"), "http://g/q?s=canary").error()})
    EXPECT_EQ(render(refused).find("canary"), std::string::npos) << render(refused);
}

TEST(Url, WhoIsThisMachine) {
  for (const std::string text : {"http://localhost/", "http://127.0.0.1:9/", "http://127.8.8.8/", "http://[::1]/"})
    EXPECT_TRUE(is_loopback(*parse_url(text))) << text;
  for (const std::string text : {"http://127.0.0.1.example.com/", "http://localhost.example/", "http://other.example/",
                                 "http://[::2]/", "http://169.254.169.254/"})
    EXPECT_FALSE(is_loopback(*parse_url(text))) << text;
  EXPECT_TRUE(is_local(*parse_url("http://169.254.169.254/latest")));
  EXPECT_FALSE(is_local(*parse_url("http://169.254.evil.example/")));
}

struct Redirect {
  std::string from, location, to; ///< to: the code when it is refused
};
class Redirects : public ::testing::TestWithParam<Redirect> {};
TEST_P(Redirects, LeadWhereTheyMay) {
  auto to = redirected(*parse_url(GetParam().from), GetParam().location);
  EXPECT_EQ(to ? to->text() : to.error().code, GetParam().to);
}
INSTANTIATE_TEST_SUITE_P(Table, Redirects,
                         ::testing::Values(Redirect{"https://a.example/x/y", "https://b.example/z",
                                                    "https://b.example/z"},
                                           Redirect{"https://a.example/x/y", "/z?q=1", "https://a.example/z?q=1"},
                                           Redirect{"https://a.example/x/y", "z", "https://a.example/x/z"},
                                           Redirect{"https://a.example/x/y", "z?to=https://b.example/",
                                                    "https://a.example/x/z?to=https://b.example/"},
                                           Redirect{"https://a.example/x/y", "/login?to=https://b.example/",
                                                    "https://a.example/login?to=https://b.example/"},
                                           Redirect{"https://a.example/x/y/", "../../../d/./f%2B?to=../..",
                                                    "https://a.example/d/f%2B?to=../.."},
                                           Redirect{"https://a.example/x/y/", "..", "https://a.example/x/"},
                                           Redirect{"https://a.example/x/y/", "./", "https://a.example/x/y/"},
                                           Redirect{"https://a.example/x/y", "?q=1", "https://a.example/x/y?q=1"},
                                           Redirect{"https://a.example:8443/x", "//b.example/z", "https://b.example/z"},
                                           Redirect{"http://127.0.0.1/x", "https://a.example/", "https://a.example/"},
                                           Redirect{"https://a.example/x", "http://a.example/x", "H009"},
                                           Redirect{"https://a.example/x", "file:///etc/passwd", "H001"},
                                           Redirect{"https://a.example/x", "https://u:p@b.example/", "H001"},
                                           Redirect{"http://127.0.0.1/x", "gopher://a/", "H001"}));

} // namespace
} // namespace quarry::net
