// A copy of sets that the channel showed before is held to what a move is held to.
#include "release/delivery.hpp"

#include "gate/testing/policies.hpp"
#include "promote/guard.hpp"
#include "publish/move.hpp"
#include "registry/testing/samples.hpp"
#include "release/deliver.hpp"
#include "sys/clock.hpp"
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::release {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t k_copied_us = 1'763'640'000'000'000;
const auto k_copied_at = sys::Timestamp::from_us(k_copied_us);

gate::Policy policy_of_copies(const Ed25519PrivateKey& mover, const Ed25519PrivateKey& judge) {
  auto signer = [](const char* name, const Ed25519PrivateKey& key, const char* signs) {
    return fmt::format("[[signer]]\nname = \"{}\"\nkey = \"{}\"\nsigns = [{}]\n", name, key.public_key().base64(),
                       signs);
  };
  return gate::testing::parsed_policy("[states]\nno_runner = \"waive\"\n" + signer("mover", mover, "\"moves\"") +
                                      signer("judge", judge, "\"verdicts\"") +
                                      "[[require]]\nplatforms=[\"*\"]\nfamilies=[\"*\"]\npythons=[\"*\"]\n"
                                      "suites=[\"smoke\"]\n[[family]]\nfamilies=[\"*\"]\nstate=\"no_runner\"\n"
                                      "reason=\"a test of copies\"\n");
}

class Copies : public ::testing::Test {
protected:
  void SetUp() override {
    sealed_ = registry::testing::sealed_sample(*store_, "1-linux/python/g", {{"a-1-py3-none-any.whl", "a", "1"}});
    publish_set(sealed_);
    promote::Binding binding;
    binding.trust_shown = true;
    auto done = promote::protect(*store_, "stable", policy_, {"ann", k_copied_at, "why", mover_}, binding);
    ASSERT_TRUE(done) << render(done.error());
    request_.source.source = "set";
    request_.source.sets = {sealed_};
    request_.channel = "stable";
    request_.policy = policy_;
    request_.now_us = k_copied_us;
    to_ = {"memory", "v2/all", target_};
    to_.hash_bytes = true;
    to_.channels = {{registry::SetDigest(), {"stable"}}};
  }
  void publish_set(const registry::SealedSet& sealed) {
    publish::Reason reason;
    reason.action = registry::Action::publish;
    reason.when = k_copied_at;
    ASSERT_TRUE(publish::add_sets(*store_, "stable", {sealed}, reason));
  }
  CopyVerdict judge() {
    auto judged = judge_delivery(*store_, {request_, plan_}, to_, {sealed_});
    EXPECT_TRUE(judged) << render(judged.error());
    return judged ? *judged : CopyVerdict{};
  }
  std::string accept(const CopyVerdict& judged, const std::optional<Ed25519PrivateKey>& key, std::int64_t off_us = 0) {
    promote::Options options;
    options.when = k_copied_at;
    options.key = key;
    options.clock_us = [off_us] { return k_copied_us + off_us; };
    auto accepted = accept_copies(*store_, {request_, plan_}, judged, options);
    return accepted ? "" : accepted.error().code;
  }
  Result<Delivery> copy(const std::optional<Ed25519PrivateKey>& key) {
    promote::Options options;
    options.when = k_copied_at;
    options.key = key;
    return deliver({*store_, to_, {sealed_}}, {}, options);
  }
  void test_it() {
    registry::EvidenceRecord e;
    e.subjects = sealed_.set.files;
    e.cell = {Platform::linux, "", "3.12", ""};
    e.suite = "smoke";
    e.result = registry::Outcome::failed;
    e.failed = 1;
    e.started = e.ended = k_copied_at;
    e.set = sealed_.digest;
    e.sealed = true;
    ASSERT_TRUE(registry::put_evidence(*store_, e));
  }

  sys::FixedClock clock_{k_copied_us};
  std::unique_ptr<store::ObjectStore> store_ = store::make_memory_store(&clock_);
  std::shared_ptr<store::ObjectStore> target_ = store::make_memory_store(&clock_);
  Ed25519PrivateKey mover_ = *Ed25519PrivateKey::create(), judge_ = *Ed25519PrivateKey::create();
  gate::Policy policy_ = policy_of_copies(mover_, judge_);
  registry::SealedSet sealed_;
  promote::Request request_;
  promote::Plan plan_;
  Destination to_;
};

TEST_F(Copies, NeedTheSignaturesOfAMoveAndLeaveAVerdict) {
  auto judged = judge();
  ASSERT_FALSE(judged.document.empty());
  EXPECT_EQ(accept(judged, {}), "O042");
  EXPECT_EQ(accept(judged, mover_), "O042") << "the verdict is somebody else's to sign";
  EXPECT_EQ(accept(judged, judge_), "O041") << "signed now, and the move is not his";
  EXPECT_EQ(accept(judged, mover_), "");
  auto verdicts = store_->children("verdicts/");
  ASSERT_TRUE(verdicts);
  EXPECT_EQ(verdicts->objects.size(), 1u) << "the same verdict each time";
  EXPECT_EQ(store_->list("verdicts/by-set/" + sealed_.digest.hex() + "/")->size(), 1u);
}

TEST_F(Copies, AreNotMadeByAWrongClock) {
  auto judged = judge();
  constexpr std::int64_t k_day_us = 86'400'000'000;
  ASSERT_EQ(accept(judged, judge_), "O041");
  for (auto off : {-20 * k_day_us, k_day_us}) EXPECT_EQ(accept(judged, mover_, off), "O057") << off;
  EXPECT_EQ(accept(judged, mover_), "");
}

// Who verifies the moves of the directory asks for the signature of the one that tells it a policy.
TEST_F(Copies, TellADirectoryItsPolicyByASignedMoveAlone) {
  for (const auto& key : {std::optional<Ed25519PrivateKey>(), std::optional(judge_)}) {
    auto refused = copy(key);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "O041") << render(refused.error());
    EXPECT_TRUE(target_->list("")->empty());
  }
  ASSERT_TRUE(copy(mover_));
  EXPECT_TRUE(copy({})) << "there is nothing to tell any more";
}

