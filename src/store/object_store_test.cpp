// What every backend promises, run against each of them.
#include "store/object_store.hpp"
#include "store/put_once.hpp"
#include "store/testing/faulty_store.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <atomic>
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace quarry::store {
namespace {

using content::Rope;
using ::testing::ElementsAre;

class TemporaryDirectory {
public:
  TemporaryDirectory() : path_(*sys::make_temporary_directory(::testing::TempDir(), "quarry-store-")) {}
  ~TemporaryDirectory() {
    if (!sys::remove_tree(path_)) ADD_FAILURE() << "cannot remove " << path_;
  }
  const std::string& path() const { return path_; }

private:
  std::string path_;
};

class Conformance : public ::testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    if (GetParam() == "memory")
      store_ = make_memory_store();
    else
      store_ = std::move(*open_file_store(directory_.path() + "/s"));
  }
  Result<ObjectInfo> put(const std::string& key, const std::string& bytes, Precondition precondition = {}) {
    PutOptions options;
    options.precondition = std::move(precondition);
    return store_->put(key, Rope::literal(bytes), options);
  }
  std::string get(const std::string& key, std::string* etag = nullptr) {
    auto bytes = store_->get(key, 1 << 20, etag);
    EXPECT_TRUE(bytes) << render(bytes.error());
    return bytes && *bytes ? **bytes : "(absent)";
  }
  std::vector<std::string> keys(const std::string& prefix) {
    std::vector<std::string> found;
    auto objects = store_->list(prefix);
    EXPECT_TRUE(objects) << render(objects.error());
    for (const auto& object : *objects) found.push_back(object.key);
    return found;
  }
  TemporaryDirectory directory_;
  std::unique_ptr<ObjectStore> store_;
};
INSTANTIATE_TEST_SUITE_P(Backends, Conformance, ::testing::Values("memory", "file"),
                         [](const auto& backend) { return backend.param; });

TEST_P(Conformance, AnObjectReadsBackAsItWasPut) {
  auto info = put("a/b+c é.txt", "hello");
  ASSERT_TRUE(info) << render(info.error());
  EXPECT_EQ(info->size, 5u);
  std::string etag;
  EXPECT_EQ(get("a/b+c é.txt", &etag), "hello");
  EXPECT_EQ(etag, info->etag);
  auto head = store_->head("a/b+c é.txt");
  ASSERT_TRUE(head && *head);
  EXPECT_EQ((*head)->size, 5u);
  EXPECT_EQ((*head)->etag, etag);
  EXPECT_EQ(*store_->open("a/b+c é.txt")->read_all(100), "hello");
}

TEST_P(Conformance, AnEmptyObjectIsAnObject) {
  ASSERT_TRUE(put("empty", ""));
  EXPECT_EQ(get("empty"), "");
  EXPECT_TRUE(*store_->head("empty"));
}

TEST_P(Conformance, WhatIsNotThereIsNotAnError) {
  EXPECT_FALSE(*store_->head("nothing"));
  EXPECT_FALSE(*store_->get("nothing", 10));
  EXPECT_FALSE(*store_->head("nothing/below"));
  EXPECT_TRUE(store_->list("no/such/place/")->empty());
  EXPECT_TRUE(store_->remove("nothing"));
  auto opened = store_->open("nothing");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, "R001");
  EXPECT_EQ(opened.error().kind, ErrorKind::not_found);
}

TEST_P(Conformance, GetIsBounded) {
  ASSERT_TRUE(put("k", "12345"));
  EXPECT_TRUE(*store_->get("k", 5));
  auto bounded = store_->get("k", 4);
  ASSERT_FALSE(bounded);
  EXPECT_EQ(bounded.error().code, "R007");
}

TEST_P(Conformance, PutWithoutConditionReplaces) {
  ASSERT_TRUE(put("k", "1"));
  ASSERT_TRUE(put("k", "two"));
  EXPECT_EQ(get("k"), "two");
}

TEST_P(Conformance, IfAbsentWritesOnceEvenForEqualBytes) {
  ASSERT_TRUE(put("k", "1", Precondition::if_absent()));
  for (const std::string bytes : {"1", "2"}) {
    auto again = put("k", bytes, Precondition::if_absent());
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, "R002");
    EXPECT_EQ(again.error().kind, ErrorKind::already_exists);
  }
  EXPECT_EQ(get("k"), "1");
}

