// What distributions show is compared with the channels that feed them.
#include "release/fed.hpp"

#include "publish/move.hpp"
#include "registry/testing/samples.hpp"
#include "release/deliver.hpp"
#include "sys/clock.hpp"
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::release {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t k_looked_us = 1'763'640'000'000'000;
const auto k_looked_at = sys::Timestamp::from_us(k_looked_us);

class FedDirectories : public ::testing::Test {
protected:
  registry::SealedSet sample(int number) {
    auto version = fmt::format("{}", number);
    return registry::testing::sealed_sample(*store_, fmt::format("{}-linux/python/g", number),
                                            {{fmt::format("a-{}-py3-none-any.whl", number), "a", version}});
  }
  void show(const std::string& channel, const registry::SealedSet& set) {
    publish::Reason reason;
    reason.action = registry::Action::publish;
    reason.when = k_looked_at;
    ASSERT_TRUE(publish::add_sets(*store_, channel, {set}, reason));
  }
  void copy(const registry::SealedSet& set) {
    promote::Options options;
    options.when = k_looked_at;
    Destination to{"memory", "v2/all", target_};
    auto done = deliver({*store_, to, {set}}, {}, options);
    ASSERT_TRUE(done) << render(done.error());
  }
  FedDistribution look(const Given& given, bool all_channels) {
    Feedings feedings;
    add_feeding(feedings, given, "v2/all");
    EXPECT_EQ(feedings.size(), 1u);
    auto& feeding = feedings["v2/all"];
    feeding.all_channels = all_channels;
    auto found = look_at_distribution(*store_, *target_, "v2/all", feeding);
    EXPECT_TRUE(found) << render(found.error());
    return found ? *found : FedDistribution{};
  }

  sys::FixedClock clock_{k_looked_us};
  std::unique_ptr<store::ObjectStore> store_ = store::make_memory_store(&clock_);
  std::shared_ptr<store::ObjectStore> target_ = store::make_memory_store(&clock_);
};

TEST_F(FedDirectories, WhatItLacksAndWhatIsTooMuch) {
  auto one = sample(1), two = sample(2);
  show("stable", one);
  EXPECT_THAT(look({"stable", {one}, {}}, true).lacks, ElementsAre(one.digest)) << "no pointer yet";
  copy(one);
  auto found = look({"stable", {one}, {}}, true);
  EXPECT_THAT(found.lacks, IsEmpty());
  EXPECT_THAT(found.strays, IsEmpty());
  EXPECT_EQ(found.generation, 1u);
  EXPECT_THAT(found.channels, ElementsAre("stable"));

  copy(two);
  EXPECT_THAT(look({"stable", {one}, {}}, true).strays, ElementsAre(two.digest));
  EXPECT_THAT(look({"stable", {one}, {}}, false).strays, IsEmpty()) << "another channel may have brought it";
  show("stable", two);
  EXPECT_THAT(look({"stable", {one, two}, {}}, true).strays, IsEmpty());
  EXPECT_THAT(look({"stable", {}, {two}}, true).lacks, IsEmpty()) << "what was taken back need not be there";
}

TEST_F(FedDirectories, APointerThatIsGoneIsLost) {
  auto one = sample(1);
  show("stable", one);
  copy(one);
  ASSERT_TRUE(target_->remove("v2/all/distribution.json"));
  auto found = look({"stable", {one}, {}}, true);
  ASSERT_TRUE(found.lost);
  EXPECT_EQ(found.lost->code, "R010");
  EXPECT_FALSE(found.generation);
  EXPECT_THAT(found.lacks, IsEmpty()) << "nobody knows what it shows";
}

TEST_F(FedDirectories, ASetThatThePrefixHasNoPlaceForIsLeftOut) {
  auto one = sample(1);
  one.set.origin.group.clear();
  Feedings feedings;
  add_feeding(feedings, {"stable", {one}, {one}}, "v2/{family}");
  EXPECT_THAT(feedings, IsEmpty());
}

} // namespace
} // namespace quarry::release
