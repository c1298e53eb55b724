// A channel of a release gets another policy after the release was planned.
#include "release/plan.hpp"

#include "promote/bound.hpp"
#include "promote/guard.hpp"
#include "publish/testing/invariants.hpp"
#include "release/testing/two_families.hpp"
#include "store/testing/faulty_store.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::release {
namespace {

using publish::testing::differences;
using publish::testing::snapshot;
using store::testing::FaultyStore;
using ::testing::HasSubstr;
using testing::options_of;

const std::string k_moved_first = "stable-gfx110x-all",
                  k_moved_second = "stable-gfx94x-dcgpu"; // in the order of their moves

/// Two protected channels; each part of the release is judged by what is bound to its channel.
class ReboundRelease : public ::testing::Test {
protected:
  void SetUp() override {
    for (const auto& channel : {k_moved_first, k_moved_second}) {
      testing::waive_everything(*store_, channel);
      bind(channel, law_);
    }
    request_.policy_named = false;
    request_.policy_of = [this](const std::string& channel) -> Result<gate::Policy> {
      TRY(auto bound, promote::policy_of(*store_, channel));
      return *bound;
    };
  }
  void bind(const std::string& channel, const gate::Policy& policy) {
    auto bound = promote::protect(*store_, channel, policy, {"owner", testing::k_moved_at, "why", {}});
    ASSERT_TRUE(bound) << render(bound.error());
  }
  std::uint64_t generation(const std::string& channel) {
    return registry::require_channel(*store_, channel)->record.generation;
  }

  std::unique_ptr<store::ObjectStore> store_ = store::make_memory_store();
  testing::TwoFamilies both_{*store_};
  Request request_ = testing::request_of(both_.sets);
  gate::Policy law_ = testing::policy(),
               stricter_ = testing::policy("derived = \"accept\"\nderived_suites = [\"smoke\"]\n");
};

TEST_F(ReboundRelease, TheReviewedPlanIsStale) {
  auto planned = promote_all(*store_, request_, options_of({}, true));
  ASSERT_TRUE(planned && !planned->held) << render(planned.error());
  bind(k_moved_second, stricter_);
  auto before = snapshot(*store_);
  auto refused = promote_all(*store_, request_, options_of(planned->digest.hex()));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "O002");
  EXPECT_EQ(differences(before, snapshot(*store_)), "") << "the other channel stays, too";
}

TEST_F(ReboundRelease, WhatIsLeftOfABegunPlanIsNotJudgedByAnotherPolicy) {
  auto planned = promote_all(*store_, request_, options_of({}, true));
  ASSERT_TRUE(planned) << render(planned.error());
  const auto digest = planned->digest.hex();
  FaultyStore racing(*store_);
  bool raced = false;
  racing.after_call = [&](std::uint64_t call) {
    if (raced || racing.log().at(call - 1) != "put channels/" + k_moved_first + ".json") return;
    raced = true;
    bind(k_moved_second, stricter_);
  };
  auto stopped = promote_all(racing, request_, options_of(digest));
  ASSERT_TRUE(raced && !stopped);
  EXPECT_EQ(stopped.error().code, "O019") << render(stopped.error());
  EXPECT_TRUE(unfinished(*store_)->empty()) << "its --execute is refused";
  auto at = generation(k_moved_second);
  auto refused = promote_all(*store_, request_, options_of(digest));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "O002");
  EXPECT_THAT(refused.error().message, HasSubstr("for another request of channel " + k_moved_second));
  EXPECT_EQ(generation(k_moved_second), at);
  auto anew = promote_all(*store_, request_, options_of());
  ASSERT_TRUE(anew && !anew->held) << render(anew.error());
  EXPECT_EQ(generation(k_moved_second), at + 1) << "planned by the policy that is bound now";
}

TEST_F(ReboundRelease, APolicyThatIsBoundWhileItIsPlannedIsAskedForAgain) {
  for (bool named : {true, false}) {
    bind(k_moved_second, law_);
    int asked = 0;
    auto request = request_;
    request.policy_named = named;
    request.policy_of = [&](const std::string& channel) -> Result<gate::Policy> {
      TRY(auto bound, promote::policy_of(*store_, channel));
      if (channel == k_moved_second && ++asked == 1) bind(k_moved_second, stricter_);
      return *bound;
    };
    auto done = promote_all(*store_, request, options_of());
    if (named) {
      ASSERT_FALSE(done);
      EXPECT_EQ(done.error().code, "O012") << render(done.error());
      EXPECT_EQ(generation(k_moved_first), 1u) << "no channel has moved";
      continue;
    }
    ASSERT_TRUE(done) << render(done.error());
    EXPECT_EQ(asked, 2);
    EXPECT_EQ(generation(k_moved_first), 2u);
  }
}

} // namespace
} // namespace quarry::release