TEST_P(Conformance, IfMatchNeedsTheCurrentEtag) {
  auto first = put("k", "1");
  ASSERT_TRUE(put("k", "2", Precondition::if_match(first->etag)));
  auto stale = put("k", "3", Precondition::if_match(first->etag));
  ASSERT_FALSE(stale);
  EXPECT_EQ(stale.error().code, "R003");
  EXPECT_EQ(stale.error().kind, ErrorKind::precondition_failed);
  EXPECT_EQ(get("k"), "2");
}

TEST_P(Conformance, IfMatchOfAnAbsentObjectFails) {
  auto put_match = put("k", "3", Precondition::if_match("abc"));
  ASSERT_FALSE(put_match);
  EXPECT_EQ(put_match.error().code, "R003");
  EXPECT_FALSE(*store_->head("k"));
}

TEST_P(Conformance, BytesThatAreNotThePromisedOnesGetNoName) {
  PutOptions options;
  options.sha256 = sha256("expected");
  auto other = store_->put("k", Rope::literal("changed"), options);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, "R008");
  EXPECT_EQ(other.error().kind, ErrorKind::corrupt);
  EXPECT_FALSE(*store_->head("k"));
  EXPECT_TRUE(store_->put("k", Rope::literal("expected"), options));
}

TEST_P(Conformance, ListIsAStringPrefixSortedBytewise) {
  for (const std::string key : {"b", "a/2", "a/10", "a.x", "a/b/c", "a0"}) ASSERT_TRUE(put(key, key));
  EXPECT_THAT(keys(""), ElementsAre("a.x", "a/10", "a/2", "a/b/c", "a0", "b"));
  EXPECT_THAT(keys("a/"), ElementsAre("a/10", "a/2", "a/b/c"));
  EXPECT_THAT(keys("a/1"), ElementsAre("a/10"));
  EXPECT_THAT(keys("a"), ElementsAre("a.x", "a/10", "a/2", "a/b/c", "a0"));
  EXPECT_EQ((*store_->list("a/b/c"))[0].size, 5u);
}

TEST_P(Conformance, CopyKeepsTheBytesAndTheCondition) {
  ASSERT_TRUE(put("from", "bytes"));
  PutOptions once;
  once.precondition = Precondition::if_absent();
  ASSERT_TRUE(store_->copy("from", "x/to", once));
  EXPECT_EQ(get("x/to"), "bytes");
  auto again = store_->copy("from", "x/to", once);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, "R002");
  auto missing = store_->copy("nothing", "y", {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, "R001");
}

TEST_P(Conformance, RemovedIsGoneAndMayComeBack) {
  ASSERT_TRUE(put("k", "1"));
  ASSERT_TRUE(store_->remove("k"));
  EXPECT_FALSE(*store_->head("k"));
  EXPECT_TRUE(put("k", "2", Precondition::if_absent()));
}

TEST_P(Conformance, KeysThatCannotBeAreRefusedEverywhere) {
  const std::string long_component(256, 'x');
  std::string long_key = "a";
  while (long_key.size() <= 1024) long_key += "/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
  for (const auto& key : {std::string(), std::string("/a"), std::string("a/"), std::string("a//b"), std::string("."),
                          std::string("a/../b"), std::string("a\nb"), std::string("a\0b", 3),
                          std::string(".quarry/tmp/x"), long_component, long_key}) {
    SCOPED_TRACE(key);
    auto refused = put(key, "x");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "R005");
    EXPECT_FALSE(store_->get(key, 1));
    EXPECT_FALSE(store_->head(key));
    EXPECT_FALSE(store_->open(key));
    EXPECT_FALSE(store_->remove(key));
  }
}

TEST_P(Conformance, ProgressTellsBytes) {
  std::uint64_t seen = 0;
  PutOptions options;
  options.on_progress = [&](std::uint64_t done) { seen = done; };
  ASSERT_TRUE(store_->put("k", Rope::zeros(3 << 20), options));
  EXPECT_EQ(seen, 3u << 20);
}

TEST_P(Conformance, CountersTellWhatHappened) {
  ASSERT_TRUE(put("k", "12345"));
  get("k");
  ASSERT_FALSE(put("k", "12", Precondition::if_absent()));
  auto counters = store_->counters();
  EXPECT_EQ(counters.puts, 1u);
  EXPECT_EQ(counters.gets, 1u);
  EXPECT_EQ(counters.bytes_written, 5u);
  EXPECT_EQ(counters.bytes_read, 5u);
}

