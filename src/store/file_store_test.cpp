// The file store's own promises, and what locators open.
#include "store/object_store.hpp"
#include "store/testing/temporary_directory.hpp"
#include "sys/clock.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include <atomic>
#include <csignal>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <map>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace quarry::store {
namespace {

using content::Rope;
using testing::TemporaryDirectory;

class FileStoreTest : public ::testing::Test {
protected:
  std::unique_ptr<ObjectStore> open() { return std::move(*open_file_store(root_)); }
  TemporaryDirectory directory_;
  std::string root_ = directory_.path() + "/a store";
};

TEST_F(FileStoreTest, ObjectsArePlainFilesAndUrlsAreEncoded) {
  auto store = open();
  ASSERT_TRUE(store->put("x/r+1.whl", Rope::literal("wheel"), {}));
  EXPECT_EQ(*sys::read_file(root_ + "/x/r+1.whl"), "wheel");
  EXPECT_TRUE(store->url("x/r+1.whl").starts_with("file:///"));
  EXPECT_TRUE(store->url("x/r+1.whl").ends_with("/a%20store/x/r%2B1.whl"));
}

TEST_F(FileStoreTest, ReadingCreatesNothing) {
  auto store = open();
  EXPECT_FALSE(*store->get("k", 1));
  EXPECT_TRUE(store->list("")->empty());
  EXPECT_FALSE(sys::exists(root_));
}

// As one without the right to search it, which root always has.
TEST_F(FileStoreTest, ADirectoryThatCannotBeSeenIsNotEmpty) {
  auto store = open();
  ASSERT_TRUE(store->put("runs/k", Rope::literal("1"), {}));
  ASSERT_EQ(::symlink("loop", (root_ + "/loop").c_str()), 0);
  EXPECT_FALSE(store->list("loop/"));
  EXPECT_FALSE(store->children("loop/"));
  EXPECT_TRUE(store->list("runs/k/")->empty()) << "a file has nothing below it";
  EXPECT_TRUE(store->list("gone/")->empty());
}

// Several threads look at so many: sizes must be those of their own names; links and pipes stay out.
TEST_F(FileStoreTest, ALargeDirectoryIsListedInOrder) {
  auto store = open();
  constexpr std::size_t k_files = 2500;
  ASSERT_TRUE(store->put("many/below/k", Rope::literal("1"), {}));
  for (std::size_t i = 0; i < k_files; ++i)
    ASSERT_TRUE(sys::File::create(fmt::format("{}/many/{:05}", root_, i))->write(std::string(i % 7, 'x')));
  ASSERT_EQ(::symlink("00001", (root_ + "/many/link").c_str()), 0);
  ASSERT_EQ(::mkfifo((root_ + "/many/pipe").c_str(), 0600), 0);
  auto found = store->children("many/");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->objects.size(), k_files);
  EXPECT_EQ(found->directories, std::vector<std::string>{"many/below/"});
  for (std::size_t i = 0; i < k_files; ++i) {
    EXPECT_EQ(found->objects[i].key, fmt::format("many/{:05}", i));
    EXPECT_EQ(found->objects[i].size, i % 7);
    EXPECT_GT(found->objects[i].modified_us, 0);
  }
  EXPECT_EQ(store->list("many/")->size(), k_files + 1);
  EXPECT_EQ(store->children("many/024")->objects.size(), 100u);
}

TEST_F(FileStoreTest, ADigestCountsTheBytesThatItRead) {
  auto store = open();
  ASSERT_TRUE(store->put("k", Rope::literal("12345"), {}));
  auto before = store->counters();
  ASSERT_TRUE(*store->digest("k"));
  EXPECT_EQ(store->counters().gets, before.gets + 1);
  EXPECT_EQ(store->counters().bytes_read, before.bytes_read + 5);
}

TEST_F(FileStoreTest, WhatIsNotARegularFileHasNoDigest) {
  auto store = open();
  ASSERT_TRUE(store->put("directory/k", Rope::literal("1"), {}));
  ASSERT_EQ(::mkfifo((root_ + "/pipe").c_str(), 0600), 0);
  ASSERT_EQ(::symlink("directory/k", (root_ + "/link").c_str()), 0);
  ASSERT_EQ(::symlink("nowhere", (root_ + "/dangling").c_str()), 0);
  EXPECT_FALSE(*store->digest("directory"));
  EXPECT_FALSE(*store->digest("directory/k/below"));
  EXPECT_FALSE(*store->digest("pipe"));
  EXPECT_FALSE(*store->digest("dangling"));
  EXPECT_EQ(**store->digest("link"), sha256("1")) << "head(), get() and open() follow links, too";
}

