#include "release/storage.hpp"

#include "store/testing/temporary_directory.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::release {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ExamineStore : public ::testing::Test {
protected:
  std::vector<std::string> told(const std::string& place) {
    std::vector<std::string> rows;
    for (const auto& check : examine_store(place, {{}, clock_}))
      rows.push_back(check.name + " " + std::string(to_string(check.health)));
    return rows;
  }
  std::size_t entries(const std::string& place) { return sys::list_directory(place)->size(); }

  sys::FixedClock clock_{1'769'000'000'000'000};
  store::testing::TemporaryDirectory directory_;
};

TEST_F(ExamineStore, ADirectoryIsTriedAndLeftAsItWas) {
  EXPECT_THAT(told(directory_.path()), ElementsAre("write ok", "read ok", "copy ok", "list ok", "delete ok"));
  EXPECT_EQ(entries(directory_.path()), 0u);
}

TEST_F(ExamineStore, AStoreIsTriedInPlace) {
  auto store = std::move(*store::open_file_store(directory_.path()));
  ASSERT_TRUE(store->put("kept", content::Rope::literal("x"), {}));
  auto before = entries(directory_.path());
  EXPECT_THAT(told(directory_.path()), ElementsAre("write ok", "read ok", "copy ok", "list ok", "delete ok"));
  EXPECT_EQ(entries(directory_.path()), before);
}

TEST_F(ExamineStore, OneThatDoesNotExistYetIsTriedBesideIt) {
  auto place = path::join(directory_.path(), "not/there");
  EXPECT_THAT(told(place), ElementsAre("write ok", "read ok", "copy ok", "list ok", "delete ok", "store note"));
  EXPECT_EQ(entries(directory_.path()), 0u);
}

TEST_F(ExamineStore, WhatIsNotAStoreIsOneFailure) {
  auto file = path::join(directory_.path(), "file");
  ASSERT_TRUE(sys::write_file(file, "x"));
  EXPECT_THAT(told(file), ElementsAre("store failed"));
}

TEST(RefuseWhatExpires, ADirectoryDeletesNothingByItself) {
  sys::FixedClock clock{0};
  store::Surroundings surroundings{{}, clock};
  auto store = store::make_memory_store();
  std::string locator = "file:s";
  auto findings = refuse_what_expires({locator, surroundings, *store}, {{"stable", {}}});
  ASSERT_TRUE(findings) << render(findings.error());
  EXPECT_THAT(*findings, IsEmpty());
  EXPECT_EQ(store->counters().gets, 0u);
}

} // namespace
} // namespace quarry::release