TEST_P(Conformance, OfManyFirstWritersOneWins) {
  std::atomic<int> winners = 0;
  auto race = parallel_for(16, 8, [&](std::size_t i) -> Result<void> {
    auto written = put("deep/er/k", std::to_string(i), Precondition::if_absent());
    if (written)
      ++winners;
    else
      EXPECT_EQ(written.error().code, "R002");
    return {};
  });
  ASSERT_TRUE(race);
  EXPECT_EQ(winners, 1);
}

TEST_P(Conformance, CompareAndSwapLosesNoIncrement) {
  ASSERT_TRUE(put("counter", "0"));
  auto race = parallel_for(8, 8, [&](std::size_t) -> Result<void> {
    for (int done = 0; done < 5;) {
      std::string etag;
      TRY(auto now, store_->get("counter", 100, &etag));
      auto swapped = put("counter", std::to_string(std::stoi(*now) + 1), Precondition::if_match(etag));
      if (swapped)
        ++done;
      else if (swapped.error().code != "R003")
        return fail(std::move(swapped).error());
    }
    return {};
  });
  ASSERT_TRUE(race) << render(race.error());
  EXPECT_EQ(get("counter"), "40");
}

TEST_P(Conformance, PutOnceIsIdempotentAndRefusesOtherBytes) {
  Once once{Rope::literal("one"), sha256("one"), "text/plain", {}};
  EXPECT_TRUE(*put_once(*store_, "k", once));
  EXPECT_FALSE(*put_once(*store_, "k", once));
  auto conflict = put_once(*store_, "k", {Rope::literal("two"), sha256("two"), {}, {}});
  ASSERT_FALSE(conflict);
  EXPECT_EQ(conflict.error().code, "R009");
  EXPECT_EQ(conflict.error().kind, ErrorKind::already_exists);
  EXPECT_THAT(conflict.error().details,
              ElementsAre("published  sha256 " + sha256("one").hex(), "new        sha256 " + sha256("two").hex()));
  EXPECT_EQ(get("k"), "one");
}

TEST_P(Conformance, PutOnceLooksWhenTheReplyWasLost) {
  testing::FaultyStore faulty(*store_, {testing::FaultyStore::Fault::lose_reply, 1, false});
  Once once{Rope::literal("one"), sha256("one"), {}, {}};
  auto written = put_once(faulty, "k", once);
  ASSERT_TRUE(written) << render(written.error());
  EXPECT_TRUE(*written);
  EXPECT_EQ(get("k"), "one");
}

TEST_P(Conformance, PutOnceReportsARefusedWrite) {
  testing::FaultyStore faulty(*store_, {testing::FaultyStore::Fault::refuse, 1, false});
  auto written = put_once(faulty, "k", {Rope::literal("one"), sha256("one"), {}, {}});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::unavailable);
  EXPECT_FALSE(*store_->head("k"));
}

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
  EXPECT_EQ(status.st_mode & 0777, 0644u & ~mask);
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

TEST(OpenStore, LocatorsAndWhatHasNoBackend) {
  EXPECT_EQ((*open_store("file:some/where"))->describe(), "file:some/where");
  EXPECT_EQ((*open_store("some/where"))->describe(), "file:some/where");
  EXPECT_EQ((*open_store("file:///srv/a%20b"))->describe(), "file:/srv/a b");
  EXPECT_EQ((*open_store("/srv/x"))->url("k"), "file:///srv/x/k");
  for (const std::string locator : {"s3://bucket/prefix", "https://example.org/x", "gs://b"}) {
    auto opened = open_store(locator);
    ASSERT_FALSE(opened) << locator;
    EXPECT_EQ(opened.error().code, "R006");
    EXPECT_EQ(opened.error().kind, ErrorKind::unsupported);
  }
  for (const std::string locator : {"", "file:"})
    EXPECT_EQ(open_store(locator).error().kind, ErrorKind::invalid_argument);
}

TEST(OpenStore, AFileIsNoStore) {
  TemporaryDirectory directory;
  ASSERT_TRUE(sys::write_file(directory.path() + "/f", "x"));
  auto opened = open_store("file:" + directory.path() + "/f");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, "R006");
}

} // namespace
} // namespace quarry::store
