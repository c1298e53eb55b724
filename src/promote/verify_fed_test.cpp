// Attacks of somebody who can write to the store of a distribution, or has a key that is good for less.
#include "promote/verify_fed.hpp"

#include "gate/testing/policies.hpp"
#include "publish/distribute.hpp"
#include "registry/feeders.hpp"
#include "registry/testing/samples.hpp"
#include "signature/stored.hpp"
#include <functional>
#include <gtest/gtest.h>

namespace quarry::promote {
namespace {

using registry::Action;
using registry::DistributionRecord;
using registry::Feeder;
using Key = std::optional<Ed25519PrivateKey>;

const std::string k_place = "v2/all";
const auto k_when = *sys::Timestamp::parse("2026-11-20T12:00:00Z");

/// A store with channels, and a distribution in another one.
struct FedPlace {
  std::unique_ptr<store::ObjectStore> source = store::make_memory_store(), other = store::make_memory_store();
  registry::SealedSet first = sample("1", {"a-1.tar.gz", "b-1.tar.gz"}), second = sample("2", {"c-1.tar.gz"}),
                      third = sample("3", {"d-1.tar.gz"});
  Ed25519PrivateKey lead = *Ed25519PrivateKey::create(), next = *Ed25519PrivateKey::create(),
                    stranger = *Ed25519PrivateKey::create();