TEST_F(FileStoreTest, ADirectoryIsNotAnObjectThatTookTheName) {
  auto store = open();
  ASSERT_TRUE(store->put("simple/index.html/k", Rope::literal("1"), {}));
  for (auto precondition : {Precondition(), Precondition::if_absent()}) {
    PutOptions options;
    options.precondition = precondition;
    auto refused = store->put("simple/index.html", Rope::literal("page"), options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "D001") << "R002 would send a writer back to read what nobody can read";
    EXPECT_NE(refused.error().message.find("simple/index.html"), std::string::npos);
  }
}

TEST_F(FileStoreTest, ALinkThatLeadsNowhereIsNotAnObjectThatTookTheName) {
  auto store = open();
  ASSERT_TRUE(store->put("other", Rope::literal("1"), {}));
  ASSERT_EQ(::symlink("nowhere", (root_ + "/pages.json").c_str()), 0);
  PutOptions options;
  options.precondition = Precondition::if_absent();
  auto refused = store->put("pages.json", Rope::literal("{}"), options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "D001") << "R002 would send a writer back to read what nobody can read";
  EXPECT_NE(refused.error().hint.find("remove it"), std::string::npos);
}

TEST_F(FileStoreTest, NothingButObjectsStays) {
  auto store = open();
  ASSERT_TRUE(store->put("k", Rope::literal("1"), {}));
  PutOptions options;
  options.precondition = Precondition::if_absent();
  ASSERT_TRUE(store->put("l", Rope::literal("1"), options));
  ASSERT_FALSE(store->put("l", Rope::literal("2"), options));
  options.precondition = Precondition::if_match("stale");
  ASSERT_FALSE(store->put("k", Rope::literal("3"), options));
  EXPECT_TRUE(sys::list_directory(root_ + "/.quarry/tmp")->empty());
  EXPECT_EQ(store->list("")->size(), 2u);
}

TEST_F(FileStoreTest, AFileIsReadableByTheWebServerAndAlone) {
  auto store = open();
  PutOptions options;
  options.precondition = Precondition::if_absent();
  ASSERT_TRUE(store->put("k", Rope::literal("1"), options));
  struct stat status{};
  ASSERT_EQ(::stat((root_ + "/k").c_str(), &status), 0);
  EXPECT_EQ(status.st_nlink, 1u);
  auto mask = ::umask(0);
  ::umask(mask);
  EXPECT_EQ(status.st_mode & 0777, 0666u & ~mask);
}

TEST_F(FileStoreTest, TheUmaskDecidesWhoMayWrite) {
  auto mask = ::umask(002); // a store that a group shares
  auto store = open();
  PutOptions options;
  auto written = store->put("a/k", Rope::literal("1"), options);
  ::umask(mask);
  ASSERT_TRUE(written);
  for (const auto& [path, mode] : std::map<std::string, unsigned>{
           {"/a", 0775}, {"/a/k", 0664}, {"/.quarry/locks", 0775}, {"/.quarry/tmp", 0775}}) {
    struct stat status{};
    ASSERT_EQ(::stat((root_ + path).c_str(), &status), 0) << path;
    EXPECT_EQ(status.st_mode & 0777, mode) << path;
  }
  auto locks = sys::list_directory(root_ + "/.quarry/locks");
  for (const auto& lock : *locks) EXPECT_EQ(lock.mode, 0664u) << lock.path;
}

TEST_F(FileStoreTest, ListingsDoNotEnterTheStoresOwnDirectory) {
  auto store = open();
  ASSERT_TRUE(store->put("k", Rope::literal("1"), {}));
  auto deep = root_ + "/.quarry/tmp";
  for (int i = 0; i < 300; ++i) deep += "/d"; // no listing follows so far
  ASSERT_TRUE(sys::make_directories(deep));
  auto listed = store->list("");
  ASSERT_TRUE(listed) << render(listed.error());
  EXPECT_EQ(listed->size(), 1u);
  EXPECT_TRUE(store->children("")->directories.empty());
}

