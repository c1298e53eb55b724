#include "run/find_runs.hpp"

#include "sys/file.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::run {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RunsOfAStore : public ::testing::Test {
protected:
  RunsOfAStore() {
    for (const std::string key :
         {"42-linux/python/g/dist/a.whl", "42-windows/index.html", "421-linux/x", "4-linux/x", "142-linux/x",
          "owner-repo/42-linux/x", "owner-repo/43-linux/x", "other-repo/421-windows/x", "channels/stable.json",
          "channels/42-linux.json", "sets/42.json", "42-other/x", "42-linux.json", "deep/owner/42-linux/x"})
      EXPECT_TRUE(store_->put(key, content::Rope::literal("1"), {}));
  }
  std::vector<std::string> found(const std::string& text) {
    auto runs = find_runs(*store_, *parse_locator(text));
    EXPECT_TRUE(runs) << render(runs.error());
    std::vector<std::string> prefixes;
    for (const auto& run : *runs) prefixes.push_back(run.prefix());
    return prefixes;
  }
  std::unique_ptr<store::ObjectStore> store_ = store::make_memory_store();
};

TEST_F(RunsOfAStore, ByNumberAtTheRootAndBelowRepositories) {
  EXPECT_THAT(found("run:42"), ElementsAre("42-linux/", "42-windows/", "owner-repo/42-linux/"));
  EXPECT_THAT(found("run:42-windows"), ElementsAre("42-windows/"));
  EXPECT_THAT(found("run:421"), ElementsAre("421-linux/", "other-repo/421-windows/"));
  EXPECT_THAT(found("run:owner-repo/42"), ElementsAre("owner-repo/42-linux/"));
  EXPECT_THAT(found("run:7"), IsEmpty());
  EXPECT_EQ(find_run(*store_, *parse_locator("run:42-linux"))->prefix(), "42-linux/"); // whatever else fits
  EXPECT_EQ(find_run(*store_, *parse_locator("run:43"))->prefix(), "owner-repo/43-linux/");
  EXPECT_EQ(find_run(*store_, *parse_locator("run:42")).error().code, "L011");
  EXPECT_EQ(find_run(*store_, *parse_locator("run:7")).error().code, "L010");
}

/// Refuses to list what lies below a run: a bucket of 500,000 objects takes minutes.
class Shallow final : public store::ObjectStore {
public:
  explicit Shallow(store::ObjectStore& inner) : inner_(inner) {}
  std::string describe() const override { return inner_.describe(); }
  Result<std::optional<store::ObjectInfo>> do_head(const std::string& key) override { return inner_.head(key); }
  Result<std::optional<std::string>> do_get(const std::string& key, std::uint64_t most, std::string* etag) override {
    return inner_.get(key, most, etag);
  }
  Result<content::Rope> do_open(const std::string& key) override { return inner_.open(key); }
  Result<store::ObjectInfo> do_put(const std::string& key, const content::Rope& content,
                                   const store::PutOptions& options) override {
    return inner_.put(key, content, options);
  }
  Result<void> do_copy(const store::CopyRequest& asked) override {
    return inner_.copy(asked.from, asked.to, asked.options);
  }
  Result<void> do_remove(const std::string& key) override { return inner_.remove(key); }
  Result<std::vector<store::ObjectInfo>> do_list(const std::string& prefix) override {
    return fail(ErrorKind::internal, "R099", "everything below `" + prefix + "` was listed");
  }
  Result<store::Children> do_children(const std::string& prefix) override { return inner_.children(prefix); }
  store::Counters counters() const override { return inner_.counters(); }
  std::string url(const std::string& key) const override { return inner_.url(key); }

private:
  store::ObjectStore& inner_;
};

TEST_F(RunsOfAStore, ListsNamesAndNotWhatRunsHold) {
  Shallow shallow(*store_);
  for (const std::string text : {"run:42", "run:42-linux", "run:owner-repo/42", "run:7"})
    EXPECT_TRUE(find_runs(shallow, *parse_locator(text))) << text;
  EXPECT_TRUE(find_run(shallow, *parse_locator("run:42-linux")));
}

TEST_F(RunsOfAStore, AnEmptyDirectoryIsNotARun) {
  auto root = *sys::make_temporary_directory(::testing::TempDir(), "quarry-runs-");
  ASSERT_TRUE(sys::make_directories(root + "/42-linux"));
  ASSERT_TRUE(sys::make_directories(root + "/42-windows/x"));
  auto store = std::move(*store::open_file_store(root));
  EXPECT_THAT(find_runs(*store, *parse_locator("run:42-linux")).value(), IsEmpty());
  EXPECT_EQ(find_run(*store, *parse_locator("run:42-linux")).error().code, "L010");
  EXPECT_TRUE(sys::remove_tree(root));
}

} // namespace
} // namespace quarry::run