  registry::SealedSet sample(const std::string& run, const std::vector<std::string>& names) {
    std::vector<registry::testing::SampleFile> files;
    for (const auto& name : names) files.push_back({name, name.substr(0, 1), "1"});
    return registry::testing::sealed_sample(*source, run + "-linux/python/g", files);
  }
  gate::Policy policy(const Key& signer, const std::string& name = "lead", const std::string& signs = "\"moves\"") {
    auto entry = signer ? "[[signer]]\nname = \"" + name + "\"\nkey = \"" + signer->public_key().base64() +
                              "\"\nsigns = [" + signs + "]\n"
                        : std::string();
    return gate::testing::parsed_policy(
        entry + "[[require]]\nplatforms=[\"linux\"]\nfamilies=[\"*\"]\npythons=[\"*\"]\nsuites=[\"smoke\"]\n");
  }
  /// Binds the policy to a channel, by this key; the channel as it is then.
  Feeder bind(const gate::Policy& policy, const Key& key, const std::string& channel = "stable") {
    auto bound = protect(*source, channel, policy, {"tester", k_when, "why", key});
    EXPECT_TRUE(bound) << render(bound.error());
    auto feeder = registry::feeder_of(*source, channel);
    EXPECT_TRUE(feeder) << render(feeder.error());
    return *feeder;
  }
  Feeder lift(const Key& key) {
    auto lifted = unprotect(*source, "stable", {"tester", k_when, "why", key});
    EXPECT_TRUE(lifted) << render(lifted.error());
    return *registry::feeder_of(*source, "stable");
  }
  /// As `promote --to-store` of these channels.
  void feed(const registry::SealedSet& set, const std::vector<Feeder>& feeders, const Key& key) {
    auto planned = publish::plan_distribution({set}, k_place);
    ASSERT_TRUE(planned);
    publish::DistributeOptions options{k_when, 1};
    options.key = key;
    options.feeders[k_place] = feeders;
    auto done = publish::distribute(*source, *other, *planned, options);
    ASSERT_TRUE(done) << render(done.error());
  }
  DistributionRecord now() { return registry::require_distribution(*other, k_place)->record; }
  /// A move that no command would make.
  void move(Action action, const Key& key, const std::function<void(DistributionRecord&)>& change) {
    auto expected = *registry::require_distribution(*other, k_place);
    change(expected.record);
    auto done = registry::move_distribution(*other, expected, expected.record.shown, {action, {}, "x", k_when, ""},
                                            [&](const registry::DistributionViewDigest& digest) -> Result<void> {
                                              if (key)
                                                TRY_DO(signature::sign(*other, {"move", *digest.sha256()}, *key));
                                              return {};
                                            });
    ASSERT_TRUE(done) << render(done.error());
  }
  void write(const DistributionRecord& record) {
    auto text = content::Rope::literal(registry::to_json(record));
    ASSERT_TRUE(other->put(registry::distribution_key(k_place), text, {}));
  }
  registry::PolicyDigest bring(const gate::Policy& policy) {
    return *registry::put_policy(*other, {gate::canonical_json(policy)});
  }
  /// The messages; with the store of the channels, or without.
  std::vector<std::string> found(bool with_channels) {
    auto verified = verify_moves_there(*other, now(), with_channels ? source.get() : nullptr);
    if (!verified) return {render(verified.error())};
    std::vector<std::string> messages;
    for (const auto& one : verified->findings) messages.push_back(one.code + " " + one.message);
    return messages;
  }
};

bool has(const std::vector<std::string>& found, const std::string& part) {
  return std::ranges::any_of(found, [&](const std::string& one) { return one.find(part) != one.npos; });
}

TEST(VerifyFed, APolicyCountsOnlyIfItWasBoundLater) {
  FedPlace fed;
  auto old = fed.bind(fed.policy(fed.lead), fed.lead);
  fed.feed(fed.first, {old}, fed.lead);
  auto anew = fed.bind(fed.policy(fed.next, "next"), fed.lead); // the lead's key is revoked
  fed.feed(fed.second, {anew}, fed.next);
  EXPECT_TRUE(fed.found(true).empty()) << fed.found(true).front();
  ASSERT_EQ(fed.found(false).size(), 1u);
  EXPECT_TRUE(has(fed.found(false), "promote of v2/all@2 is not signed by lead"));
  fed.move(Action::promote, fed.lead, [&](auto& now) { now.fed_by = {old}; });
  fed.move(Action::rollback, fed.lead, [](auto& now) { now.shown.sets.clear(); });
  auto found = fed.found(true);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(found[0].starts_with("O044 promote of v2/all@3 is not signed by next")) << found[0];
  EXPECT_TRUE(found[1].starts_with("O044 rollback of v2/all@4 is not signed by next")) << found[1];
}

TEST(VerifyFed, ADirectoryIsOpenOnlyAsLongAsItsChannelIs) {
  FedPlace fed;
  auto law = fed.policy(fed.lead);
  auto feeder = fed.bind(law, fed.lead);
  fed.feed(fed.first, {feeder}, fed.lead);
  auto open = fed.lift(fed.lead);
  fed.feed(fed.second, {open}, {});
  EXPECT_TRUE(fed.now().fed_by.empty());
  EXPECT_TRUE(fed.found(true).empty()) << fed.found(true).front();
  EXPECT_EQ(fed.found(false).size(), 1u);
  auto again = fed.bind(law, fed.lead);
  EXPECT_TRUE(has(fed.found(true), "no protected channel feeds it")) << "nobody knows when it was opened";
  fed.feed(fed.third, {again}, fed.lead);
  fed.move(Action::promote, {}, [](auto& now) { now.fed_by.clear(); });
  EXPECT_TRUE(has(fed.found(true), "promote of v2/all@4")) << "the lifted protection is older";
}

TEST(VerifyFed, AChannelThatIsProtectedAgainOpensNothing) {
  FedPlace fed;
  auto law = fed.policy(fed.lead);
  auto feeder = fed.bind(law, fed.lead);
  fed.feed(fed.first, {feeder}, fed.lead);
  fed.lift(fed.lead);
  auto again = fed.bind(law, fed.lead);
  fed.feed(fed.second, {again}, fed.lead);
  ASSERT_EQ(fed.now().fed_by, std::vector<Feeder>{feeder}) << "the same policy, so the old move stays";
  EXPECT_TRUE(fed.found(true).empty()) << fed.found(true).front();
  fed.move(Action::promote, {}, [](auto& now) { now.fed_by.clear(); });
  EXPECT_EQ(fed.found(true).size(), 1u);
}

TEST(VerifyFed, ASignerOfOnePolicyDoesNotReplaceAnother) {
  for (bool is_signed : {false, true}) // by the policy of `beta`, which may take unsigned moves
    for (bool with_channels : {false, true}) {
      FedPlace both;
      Key second = is_signed ? Key(both.next) : Key();
      auto of_beta = both.policy(second, "next"), of_stable = both.policy(both.lead);
      auto beta = both.bind(of_beta, second, "beta"), stable = both.bind(of_stable, both.lead);
      both.bring(of_beta), both.bring(of_stable);
      auto claimed = registry::claim_distribution(*both.other, k_place);
      ASSERT_TRUE(claimed);
      both.move(Action::promote, both.lead, [&](auto& now) { now.fed_by = {beta, stable}; });
      ASSERT_TRUE(both.found(with_channels).empty()) << both.found(with_channels).front();
      auto own = both.bring(both.policy(both.stranger, "me"));
      both.move(Action::promote, second, [&](auto& now) { now.fed_by[1].policy = own; });
      EXPECT_EQ(both.found(with_channels).size(), 1u) << is_signed << with_channels;
      both.move(Action::promote, second, [&](auto& now) { now.fed_by = {beta}; });
      EXPECT_EQ(both.found(with_channels).size(), 2u) << is_signed << with_channels;
      both.move(Action::promote, second, [&](auto& now) { now.fed_by = {beta, stable, {"zeta", own, stable.move}}; });
      EXPECT_EQ(both.found(with_channels).size(), 3u) << is_signed << with_channels;
      both.move(Action::promote, second, [&](auto& now) { now.fed_by = {beta, stable}; });
      EXPECT_EQ(both.found(with_channels).size(), 3u) << "as it was before";
    }
}

TEST(VerifyFed, ALaterPolicyExcusesOnlyWhatItsSignersSigned) {
  FedPlace fed;
  auto feeder = fed.bind(fed.policy(fed.lead), fed.lead);
  fed.feed(fed.first, {feeder}, fed.lead);
  fed.feed(fed.second, {feeder}, fed.lead);
  auto anew = fed.bind(fed.policy(fed.next, "next"), fed.lead);
  fed.bring(fed.policy(fed.next, "next"));
  fed.move(Action::rollback, fed.next, [](auto& now) { now.shown.sets.pop_back(); }); // along with the channel
  fed.move(Action::rollback, {}, [](auto& now) { now.shown.sets.clear(); });
  fed.move(Action::rollback, fed.next, [&](auto& now) { now.fed_by = {anew}; });
  ASSERT_EQ(fed.found(true).size(), 3u);
  fed.move(Action::promote, fed.next, [&](auto& now) { now.fed_by = {anew}; });
  auto found = fed.found(true);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(has(found, "v2/all@4 is not signed by lead"));
  EXPECT_TRUE(has(found, "rollback of v2/all@5")) << "a rollback does not say who feeds it";
  auto open = fed.lift(fed.next);
  fed.feed(fed.third, {open}, {});
  EXPECT_EQ(fed.found(true), found) << "where nobody needs to sign, nothing is excused";
}

TEST(VerifyFed, APointerThatWasPutBackIsFound) {
  FedPlace fed;
  auto feeder = fed.bind(fed.policy(fed.lead), fed.lead);
  fed.feed(fed.first, {feeder}, fed.lead);
  fed.feed(fed.second, {feeder}, fed.lead);
  auto before = fed.now();
  fed.move(Action::read("yank"), fed.lead, [](auto& now) { now.shown.sets.pop_back(); });
  EXPECT_TRUE(fed.found(false).empty());
  fed.write(before); // the yank did not happen
  auto found = fed.found(false);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].starts_with("O044 yank of v2/all@3, which is signed, does not belong to the moves")) << found[0];
  fed.feed(fed.third, {feeder}, fed.lead);
  EXPECT_EQ(fed.found(false).size(), 1u) << "a later move does not hide it";
  auto code = [&](const Key& key) {
    auto done = acknowledge_there(*fed.other, k_place, 3, {"lead", k_when, "looked at", key});
    return done ? std::string() : done.error().code;
  };
  EXPECT_EQ(code(fed.stranger), "O041");
  EXPECT_EQ(code(fed.lead), "");
  EXPECT_TRUE(fed.found(false).empty()) << fed.found(false).front();
}

