#include "run/locator.hpp"

#include <gtest/gtest.h>

namespace quarry::run {
namespace {

Locator parsed(std::string_view text) {
  auto locator = parse_locator(text);
  EXPECT_TRUE(locator) << text << ": " << (locator ? "" : locator.error().message);
  return locator ? *locator : Locator{};
}

TEST(Locator, BareWordsArePaths) {
  for (auto text :
       {"a", "./a", "/srv/a b", "..", "artifacts/42-linux", "blas_lib_gfx942:xnack+.tar.zst", "C:x", "run", "42"}) {
    auto locator = parsed(text);
    EXPECT_EQ(locator.kind, LocatorKind::path) << text;
    EXPECT_EQ(locator.path, text);
  }
}

TEST(Locator, FilePaths) {
  struct Case {
    const char *text, *path;
  };
  for (auto [text, path] : {Case{"file:store", "store"},
                            {"file:/srv/x", "/srv/x"},
                            {"file:///srv/a%20b", "/srv/a b"},
                            {"file://localhost/x", "/x"},
                            {"file://LOCALHOST/x", "/x"},
                            {"FILE:x", "x"},
                            {"file:a%20b", "a%20b"},
                            {"file:run:42", "run:42"}})
    EXPECT_EQ(parsed(text).path, path) << text;
}

TEST(Locator, Runs) {
  struct Case {
    const char *text, *repo, *id, *platform;
  };
  for (auto [text, repo, id, platform] : {Case{"run:42", "", "42", ""},
                                          {"run:42-linux", "", "42", "linux"},
                                          {"run:42-windows", "", "42", "windows"},
                                          {"run:ROCm-TheRock/42", "ROCm-TheRock/", "42", ""},
                                          {"run:ROCm-TheRock/42-linux", "ROCm-TheRock/", "42", "linux"},
                                          {"run:ROCm-TheRock/42-linux/", "ROCm-TheRock/", "42", "linux"},
                                          {"run:local", "", "local", ""},
                                          {"run:nightly-2026.11.21-linux", "", "nightly-2026.11.21", "linux"},
                                          {"run:42-macos", "", "42-macos", ""}}) {
    auto locator = parsed(text);
    EXPECT_EQ(locator.kind, LocatorKind::run) << text;
    EXPECT_EQ(locator.external_repo, repo) << text;
    EXPECT_EQ(locator.run_id, id) << text;
    EXPECT_EQ(locator.platform.text(), platform) << text;
  }
}

TEST(Locator, PastedUrlsOfRunsAndJobs) {
  for (auto text : {"https://github.com/ROCm/TheRock/actions/runs/19123",
                    "https://github.com/ROCm/TheRock/actions/runs/19123/job/55?pr=7#step:3:1",
                    "https://GitHub.com/ROCm/TheRock/actions/runs/19123/attempts/2"}) {
    auto locator = parsed(text);
    EXPECT_EQ(locator.kind, LocatorKind::run) << text;
    EXPECT_EQ(locator.run_id, "19123");
    EXPECT_EQ(locator.repository, "ROCm/TheRock");
  }
  EXPECT_EQ(parsed("https://github.com/ROCm/TheRock/actions").kind, LocatorKind::http);
  EXPECT_EQ(parsed("https://example.com/ROCm/TheRock/actions/runs/19123").kind, LocatorKind::http);
}

TEST(Locator, OtherKinds) {
  std::string digest(64, 'a');
  EXPECT_EQ(parsed("set:" + digest).digest, digest);
  EXPECT_EQ(parsed("set:" + std::string(64, 'A')).digest, digest);
  EXPECT_EQ(parsed("channel:stable").channel, "stable");
  EXPECT_EQ(parsed("channel:rc-7.2_1").channel, "rc-7.2_1");
  EXPECT_EQ(parsed("commit:ABCDEF1").commit, "abcdef1");
  auto pr = parsed("pr:ROCm/TheRock#12");
  EXPECT_EQ(pr.repository, "ROCm/TheRock");
  EXPECT_EQ(pr.number, "12");
  EXPECT_EQ(parsed("s3://bucket/prefix").kind, LocatorKind::s3);
  EXPECT_EQ(parsed("http://host/x").url, "http://host/x");
}

TEST(Locator, MalformedOnesSayWhatIsWrong) {
  struct Case {
    std::string text, code;
  };
  for (const auto& [text, code] : {Case{"", "L001"},
                                   {std::string("a\0b", 3), "L001"},
                                   {std::string(9000, 'a'), "L001"},
                                   {"run:", "L002"},
                                   {"run:../x", "L002"},
                                   {"run:a/b/c", "L002"},
                                   {"run:/42", "L002"},
                                   {"run:.42", "L002"},
                                   {"run:4 2", "L002"},
                                   {"run:-linux", "L002"},
                                   {"run:42-linux-linux", "L002"},
                                   {"run:42%2f", "L002"},
                                   {"set:abc", "L003"},
                                   {"set:abcdef0", "L003"},
                                   {"set:" + std::string(65, 'a'), "L003"},
                                   {"set:" + std::string(64, 'g'), "L003"},
                                   {"channel:", "L004"},
                                   {"channel:a/b", "L004"},
                                   {"channel:..", "L004"},
                                   {"channel:" + std::string(65, 'a'), "L004"},
                                   {"commit:xyz", "L005"},
                                   {"commit:abc", "L005"},
                                   {"pr:ROCm#1", "L005"},
                                   {"pr:ROCm/TheRock", "L005"},
                                   {"pr:ROCm/TheRock#x", "L005"},
                                   {"pr:../x#1", "L005"},
                                   {"file:", "L006"},
                                   {"file://host/x", "L006"},
                                   {"file:///a%00b", "L006"},
                                   {"s3://", "L006"},
                                   {"s3:x", "L006"},
                                   {"https:///x", "L006"},
                                   {"ftp://host/x", "L007"},
                                   {"rum:42", "L007"}}) {
    auto locator = parse_locator(text);
    ASSERT_FALSE(locator) << text;
    EXPECT_EQ(locator.error().code, code) << text;
    EXPECT_EQ(traits(locator.error().kind).exit_code, 2) << text;
    EXPECT_FALSE(locator.error().message.empty());
  }
}

TEST(Locator, KindsWithoutABackendAndSenselessOnesAreUsage) {
  for (auto text : {"commit:abcdef1", "pr:a/b#1", "s3://b/p", "https://h/x"}) {
    auto refused = require_kind(parsed(text), {LocatorKind::path, LocatorKind::run}, "take artifacts from");
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().code, "L008");
    EXPECT_EQ(refused.error().kind, ErrorKind::invalid_argument);
    EXPECT_TRUE(refused.error().message.starts_with(std::string("cannot take artifacts from ") + text + ": "));
    EXPECT_EQ(refused.error().hint, "expected one of: path, run");
  }
  auto refused = require_kind(parsed("channel:stable"), {LocatorKind::path, LocatorKind::run}, "take artifacts from");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "L009");
  EXPECT_EQ(refused.error().kind, ErrorKind::invalid_argument);
  EXPECT_TRUE(require_kind(parsed("run:42"), {LocatorKind::path, LocatorKind::run}, "take artifacts from"));
}

