#include "app/resources.hpp"

#include "app/embedded.hpp"
#include "sys/file.hpp"
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::app {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view k_codes = "data/codes/cli.toml";

class ResourcesTest : public ::testing::Test {
protected:
  void SetUp() override {
    auto made = sys::make_temporary_directory(::testing::TempDir(), "resources-");
    ASSERT_TRUE(made);
    root_ = *made;
  }
  void TearDown() override { EXPECT_TRUE(sys::remove_tree(root_)); }
  std::string write(const std::string& place, const std::string& name, std::string_view content) {
    auto file = root_ + "/" + place + "/" + name;
    EXPECT_TRUE(sys::make_directories(file.substr(0, file.rfind('/'))));
    EXPECT_TRUE(sys::write_file(file, content));
    return file;
  }
  std::unique_ptr<Resources> both() {
    return make_resources({.repository = root_ + "/repository", .share = root_ + "/share"});
  }
  std::string root_;
};

TEST_F(ResourcesTest, CarriesWhatOneFileNeeds) {
  auto resources = make_resources({});
  auto names = resources->list("");
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_THAT(names, Contains("launcher"));
  EXPECT_THAT(names, Contains("data/recipes/rocm-sdk.toml"));
  EXPECT_THAT(names, Not(Contains(StartsWith("python/tests/"))));
  EXPECT_TRUE(resources->read("launcher")
                  ->starts_with("\x7f"
                                "ELF"));
  EXPECT_EQ(resources->origin("launcher"), "embedded");
}

TEST_F(ResourcesTest, EmbeddedBytesAreTheFilesBytes) {
  auto resources = make_resources({});
  for (const auto& name : resources->list("data/")) {
    auto file = sys::read_file(std::string(QUARRY_SOURCE_DIR) + "/" + name);
    ASSERT_TRUE(file) << name;
    EXPECT_EQ(resources->read(name), *file) << name;
  }
}

TEST_F(ResourcesTest, ListsBelowAPrefix) {
  auto resources = make_resources({});
  EXPECT_THAT(resources->list("data/codes/"), Each(StartsWith("data/codes/")));
  EXPECT_THAT(resources->list("data/codes/cli"), ::testing::ElementsAre(k_codes));
  EXPECT_THAT(resources->list("nothing/"), IsEmpty());
}

TEST_F(ResourcesTest, TheRepositoryWinsOverShareAndShareOverTheProgram) {
  auto share = write("share", std::string(k_codes), "share");
  EXPECT_EQ(both()->read(k_codes), "share");
  auto repository = write("repository", std::string(k_codes), "repository");
  EXPECT_EQ(both()->read(k_codes), "repository");
  EXPECT_EQ(both()->origin(k_codes), repository);
  EXPECT_EQ(make_resources({.repository = "", .share = root_ + "/share"})->origin(k_codes), share);
}

TEST_F(ResourcesTest, NewFilesAreListedOnceAndOnlyWhereOurDataLies) {
  write("repository", "data/policies/own.toml", "x");
  write("repository", std::string(k_codes), "x");
  write("repository", "data/pictures/cat.png", "x");
  auto names = both()->list("data/");
  EXPECT_THAT(names, Contains("data/policies/own.toml"));
  EXPECT_THAT(names, Not(Contains("data/pictures/cat.png")));
  EXPECT_EQ(std::count(names.begin(), names.end(), k_codes), 1);
}

TEST_F(ResourcesTest, ARepositoryOverridesDataAndNothingElse) {
  write("repository", "launcher", "x");
  write("repository", "python/rocm/pyproject.toml", "x");
  EXPECT_EQ(both()->origin("launcher"), "embedded");
  EXPECT_EQ(both()->origin("python/rocm/pyproject.toml"), "embedded");
  auto share = write("share", "python/rocm/pyproject.toml", "x");
  EXPECT_EQ(both()->origin("python/rocm/pyproject.toml"), share);
}

TEST_F(ResourcesTest, NamesDoNotLeadOutside) {
  write("secret", "x", "x");
  write("repository", std::string(k_codes), "x");
  for (const char* name :
       {"data/../../secret/x", "../secret/x", "/etc/passwd", "data//codes/cli.toml", "data/codes/", ""}) {
    EXPECT_EQ(both()->read(name), std::nullopt) << name;
    EXPECT_EQ(both()->origin(name), "") << name;
  }
}

} // namespace
} // namespace quarry::app