TEST(VerifyFed, AHistoryThatBeginsAgainIsFound) {
  FedPlace fed;
  auto feeder = fed.bind(fed.policy(fed.lead), fed.lead);
  fed.feed(fed.first, {feeder}, fed.lead);
  auto own = fed.bring(fed.policy(fed.stranger, "me"));
  DistributionRecord nothing;
  nothing.directory = k_place;
  fed.write(nothing);
  fed.move(Action::promote, fed.stranger, [&](auto& now) { now.fed_by = {{"stable", own, feeder.move}}; });
  auto found = fed.found(false);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(has(found, "v2/all@1, which is signed,"));
  EXPECT_EQ(fed.found(true).size(), 2u) << "no move of the channel bound that policy";
  ASSERT_FALSE(acknowledge_there(*fed.other, k_place, 9, {"me", k_when, "", fed.stranger}));
}

TEST(VerifyFed, WhatAKilledRunLeftIsNotFound) {
  FedPlace fed;
  auto feeder = fed.bind(fed.policy({}), {});
  fed.feed(fed.first, {feeder}, {});
  auto first = fed.now();
  fed.feed(fed.second, {feeder}, {});
  auto second = fed.now();
  fed.feed(fed.third, {feeder}, {});
  ASSERT_TRUE(fed.other->remove(k_place + "/pages.json")); // a killed run has not come to the pages
  fed.write(second);
  EXPECT_TRUE(fed.found(true).empty()) << fed.found(true).front();
  fed.write(first);
  ASSERT_EQ(fed.found(true).size(), 1u) << "a record two generations later was made after the one before it counted";
  EXPECT_TRUE(has(fed.found(true), "promote of v2/all@3 does not belong to the moves"));
}