// Temporaries and pages of other writers come and go between readdir and stat.
TEST_F(FileStoreTest, AListingWhileFilesComeAndGoSucceeds) {
  auto store = open();
  ASSERT_TRUE(store->put("stays/k", Rope::literal("1"), {}));
  std::atomic<bool> done = false;
  std::thread churn([&] {
    auto at = [&](int i) { return fmt::format("{}/stays/{}", root_, i); };
    while (!done) {
      for (int i = 0; i < 40; ++i) EXPECT_TRUE(i % 2 ? sys::make_directories(at(i)) : sys::write_file(at(i), "x"));
      for (int i = 0; i < 40; ++i) EXPECT_EQ(i % 2 ? ::rmdir(at(i).c_str()) : ::unlink(at(i).c_str()), 0);
    }
  });
  for (int round = 0; round < 500; ++round) {
    auto listed = store->list("");
    EXPECT_TRUE(listed) << render(listed.error());
    if (!listed) break;
    EXPECT_GE(listed->size(), 1u);
  }
  done = true;
  churn.join();
}

TEST_F(FileStoreTest, AHeadDoesNotReadTheObject) {
  auto store = open();
  ASSERT_TRUE(store->put("k", Rope::literal("12345"), {}));
  auto head = store->head("k");
  ASSERT_TRUE(head && *head);
  EXPECT_EQ((*head)->size, 5u);
  EXPECT_GT((*head)->modified_us, 0);
  EXPECT_EQ((*head)->etag, ""); // it is the sha256 of bytes that nobody read
}

TEST_F(FileStoreTest, LeftoversOfAKilledWriterAreRemovedWhenOldEnough) {
  auto store = open();
  ASSERT_TRUE(store->put("k", Rope::literal("1"), {}));
  ASSERT_TRUE(sys::write_file(root_ + "/.quarry/tmp/1-abc.partial", "half"));
  EXPECT_EQ(*store->remove_leftovers(0), 0u);
  EXPECT_EQ(*store->remove_leftovers(INT64_MAX), 1u);
  EXPECT_TRUE(sys::list_directory(root_ + "/.quarry/tmp")->empty());
  EXPECT_TRUE(*store->head("k"));
}

TEST_F(FileStoreTest, ADirectoryIsNoObject) {
  auto store = open();
  ASSERT_TRUE(store->put("a/b", Rope::literal("1"), {}));
  EXPECT_FALSE(*store->head("a"));
  EXPECT_FALSE(*store->get("a", 10));
  EXPECT_FALSE(store->put("a", Rope::literal("1"), {}));
  EXPECT_FALSE(store->put("a/b/c", Rope::literal("1"), {}));
}

TEST_F(FileStoreTest, AReadOnlyStoreSaysSo) {
  ASSERT_TRUE(open()->put("a/b", Rope::literal("1"), {}));
  for (const auto& place : {directory_.path(), root_, root_ + "/.quarry", root_ + "/.quarry/tmp"})
    ::chmod(place.c_str(), 0777);
  ::chmod((root_ + "/a").c_str(), 0555);
  auto child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::seteuid(65534) != 0) ::_exit(3); // root may write everywhere
    PutOptions options;
    options.precondition = Precondition::if_absent();
    auto refused = open()->put("a/c", Rope::literal("1"), options);
    ::_exit(refused ? 1 : refused.error().kind == ErrorKind::permission_denied ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ::chmod((root_ + "/a").c_str(), 0755);
  EXPECT_EQ(status, 0);
}

// Without the right to read a directory, a file can be removed from it, but the directory cannot be synced. While that
// is so, the repeated call must not say that the removal is safe.
TEST_F(FileStoreTest, ARemovalThatWasNotConfirmedIsConfirmedByTheNext) {
  ASSERT_TRUE(open()->put("a/b", Rope::literal("1"), {}));
  for (const auto& place : {directory_.path(), root_, root_ + "/.quarry", root_ + "/.quarry/locks"})
    ::chmod(place.c_str(), 0777);
  auto locks = sys::list_directory(root_ + "/.quarry/locks");
  ASSERT_TRUE(locks);
  for (const auto& lock : *locks) ::chmod((root_ + "/.quarry/locks/" + lock.path).c_str(), 0666);
  ::chmod((root_ + "/a").c_str(), 0333);
  auto child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::seteuid(65534) != 0) ::_exit(3); // root may read everywhere
    auto store = open();
    auto first = store->remove("a/b"), again = store->remove("a/b");
    bool gone = ::access((root_ + "/a/b").c_str(), F_OK) != 0;
    ::_exit(!gone ? 4 : first || first.error().code != "R004" ? 1 : again || again.error().code != "R004" ? 2 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ::chmod((root_ + "/a").c_str(), 0755);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  auto store = open();
  EXPECT_TRUE(store->remove("a/b"));
  EXPECT_TRUE(store->remove("never/was")) << "there is no directory to sync";
  EXPECT_TRUE(store->remove("a/b/c/d"));
}