struct Tree {
  std::string text, store, key; ///< store: the code when it is refused
};
class Trees : public ::testing::TestWithParam<Tree> {};
TEST_P(Trees, AreSplitWhereStoresBegin) {
  auto place = split_tree(GetParam().text);
  EXPECT_EQ(place ? place->store : place.error().code, GetParam().store);
  EXPECT_EQ(place ? place->key : "", GetParam().key);
}
INSTANTIATE_TEST_SUITE_P(Table, Trees,
                         ::testing::Values(Tree{"s3://b/p/q/channels/stable", "s3://b/p/q", "channels/stable"},
                                           Tree{"s3://b/channels/stable/", "s3://b", "channels/stable"},
                                           Tree{"s3://b/p/42-linux/python/g", "s3://b/p", "42-linux/python/g"},
                                           Tree{"/srv/store/channels/stable", "/srv/store", "channels/stable"},
                                           Tree{"s3://b/p/dist", "L009", ""}, Tree{"s3://b/channels", "L009", ""},
                                           Tree{"s3://b", "L009", ""}, Tree{"channels/stable", "L009", ""}));

TEST(StorePlace, BucketAndKey) {
  EXPECT_EQ(split_store("s3://b/p/q/")->store, "s3://b");
  EXPECT_EQ(split_store("s3://b/p/q/")->key, "p/q");
  EXPECT_EQ(split_store("s3://b")->key, "");
  EXPECT_EQ(split_store("https://h/x").error().code, "L009");
}

} // namespace
} // namespace quarry::run