TEST(VerifyFed, AMoveShowsWhatSuchAMoveMayShow) {
  auto start = [](FedPlace& fed) {
    auto feeder = fed.bind(fed.policy(fed.lead), fed.lead);
    fed.feed(fed.first, {feeder}, fed.lead);
    fed.feed(fed.second, {feeder}, fed.lead);
  };
  struct Case {
    const char* word;
    const char* defect;
    bool takes_out; ///< else it adds a set that was never shown
  };
  for (const auto& one :
       {Case{"unblock", "changes which sets are shown", true}, Case{"unblock", "changes which sets are shown", false},
        Case{"adopt", "takes something out", true}, Case{"promote", "takes something out", true},
        Case{"rollback", "shows a set that no earlier move showed", false},
        Case{"yank", "shows something that was not shown before it", false}, Case{"yank", "", true},
        Case{"rollback", "", true}, Case{"adopt", "", false}}) {
    FedPlace fed;
    start(fed);
    fed.move(Action::read(one.word), fed.lead, [&](DistributionRecord& now) {
      if (one.takes_out) return now.shown.sets.pop_back();
      auto never = registry::put_set(*fed.other, fed.third.set);
      now.shown.sets.push_back({*never, {}});
    });
    auto found = fed.found(false);
    EXPECT_EQ(found.size(), *one.defect ? 1u : 0u) << one.word << one.takes_out;
    EXPECT_TRUE(!*one.defect || has(found, one.defect)) << one.word << found.front();
  }
}