// A child is killed in the middle of a large put: the name must not exist, and the next put must succeed.
TEST_F(FileStoreTest, AKilledPutLeavesNoName) {
  auto child = ::fork();
  if (child == 0) {
    PutOptions options;
    options.precondition = Precondition::if_absent();
    options.on_progress = [](std::uint64_t done) {
      if (done >= 2u << 20) ::kill(::getpid(), SIGKILL);
    };
    static_cast<void>(open()->put("big", Rope::zeros(8 << 20), options));
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  auto store = open();
  EXPECT_FALSE(*store->head("big"));
  EXPECT_TRUE(store->list("")->empty());
  EXPECT_EQ(sys::list_directory(root_ + "/.quarry/tmp")->size(), 1u);
  EXPECT_TRUE(store->put("big", Rope::zeros(8 << 20), {}));
  EXPECT_EQ(*store->remove_leftovers(INT64_MAX), 1u);
}

// Two processes, not threads: the lock must hold between them.
TEST_F(FileStoreTest, CompareAndSwapHoldsBetweenProcesses) {
  ASSERT_TRUE(open()->put("n", Rope::literal("0"), {}));
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) {
    auto child = ::fork();
    if (child == 0) {
      auto store = open();
      for (int done = 0; done < 10;) {
        std::string etag;
        auto now = store->get("n", 100, &etag);
        if (!now || !*now) ::_exit(1);
        PutOptions options;
        options.precondition = Precondition::if_match(etag);
        auto put = store->put("n", Rope::literal(std::to_string(std::stoi(**now) + 1)), options);
        if (put)
          ++done;
        else if (put.error().code != "R003")
          ::_exit(2);
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (auto child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(**open()->get("n", 100), "30");
}

Result<std::unique_ptr<ObjectStore>> opened_at(const std::string& locator) {
  static const sys::FixedClock clock(0);
  return store::open_store(locator, {{{"AWS_REGION", "eu-west-1"}}, clock});
}

TEST(OpenStore, LocatorsAndWhatHasNoBackend) {
  EXPECT_EQ((*opened_at("file:some/where"))->describe(), "file:some/where");
  EXPECT_EQ((*opened_at("some/where"))->describe(), "file:some/where");
  EXPECT_EQ((*opened_at("file:///srv/a%20b"))->describe(), "file:/srv/a b");
  EXPECT_EQ((*opened_at("/srv/x"))->url("k"), "file:///srv/x/k");
  EXPECT_EQ((*opened_at("s3://bucket/some/prefix/"))->describe(), "s3://bucket/some/prefix");
  EXPECT_EQ((*opened_at("s3://bucket/p"))->url("a b"), "https://bucket.s3.eu-west-1.amazonaws.com/p/a%20b");
  EXPECT_EQ((*opened_at("https://example.org/x"))->url("a b"), "https://example.org/x/a%20b");
  for (const auto* locator : {"s3://Bucket/x", "s3:bucket/x", "s3:/bucket/x"})
    EXPECT_EQ(opened_at(locator).error().code, "K001") << locator;
  for (const std::string locator : {"gs://b", "az://b", "memory:", "S3://bucket/p", "HTTPS://example.org/x"}) {
    auto opened = opened_at(locator);
    ASSERT_FALSE(opened) << locator;
    EXPECT_EQ(opened.error().code, "R006");
    EXPECT_EQ(opened.error().kind, ErrorKind::invalid_argument);
  }
  for (const std::string locator : {"", "file:", "file://", "file://localhost"})
    EXPECT_EQ(opened_at(locator).error().code, "R006") << locator;
}

TEST(OpenStore, AFileUrlNamesThisMachine) {
  EXPECT_EQ((*opened_at("file://localhost/srv/a%20b"))->describe(), "file:/srv/a b");
  EXPECT_EQ((*opened_at("file://LOCALHOST/srv"))->describe(), "file:/srv");
  for (const std::string locator :
       {"file://store", "file://store/42-linux", "file://localhosts/srv", "file://127.0.0.2/x"}) {
    auto opened = opened_at(locator);
    ASSERT_FALSE(opened) << locator;
    EXPECT_EQ(opened.error().code, "R006");
    EXPECT_NE(opened.error().hint.find("file:///PATH"), std::string::npos);
  }
}

TEST(OpenStore, AFileIsNoStore) {
  TemporaryDirectory directory;
  ASSERT_TRUE(sys::write_file(directory.path() + "/f", "x"));
  auto opened = opened_at("file:" + directory.path() + "/f");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, "R006");
}

} // namespace
} // namespace quarry::store
