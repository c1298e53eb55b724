// What a lifecycle rule would delete is copied to where none does, and the channel names the copy.
#include "promote/pin.hpp"

#include "gate/collect.hpp"
#include "gate/testing/policies.hpp"
#include "promote/promote.hpp"
#include "registry/testing/samples.hpp"
#include <gtest/gtest.h>

namespace quarry::promote {
namespace {

const std::int64_t k_pin_noon = *sys::parse_rfc3339("2026-11-20T12:00:00Z");
constexpr const char* k_open = "[states]\nno_runner = \"waive\"\n[[require]]\nplatforms=[\"*\"]\nfamilies=[\"*\"]\n"
                               "pythons=[\"*\"]\nsuites=[\"smoke\"]\n[[family]]\nfamilies=[\"*\"]\n"
                               "state=\"no_runner\"\nreason=\"a test of copies\"\n";

s3::ExpiryRule rule(const std::string& prefix) { return {"clean", prefix, "after 30 days", false}; }

class Pin : public ::testing::Test {
protected:
  void SetUp() override {
    for (const auto* run : {"1", "2"}) {
      std::string project = std::string("p") + run;
      sets_.push_back(registry::testing::sealed_sample(*store_, std::string(run) + "-linux/python/g",
                                                       {{project + "-1-py3-none-any.whl", project, "1"}}));
    }
  }
  Result<Receipt> move(const std::vector<s3::ExpiryRule>& rules) {
    Request request{{"test", sets_, *registry::union_of(sets_), {}, 0},
                    "stable",
                    gate::testing::parsed_policy(k_open),
                    false,
                    k_pin_noon};
    request.pin_from = rules;
    return promote(*store_, request, {"tester", sys::Timestamp::from_us(k_pin_noon), "why", {}, false});
  }
  std::unique_ptr<store::ObjectStore> store_ = store::make_memory_store();
  std::vector<registry::SealedSet> sets_;
};

TEST_F(Pin, OnlyWhatARuleCoversIsCopied) {
  auto moved = move({rule("1-linux/")});
  ASSERT_TRUE(moved) << render(moved.error());
  auto shown = registry::resolve_channel(*store_, "stable");
  ASSERT_TRUE(shown) << render(shown.error());
  ASSERT_EQ(shown->sets.size(), 2u);
  const auto& copy = shown->sets[0].set;
  EXPECT_EQ(copy.subset_of, sets_[0].digest);
  EXPECT_TRUE(copy.files[0].key.starts_with("pinned/")) << copy.files[0].key;
  EXPECT_EQ(shown->sets[1].digest, sets_[1].digest) << "no rule covers it";
  // The server does what its rule says.
  for (const auto* more : {"", ".metadata"}) ASSERT_TRUE(store_->remove(sets_[0].set.files[0].key + more));
  auto whole = publish::verify_sets(*store_, shown->sets, {});
  ASSERT_TRUE(whole) << render(whole.error());
  EXPECT_TRUE(whole->empty());
  EXPECT_TRUE(gate::collect(*store_, "stable", shown->sets, k_pin_noon))
      << "it stands on the evidence of the run's set";
  EXPECT_EQ(registry::resolve_run(*store_, "1-linux")->sets[0].digest, sets_[0].digest);
}

TEST_F(Pin, TheSameAgainMovesNothing) {
  ASSERT_TRUE(move({rule("1-linux/")}));
  auto again = move({rule("1-linux/")});
  ASSERT_TRUE(again) << render(again.error());
  EXPECT_FALSE(again->moved);
}

TEST_F(Pin, ARuleThatCoversTheCopiesHolds) {
  for (const auto* prefix : {"pinned/", "", "views/"}) {
    auto held = move({rule("1-linux/"), rule(prefix)});
    ASSERT_FALSE(held) << prefix;
    EXPECT_EQ(held.error().code, "O031") << prefix;
  }
  EXPECT_TRUE(store_->list("pinned/")->empty()) << "nothing was copied";
}

TEST_F(Pin, OtherBytesAreNotCopied) {
  auto other = std::string(sets_[0].set.files[0].size, 'x');
  ASSERT_TRUE(store_->put(sets_[0].set.files[0].key, content::Rope::literal(other), {}));
  auto refused = move({rule("1-linux/")});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "O003");
  EXPECT_TRUE(store_->list("pinned/")->empty());
}

} // namespace
} // namespace quarry::promote