TEST_F(Copies, AskForTheirKeyBeforeTheChannelMoves) {
  auto look = [&](const std::optional<Ed25519PrivateKey>& key, bool dry_run) {
    promote::Options options;
    options.when = k_copied_at;
    options.key = key;
    options.dry_run = dry_run;
    auto looked = check_delivery({*store_, to_, {sealed_}}, {}, options);
    return looked ? "" : looked.error().code;
  };
  EXPECT_EQ(look({}, false), "O041");
  EXPECT_EQ(look(judge_, false), "O041") << "he signs verdicts alone";
  EXPECT_EQ(look(mover_, false), "");
  EXPECT_EQ(look({}, true), "") << "who looks at a plan needs no key";
  ASSERT_TRUE(copy(mover_));
  EXPECT_EQ(look({}, false), "") << "the directory knows its policy";
}

TEST_F(Copies, AResultThatCameMeanwhileIsJudgedFirst) {
  auto judged = judge();
  ASSERT_TRUE(still_judged(*store_, judged));
  to_.before_showing = [&] { return still_judged(*store_, judged); };
  test_it();
  auto late = copy(mover_);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, "O016") << render(late.error());
  auto shown = registry::read_distribution(*target_, "v2/all");
  ASSERT_TRUE(shown && *shown);
  EXPECT_THAT((*shown)->record.shown.sets, IsEmpty());
}

TEST_F(Copies, WhatTheChannelDoesNotShowIsNamed) {
  auto stray = registry::testing::sealed_sample(*store_, "2-linux/python/g", {{"a-2-py3-none-any.whl", "a", "2"}});
  auto open = to_;
  open.hash_bytes = false;
  open.channels.clear();
  promote::Options options;
  options.when = k_copied_at;
  ASSERT_TRUE(deliver({*store_, open, {stray}}, {}, options));
  auto done = copy(mover_);
  ASSERT_TRUE(done) << render(done.error());
  ASSERT_EQ(done->receipt.notes.size(), 1u);
  EXPECT_EQ(done->receipt.notes[0].code, "O062");
  EXPECT_THAT(done->receipt.notes[0].message,
              HasSubstr("1 set that stable does not show: set:" + stray.digest.short_hex()));
  EXPECT_THAT(done->receipt.notes[0].fix, HasSubstr("quarry yank set:" + stray.digest.short_hex()));
}

} // namespace
} // namespace quarry::release
