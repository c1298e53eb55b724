#include "base/redact.hpp"

#include <gtest/gtest.h>

namespace quarry::redact {
namespace {

TEST(WithoutCredentials, UrlsLoseUserQueryAndFragment) {
  const std::pair<const char*, const char*> rows[] = {
      {"https://host/simple/", "https://host/simple/"},
      {"http://ci-user:S3CR3T@127.0.0.1:8765/simple/", "http://127.0.0.1:8765/simple/"},
      {"https://token@host", "https://host"},
      {"https://me:p@ss@host/x", "https://host/x"},
      {"https://host/x?sig=abc&t=1", "https://host/x"},
      {"https://host?sig=abc", "https://host"},
      {"https://host/x#token", "https://host/x"},
      {"https://host/a@b/x", "https://host/a@b/x"},
      {"https://me:pw@host/a@b?q=https://x", "https://host/a@b"},
      {"rocm @ https://me:pw@host/r.whl; x", "rocm @ https://host/r.whl; x"},
      {"from \"https://a:b@c/\" and <ftp://d:e@f/g?h>", "from \"https://c/\" and <ftp://f/g>"},
      {"git+ssh://git:pw@host/r", "git+ssh://host/r"},
      {"no URL: a@b?c#d", "no URL: a@b?c#d"},
      {"://", "://"},
      {"", ""},
  };
  for (const auto& [text, shown] : rows) EXPECT_EQ(without_credentials(text), shown) << text;
  EXPECT_FALSE(has_credentials("https://host/simple/"));
  EXPECT_FALSE(has_credentials("/a/b@c?d"));
  for (const char* url : {"https://t@host/", "https://a:b@host/", "https://host/?q"}) EXPECT_TRUE(has_credentials(url));
}

TEST(SecretNames, AreKnown) {
  for (const char* name :
       {"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID", "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
        "ACTIONS_RUNTIME_TOKEN", "GITHUB_TOKEN", "GH_TOKEN", "HF_TOKEN", "TWINE_PASSWORD", "CLIENT_SECRET", "my_token",
        "TOKEN", "SIGNING_KEY", "AZURE_CREDENTIALS", "DB_PASSWD"})
    EXPECT_TRUE(is_secret_name(name)) << name;
  for (const char* name :
       {"PATH", "HOME", "TOKENIZERS_PARALLELISM", "KEYBOARD", "GITHUB_RUN_ID", "HIP_VISIBLE_DEVICES"})
    EXPECT_FALSE(is_secret_name(name)) << name;
}

TEST(Redactor, KnownValuesAreReplaced) {
  Redactor redactor({{"GITHUB_TOKEN", "ghs_0123456789"},
                     {"SHORT_TOKEN", "1"},
                     {"SIGNING_KEY", "-----BEGIN-----\nfirst line of it\nsecond line of it\n"},
                     {"LONG_TOKEN", "ghs_0123456789abcdef"},
                     {"HTTPS_PROXY", "http://me:pass%2Fword@proxy:8080"},
                     {"PATH", "/usr/bin/somewhere"}});
  EXPECT_EQ(redactor.apply("a ghs_0123456789 b"), "a *** b");
  EXPECT_EQ(redactor.apply("ghs_0123456789abcdef"), "***"); // not "***abcdef"
  EXPECT_EQ(redactor.apply("1 second line of it\nfirst line of it"), "1 ***\n***");
  EXPECT_EQ(redactor.apply("pass%2Fword pass/word"), "*** ***");
  EXPECT_EQ(redactor.apply("/usr/bin/somewhere proxy:8080"), "/usr/bin/somewhere proxy:8080");
  redactor.add_url("https://host/x?signature=abcdef");
  EXPECT_EQ(redactor.apply("GET /x?signature=abcdef"), "GET /x?***");
  EXPECT_EQ(Redactor().apply("text"), "text");
}

} // namespace
} // namespace quarry::redact
