#include "gate/derived.hpp"

#include "gate/collect.hpp"
#include "gate/testing/policies.hpp"
#include "gate/testing/stored.hpp"
#include "registry/testing/samples.hpp"
#include "sys/clock.hpp"
#include <gmock/gmock.h>

namespace quarry::gate {
namespace {

using registry::EvidenceRecord;
using registry::Outcome;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::int64_t k_day_of_test = *sys::parse_rfc3339("2026-11-21T12:00:00Z");
constexpr std::int64_t k_sixty_minutes = 3'600'000'000;

registry::FileRecord named_file(const std::string& name, const std::string& project) {
  registry::FileRecord record;
  record.filename = name;
  record.project = project;
  record.version = "7.2.0";
  record.sha256 = sha256(name);
  return record;
}

Subject one_set(char digit, const std::vector<std::pair<std::string, std::string>>& files) {
  Subject subject{*registry::SetDigest::parse(std::string(64, digit)), {}};
  subject.set.origin = {"42", Platform::linux, "gfx94X-dcgpu", {}, {}, {}, {}, {}};
  for (const auto& [name, project] : files) subject.set.files.push_back(named_file(name, project));
  return subject;
}

Subject sdk_of(const std::string& version, char digit) {
  return one_set(digit, {{"rocm-" + version + ".tar.gz", "rocm"},
                         {"rocm_sdk_libraries_gfx94x_dcgpu-" + version + "-py3-none-linux_x86_64.whl",
                          "rocm-sdk-libraries-gfx94x-dcgpu"}});
}
Subject framework_of(const std::string& version, char digit) {
  return one_set(digit, {{"torch-2.9.0+rocm" + version + "-cp312-cp312-linux_x86_64.whl", "torch"}});
}

Derived made_of(const Subject& made, const Subject& candidate) {
  Derived derived{made, {}};
  derived.record.candidate = candidate.digest;
  derived.record.candidate_version = "7.2.0rc1";
  derived.record.version = "7.2.0";
  for (std::size_t i = 0; i < made.set.files.size(); ++i)
    derived.record.files.push_back({made.set.files[i].filename,
                                    candidate.set.files[i].filename,
                                    made.set.files[i].sha256,
                                    candidate.set.files[i].sha256,
                                    {}});
  return derived;
}

EvidenceRecord result_of(const std::vector<Subject>& subjects, const std::string& suite,
                         const std::string& framework = "") {
  EvidenceRecord e;
  for (const auto& subject : subjects)
    e.subjects.insert(e.subjects.end(), subject.set.files.begin(), subject.set.files.end());
  e.cell = {Platform::linux, "gfx94X-dcgpu", "3.12", framework};
  e.suite = suite;
  e.suite_digest = subjects.front().set.files.front().sha256.hex();
  e.result = Outcome::passed;
  e.passed = 3;
  e.started = sys::Timestamp::from_us(k_day_of_test - 2 * k_sixty_minutes);
  e.ended = sys::Timestamp::from_us(k_day_of_test - k_sixty_minutes);
  e.sealed = true;
  if (subjects.size() == 1) e.set = subjects.front().digest;
  for (const auto& subject : subjects)
    if (subjects.size() > 1) e.sets.push_back(subject.digest);
  return e;
}

Policy accepting(const std::string& more = "derived = \"accept\"\nderived_suites = [\"smoke\"]\n") {
  return gate::testing::parsed_policy(
      more + "[[require]]\nplatforms = [\"linux\"]\nfamilies = [\"*\"]\npythons = [\"*\"]\n"
             "suites = [\"rocm-sdk\"]\n[[require]]\nplatforms = [\"linux\"]\nfamilies = [\"*\"]\npythons = [\"*\"]\n"
             "frameworks = [\"torch\"]\nsuites = [\"torch\"]\n[[suite]]\nname = \"rocm-sdk\"\npackaged = true\n");
}

class DerivedSets : public ::testing::Test {
protected:
  Verdict judged(const std::vector<EvidenceRecord>& evidence, const Policy& policy = accepting()) {
    Case input;
    input.channel = "stable";
    input.subjects = {release_};
    input.evidence = as_stored(evidence);
    input.now_us = k_day_of_test;
    inherit(input, {made_of(release_, candidate_)});
    return judge(policy, input);
  }
  static std::string reasons(const Verdict& verdict) {
    std::string all;
    for (const auto& cell : verdict.cells)
      for (const auto& reason : cell.reasons) all += reason + "\n";
    return all;
  }
  Subject candidate_ = sdk_of("7.2.0rc1", 'a'), release_ = sdk_of("7.2.0", 'b');
};

TEST_F(DerivedSets, TheCandidatesEvidenceCountsOnceItsOwnSuiteHasPassed) {
  auto before = result_of({candidate_}, "rocm-sdk"), after = result_of({release_}, "smoke");
  auto ready = judged({before, after});
  EXPECT_EQ(ready.verdict, Decision::ready) << reasons(ready);
  EXPECT_THAT(reasons(ready),
              HasSubstr("rocm-sdk passed on the files of 7.2.0rc1, of which these were made 60 min ago"));
  EXPECT_THAT(ready.cells.at(0).evidence, ElementsAre(registry::digest_of(before), registry::digest_of(after)));

  auto untested = judged({before});
  EXPECT_EQ(untested.verdict, Decision::held);
  EXPECT_THAT(untested.cells.at(0).untested, ElementsAre("smoke"));
  auto of_candidate = judged({before, result_of({candidate_}, "smoke")});
  EXPECT_EQ(of_candidate.verdict, Decision::held) << "the suite must pass on the new files";
  EXPECT_EQ(judged({after}).verdict, Decision::held);
}

TEST_F(DerivedSets, AFailureOfTheCandidateHolds) {
  auto failed = result_of({candidate_}, "rocm-sdk");
  failed.result = Outcome::failed;
  failed.failed = 1;
  auto verdict = judged({failed, result_of({release_}, "smoke")});
  EXPECT_EQ(verdict.verdict, Decision::held);
  EXPECT_THAT(reasons(verdict), HasSubstr("on the files of 7.2.0rc1"));
  auto passed_since = result_of({release_}, "rocm-sdk");
  passed_since.ended = sys::Timestamp::from_us(k_day_of_test - k_sixty_minutes / 2);
  EXPECT_EQ(judged({failed, passed_since, result_of({release_}, "smoke")}).verdict, Decision::ready);
}

TEST_F(DerivedSets, EvidenceOfOtherFilesIsNotInherited) {
  auto other = candidate_;
  other.set.files[1].sha256 = sha256("rebuilt");
  EXPECT_EQ(judged({result_of({other}, "rocm-sdk"), result_of({release_}, "smoke")}).verdict, Decision::held);
  auto another_set = candidate_;
  another_set.digest = *registry::SetDigest::parse(std::string(64, 'c'));
  EXPECT_EQ(judged({result_of({another_set}, "rocm-sdk"), result_of({release_}, "smoke")}).verdict, Decision::held);
}

TEST_F(DerivedSets, SetsThatWereTestedTogetherAreInheritedTogether) {
  auto torch = framework_of("7.2.0rc1", 'd'), final_torch = framework_of("7.2.0", 'e');
  Case input;
  input.channel = "stable";
  input.subjects = {release_, final_torch};
  input.evidence =
      as_stored({result_of({candidate_, torch}, "rocm-sdk"), result_of({candidate_, torch}, "torch", "torch"),
                 result_of({release_, final_torch}, "smoke"), result_of({release_, final_torch}, "smoke", "torch")});
  input.now_us = k_day_of_test;
  auto alone = input;
  inherit(input, {made_of(release_, candidate_), made_of(final_torch, torch)});
  auto ready = judge(accepting(), input);
  EXPECT_EQ(ready.verdict, Decision::ready) << reasons(ready);
  inherit(alone, {made_of(final_torch, torch)});
  EXPECT_EQ(judge(accepting(), alone).verdict, Decision::held) << "the ROCm that it was tested with is another one";
}

TEST_F(DerivedSets, OfTwoReleasesOfOneCandidateEachInherits) {
  auto second = sdk_of("7.2.1", 'f');
  Case input;
  input.channel = "stable";
  input.subjects = {release_, second};
  input.evidence =
      as_stored({result_of({candidate_}, "rocm-sdk"), result_of({release_}, "smoke"), result_of({second}, "smoke")});
  input.now_us = k_day_of_test;
  inherit(input, {made_of(release_, candidate_), made_of(second, candidate_)});
  auto verdict = judge(accepting(), input);
  EXPECT_EQ(verdict.verdict, Decision::ready) << reasons(verdict);
  EXPECT_EQ(input.inherited.size(), 2u);
}

TEST_F(DerivedSets, ACandidateThatIsAPartStandsOnTheEvidenceOfTheWhole) {
  auto part = candidate_;
  part.digest = *registry::SetDigest::parse(std::string(64, '9'));
  part.set.subset_of = candidate_.digest;
  auto made = made_of(release_, part);
  made.asked = candidate_.digest;
  Case input;
  input.channel = "stable";
  input.subjects = {release_};
  input.evidence = as_stored({result_of({candidate_}, "rocm-sdk"), result_of({release_}, "smoke")});
  input.now_us = k_day_of_test;
  inherit(input, {made});
  auto verdict = judge(accepting(), input);
  EXPECT_EQ(verdict.verdict, Decision::ready) << reasons(verdict);
}

TEST(DerivedPolicy, SaysWhatTheReleaseMustPassItself) {
  auto policy = accepting();
  EXPECT_EQ(parse_stored_policy({canonical_json(policy), "p"}).value().derived_suites, policy.derived_suites);
  EXPECT_EQ(canonical_json(accepting("derived = \"refuse\"\n")), canonical_json(accepting("")));
  const std::string rest =
      "[[require]]\nplatforms = [\"linux\"]\nfamilies = [\"*\"]\npythons = [\"*\"]\nsuites = [\"a\"]\n";
  for (const auto* wrong :
       {"derived = \"accept\"\n", "derived_suites = [\"smoke\"]\n", "derived = \"yes\"\n",
        "derived = \"accept\"\nderived_suites = []\n", "derived = \"accept\"\nderived_suites = [\"*\"]\n"}) {
    auto parsed = parse_policy(
        {"schema = \"quarry.policy/1\"\nname = \"p\"\nmax_age = \"1d\"\n" + std::string(wrong) + rest, "p"});
    ASSERT_FALSE(parsed) << wrong;
    EXPECT_EQ(parsed.error().code, "G002") << wrong;
  }
}

TEST(DerivedInAStore, ARecordThatDoesNotHoldIsToldAndCountsForNothing) {
  auto store = store::make_memory_store();
  auto candidate =
      registry::testing::sealed_sample(*store, "41-linux/python/g", {{"rocm-7.2.0rc1.tar.gz", "rocm", "7.2.0rc1"}});
  auto made = registry::testing::sealed_sample(*store, "42-linux/python/g", {{"rocm-7.2.0.tar.gz", "rocm", "7.2.0"}});
  auto record = made_of({made.digest, made.set}, {candidate.digest, candidate.set}).record;
  ASSERT_TRUE(registry::put_derivation(*store, made.digest, registry::to_json(record)));
  auto load = [&](const Policy& policy, Derivations derivations) {
    auto input = collect(*store, "stable", {made}, k_day_of_test).value();
    auto loaded = load_for_policy(*store, policy, input, derivations);
    EXPECT_TRUE(loaded) << render(loaded.error());
    return input;
  };
  auto believed = load(accepting(), Derivations::believed);
  EXPECT_EQ(believed.derived.count(made.digest), 1u);
  auto refused = load(accepting(), Derivations::proven); // the samples are not source distributions
  EXPECT_TRUE(refused.derived.empty());
  ASSERT_EQ(refused.notes.size(), 1u);
  EXPECT_EQ(refused.notes[0].code, "G024");
  EXPECT_TRUE(load(accepting(""), Derivations::believed).derived.empty()) << "the policy does not accept it";
  ASSERT_TRUE(store->put(registry::derivation_key(made.digest), content::Rope::literal("junk"), {}));
  EXPECT_EQ(load(accepting(), Derivations::believed).notes.at(0).code, "G024");
}

/// A set that holds the candidate's file as it is: proven without a package that could be opened.
struct Copied {
  std::unique_ptr<store::ObjectStore> store = store::make_memory_store();
  registry::SealedSet candidate = sample("41-linux/python/g"), made = sample("42-linux/python/g");
  Copied() {
    auto record = made_of({made.digest, made.set}, {candidate.digest, candidate.set}).record;
    EXPECT_TRUE(registry::put_derivation(*store, made.digest, registry::to_json(record)));
  }
  registry::SealedSet sample(const std::string& directory) {
    return registry::testing::sealed_sample(*store, directory, {{"tool-3.1.tar.gz", "tool", "3.1"}});
  }
  void alter_candidate() { ASSERT_TRUE(store->put(candidate.set.files[0].key, content::Rope::literal("altered"), {})); }
};

TEST(DerivedInAStore, IsProvenOnceInACommand) {
  Copied sets;
  Proofs proofs;
  auto load = [&](Proofs* known) {
    auto input = collect(*sets.store, "stable", {sets.made}, k_day_of_test).value();
    EXPECT_TRUE(load_for_policy(*sets.store, accepting(), input, Derivations::proven, known));
    return input;
  };
  EXPECT_EQ(load(&proofs).derived.size(), 1u);
  sets.alter_candidate();
  EXPECT_EQ(load(&proofs).derived.size(), 1u) << "the bytes are not read again";
  Proofs later;
  for (auto* known : {static_cast<Proofs*>(nullptr), &later, &later}) {
    auto refused = load(known);
    EXPECT_TRUE(refused.derived.empty());
    ASSERT_EQ(refused.notes.size(), 1u);
    EXPECT_EQ(refused.notes[0].code, "G024");
  }
}

TEST(DerivedInAStore, ACandidateThatTheChannelBlocksProvesNothing) {
  Copied sets;
  auto evidence_of = [&](const std::string& channel) {
    auto input = collect(*sets.store, channel, {sets.made}, k_day_of_test).value();
    auto loaded = load_for_policy(*sets.store, accepting(), input);
    EXPECT_TRUE(loaded) << render(loaded.error());
    return input;
  };
  registry::ChannelRecord channel;
  channel.name = "stable";
  channel.generation = 1;
  channel.view = registry::testing::digest_named<registry::ViewDigest>("view");
  channel.ledger = registry::testing::digest_named<registry::LedgerDigest>("move");
  const auto& file = sets.candidate.set.files[0];
  channel.guard.blocked = {{file.sha256, file.filename, "crashes", 1, {}}};
  ASSERT_TRUE(sets.store->put("channels/stable.json", content::Rope::literal(registry::to_json(channel)), {}));
  auto refused = evidence_of("stable");
  EXPECT_TRUE(refused.derived.empty());
  ASSERT_EQ(refused.notes.size(), 1u);
  EXPECT_EQ(refused.notes[0].code, "G033");
  EXPECT_THAT(refused.notes[0].message, HasSubstr("blocks its tool-3.1.tar.gz (crashes)"));
  EXPECT_EQ(evidence_of("other").derived.size(), 1u);
}

TEST(DerivedInAStore, WhatIsTestedTogetherIsProvenToo) {
  Copied sets;
  auto load = [&] {
    auto input = collect(*sets.store, "stable", {}, k_day_of_test).value();
    input.present = {{sets.made.digest, sets.made.set}};
    EXPECT_TRUE(load_for_policy(*sets.store, accepting(), input));
    return input;
  };
  EXPECT_EQ(load().derived.size(), 1u);
  sets.alter_candidate();
  auto refused = load();
  EXPECT_TRUE(refused.derived.empty());
  ASSERT_EQ(refused.notes.size(), 1u);
  EXPECT_EQ(refused.notes[0].code, "G024");
}

} // namespace
} // namespace quarry::gate