TEST(VerifyFed, APartOfWhatWasShownIsNothingNew) {
  FedPlace fed;
  auto feeder = fed.bind(fed.policy(fed.lead), fed.lead);
  fed.feed(fed.first, {feeder}, fed.lead);
  auto part = registry::load_set(*fed.other, fed.now().shown.sets[0].set);
  ASSERT_TRUE(part);
  part->files.pop_back();
  auto digest = registry::put_set(*fed.other, *part);
  ASSERT_TRUE(digest);
  auto shows_part = [&](DistributionRecord& now) { now.shown.sets = {{*digest, {}}}; };
  fed.move(Action::read("yank"), fed.lead, shows_part);
  EXPECT_TRUE(fed.found(false).empty()) << fed.found(false).front();
  part->files[0].sha256 = sha256(std::string("other bytes"));
  digest = registry::put_set(*fed.other, *part);
  fed.move(Action::read("yank"), fed.lead, shows_part);
  EXPECT_EQ(fed.found(false).size(), 1u);
}

TEST(VerifyFed, ASetThatIsGoneIsNamed) {
  FedPlace fed;
  fed.feed(fed.first, {{"stable", {}, {}}}, {});
  fed.feed(fed.second, {{"stable", {}, {}}}, {});
  auto now = fed.now();
  EXPECT_TRUE(lost_sets(now, *registry::sealed_of(*fed.other, now.shown)).empty());
  ASSERT_TRUE(fed.other->remove(registry::seal_key(k_place, now.shown.sets[1].set)));
  auto lost = lost_sets(now, *registry::sealed_of(*fed.other, now.shown));
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].code, "R010");
  EXPECT_EQ(lost[0].place, registry::set_key(now.shown.sets[1].set));
}

TEST(VerifyFed, TheNewestMovesAreJudgedByWhatTheOneBeforeThemLeft) {
  FedPlace fed;
  auto feeder = fed.bind(fed.policy(fed.lead), fed.lead);
  fed.feed(fed.first, {feeder}, fed.lead); // 1
  auto shown = fed.now().shown;
  fed.feed(fed.second, {feeder}, fed.lead);                                                     // 2
  fed.move(Action::rollback, {}, [](auto& now) { now.shown.sets.clear(); });                    // 3, by somebody else
  fed.move(Action::rollback, fed.lead, [&](auto& now) { now.shown.sets = shown.sets; });        // 4
  fed.move(Action::promote, fed.stranger, [](auto& now) { now.fed_by.front().channel = "x"; }); // 5
  auto found = [&](std::size_t newest) {
    auto verified = verify_moves_there(*fed.other, fed.now(), fed.source.get(), newest);
    EXPECT_TRUE(verified) << render(verified.error());
    std::vector<std::string> generations;
    for (const auto& one : verified->findings) {
      auto at = one.message.find('@');
      generations.push_back(one.message.substr(at, 2));
    }
    return generations;
  };
  using Generations = std::vector<std::string>;
  EXPECT_EQ(found(1), Generations({"@5"}));
  EXPECT_EQ(found(2), Generations({"@5"})) << "what was shown long ago may be shown again";
  EXPECT_EQ(found(3), Generations({"@3", "@5"}));
  EXPECT_EQ(found(99), Generations({"@3", "@5"}));
}

TEST(VerifyFed, APointerThatIsOlderThanItsPagesIsFound) {
  FedPlace fed;
  auto feeder = fed.bind(fed.policy(fed.lead), fed.lead);
  fed.feed(fed.first, {feeder}, fed.lead);
  auto old = fed.now();
  fed.feed(fed.second, {feeder}, fed.lead);
  EXPECT_EQ(fed.found(true), std::vector<std::string>());
  fed.write(old);
  EXPECT_TRUE(has(fed.found(true), "is older than its pages, which show generation 2")) << fed.found(true).front();
}

} // namespace
} // namespace quarry::promote
