// The waivers that let something in stand in the view, and so on the pages.
#include "promote/waived.hpp"

#include "gate/testing/policies.hpp"
#include "promote/promote.hpp"
#include "promote/withdraw.hpp"
#include "registry/testing/samples.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::promote {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const auto k_waived_at = *sys::Timestamp::parse("2026-11-20T12:00:00Z");

class WaivedMoves : public ::testing::Test {
protected:
  registry::SealedSet set(const std::string& version) {
    return registry::testing::sealed_sample(
        *store_, version + "-linux/python/g",
        {{"a-" + version + "-py3-none-any.whl", "a", version}, {"b-" + version + "-py3-none-any.whl", "b", version}});
  }
  registry::WaiverDigest waive(const registry::SealedSet& sealed) {
    registry::WaiverRecord w;
    w.channel = "stable";
    w.suite = "smoke";
    w.reason = "no <machine>";
    w.approver = "lead";
    w.created = k_waived_at;
    w.expires = sys::Timestamp::from_us(k_waived_at.us() + 3'600'000'000);
    w.sets = {sealed.digest};
    return registry::put_waiver(*store_, w).value();
  }
  bool move(const registry::SealedSet& sealed) {
    auto policy = gate::testing::parsed_policy("approvers = [\"lead\"]\nwaiver_max_age = \"2d\"\n[[require]]\n"
                                               "platforms=[\"*\"]\nfamilies=[\"*\"]\npythons=[\"*\"]\n"
                                               "suites=[\"smoke\"]\n");
    return move(sealed, policy);
  }
  bool move(const registry::SealedSet& sealed, const gate::Policy& policy) {
    registry::Resolved source;
    source.source = "set";
    source.sets = {sealed};
    auto done = promote::promote(*store_, {source, "stable", policy, false, k_waived_at.us()},
                                 {"ann", k_waived_at, "why", {}, false});
    EXPECT_TRUE(done) << render(done.error());
    return done && done->moved;
  }
  std::vector<registry::WaiverDigest> waived() {
    std::vector<registry::WaiverDigest> waivers;
    auto view = registry::load_view(*store_, registry::require_channel(*store_, "stable")->record.view);
    for (const auto& one : registry::waived_of(*view)) waivers.push_back(one.waiver);
    return waivers;
  }
  std::string page(const std::string& name) { return store_->get("channels/stable/" + name, 1u << 20)->value_or(""); }

  std::unique_ptr<store::ObjectStore> store_ = store::make_memory_store();
};

TEST_F(WaivedMoves, AreNamedOnThePages) {
  auto one = set("1");
  EXPECT_FALSE(move(one));
  auto waiver = waive(one);
  ASSERT_TRUE(move(one));
  EXPECT_THAT(waived(), ElementsAre(waiver));
  for (const auto* name : {"index.html", "simple/a/index.html", "simple/b/index.html"})
    EXPECT_THAT(page(name), HasSubstr("Not tested: lead waived smoke on")) << name;
  EXPECT_THAT(page("index.html"), HasSubstr("no &lt;machine&gt;"));
  EXPECT_THAT(page("index.html"), HasSubstr(waiver.short_hex()));
  EXPECT_FALSE(move(one)) << "the list alone moves nothing";
}

TEST_F(WaivedMoves, OfTwoPartsOfASetAreOneEntry) {
  auto whole = set("1");
  auto waiver = waive(whole);
  auto part_with = [&](std::size_t file) {
    auto part = whole.set;
    part.subset_of = whole.digest;
    part.files = {whole.set.files[file]};
    auto digest = registry::put_set(*store_, part).value();
    EXPECT_TRUE(registry::seal(*store_, digest, k_waived_at));
    return registry::load_sealed(*store_, digest).value();
  };
  ASSERT_TRUE(move(part_with(0)));
  EXPECT_THAT(page("simple/a/index.html"), HasSubstr("Not tested"));
  ASSERT_TRUE(move(part_with(1)));
  EXPECT_THAT(waived(), ElementsAre(waiver));
  EXPECT_THAT(page("simple/b/index.html"), HasSubstr("Not tested"));
  auto plan = plan_withdrawal(*store_, "stable", {"a-1-py3-none-any.whl"});
  ASSERT_TRUE(plan && withdraw(*store_, *plan, {"ann", k_waived_at, "why"}));
  EXPECT_THAT(waived(), ElementsAre(waiver)) << "b is still here";
}

TEST_F(WaivedMoves, ForWhatNoSetBringsAreNamedToo) {
  auto one = set("1");
  auto expecting = gate::testing::parsed_policy(
      "approvers = [\"lead\"]\nwaiver_max_age = \"2d\"\n[expect]\nplatforms = [\"linux\"]\nprojects = "
      "[\"c\"]\n[states]\nno_runner = \"waive\"\n[[require]]\nplatforms=[\"*\"]\nfamilies=[\"*\"]\npythons=[\"*\"]\n"
      "suites=[\"smoke\"]\n[[family]]\nfamilies=[\"*\"]\nstate=\"no_runner\"\nreason=\"a test\"\n");
  EXPECT_FALSE(move(one, expecting)) << "c is missing";
  registry::WaiverRecord w;
  w.channel = "stable";
  w.reason = "c comes tomorrow";
  w.approver = "lead";
  w.created = k_waived_at;
  w.expires = sys::Timestamp::from_us(k_waived_at.us() + 3'600'000'000);
  auto waiver = registry::put_waiver(*store_, w).value();
  ASSERT_TRUE(move(one, expecting));
  EXPECT_THAT(waived(), ElementsAre(waiver));
  for (const auto* name : {"index.html", "simple/a/index.html", "simple/b/index.html"})
    EXPECT_THAT(page(name), HasSubstr("c comes tomorrow")) << name;
}

TEST_F(WaivedMoves, GoAndComeBackWithTheView) {
  auto one = set("1"), two = set("2");
  auto first = waive(one), second = waive(two);
  ASSERT_TRUE(move(one));
  ASSERT_TRUE(move(two));
  EXPECT_EQ(waived().size(), 2u);
  ASSERT_TRUE(rollback(*store_, "stable", {"ann", k_waived_at, "why", {}, false}));
  EXPECT_THAT(waived(), ElementsAre(first));
  EXPECT_THAT(page("simple/a/index.html"), Not(HasSubstr(second.short_hex())));
  auto plan = plan_withdrawal(*store_, "stable", {"b-1-py3-none-any.whl"});
  ASSERT_TRUE(plan) << render(plan.error());
  ASSERT_TRUE(withdraw(*store_, *plan, {"ann", k_waived_at, "why"}));
  EXPECT_THAT(waived(), ElementsAre(first)) << "a part of the set stays";
  plan = plan_withdrawal(*store_, "stable", {"set:" + one.digest.hex()});
  ASSERT_TRUE(withdraw(*store_, *plan, {"ann", k_waived_at, "why"}));
  EXPECT_THAT(waived(), IsEmpty());
}

} // namespace
} // namespace quarry::promote
