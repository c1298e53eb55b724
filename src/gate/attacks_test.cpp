// Generated attacks on evidence, waivers and signatures: each is a record that was made to count and must not. The
// usual run tries some; QUARRY_LONG=1 tries 10,000 (docs/campaigns.md). QUARRY_SEED chooses others.
#include "gate/collect.hpp"

#include "gate/testing/policies.hpp"
#include "registry/revocations.hpp"
#include "registry/testing/samples.hpp"
#include "sys/clock.hpp"
#include <cstdlib>
#include <fmt/core.h>
#include <functional>
#include <gtest/gtest.h>
#include <random>

namespace quarry::gate {
namespace {

using registry::EvidenceRecord;
using registry::Outcome;
using registry::SealedSet;
using registry::WaiverRecord;

const std::int64_t k_today = *sys::parse_rfc3339("2026-11-21T12:00:00Z");
constexpr std::int64_t k_one_hour = 3'600'000'000, k_one_day = 24 * k_one_hour;

using Random = std::mt19937_64;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::size_t attacks() { return number_from("QUARRY_LONG", 0) ? 10'000 : 300; }
std::uint64_t seed() { return number_from("QUARRY_SEED", 1); }

Ed25519PrivateKey new_key() {
  auto key = Ed25519PrivateKey::create();
  EXPECT_TRUE(key);
  return *key;
}

/// Who signs: the tester and the approver, an approver whose key was revoked, and somebody else.
struct Keys {
  Ed25519PrivateKey tester = new_key(), lead = new_key(), revoked = new_key(), stranger = new_key();
};

Policy guarded_policy(const Keys& keys) {
  auto signer = [](const char* name, const Ed25519PrivateKey& key, const char* signs, const char* more = "") {
    return fmt::format("[[signer]]\nname = \"{}\"\nkey = \"{}\"\nsigns = [\"{}\"]\n{}", name, key.public_key().base64(),
                       signs, more);
  };
  return testing::parsed_policy(
      "approvers = [\"lead\", \"old\"]\nwaiver_max_age = \"7d\"\n" + signer("ci", keys.tester, "evidence") +
      signer("lead", keys.lead, "waivers") + signer("old", keys.revoked, "waivers", "revoked = \"leaked\"\n") +
      "[[require]]\nplatforms = [\"linux\"]\nfamilies = [\"*\"]\npythons = [\"*\"]\nsuites = [\"smoke\"]\n"
      "[[suite]]\nname = \"smoke\"\ngpu = true\nmin_passed = 3\n"
      "[[machine]]\nname = \"gpu-9\"\nreason = \"fans\"\nuntil = \"2027-01-01\"\n");
}

SealedSet sealed_release(store::ObjectStore& store) {
  return registry::testing::sealed_sample(store, "1-linux/python/g",
                                          {{"rocm-7.2.0.tar.gz", "rocm", "7.2.0"},
                                           {"rocm_sdk_core-7.2.0-py3-none-linux_x86_64.whl", "rocm-sdk-core", "7.2.0"},
                                           {"rocm_sdk_libraries_gfx94x_dcgpu-7.2.0-py3-none-linux_x86_64.whl",
                                            "rocm-sdk-libraries-gfx94x-dcgpu", "7.2.0"}});
}

EvidenceRecord good_evidence(const SealedSet& set) {
  EvidenceRecord e;
  e.subjects = set.set.files;
  e.cell = {Platform::linux, "gfx94X-dcgpu", "3.12", ""};
  e.suite = "smoke";
  e.result = Outcome::passed;
  e.passed = 3;
  e.machine = {{"host", "gpu-1"}, {"gpu_targets", "gfx942"}};
  e.started = sys::Timestamp::from_us(k_today - 2 * k_one_hour);
  e.ended = sys::Timestamp::from_us(k_today - k_one_hour);
  e.set = set.digest;
  e.sealed = true;
  return e;
}

WaiverRecord good_waiver(const SealedSet& set) {
  WaiverRecord w;
  w.channel = "stable";
  w.suite = "smoke";
  w.reason = "the machine is being repaired";
  w.approver = w.requester = "lead";
  w.created = sys::Timestamp::from_us(k_today - k_one_hour);
  w.expires = sys::Timestamp::from_us(k_today + k_one_day);
  w.cell = {Platform::linux, "gfx94X-dcgpu", "", ""};
  w.sets = {set.digest};
  return w;
}

template <class Record> struct Attack {
  const char* name;
  std::function<void(Record&, Random&)> spoil;
};

registry::SetDigest other_set(Random& random) { return registry::SetDigest(sha256(fmt::format("set {}", random()))); }
template <class T> const T& any_of(const std::vector<T>& all, Random& random) { return all[random() % all.size()]; }
std::size_t any_index(const EvidenceRecord& e, Random& random) {
  return random() % std::max<std::size_t>(1, e.subjects.size());
}

const std::vector<Attack<EvidenceRecord>>& evidence_attacks() {
  using E = EvidenceRecord;
  static const std::vector<Attack<E>> k_all = {
      {"other bytes", [](E& e, Random& r) { e.subjects[any_index(e, r)].sha256 = sha256(fmt::format("{}", r())); }},
      {"other name", [](E& e, Random& r) { e.subjects[any_index(e, r)].filename = "a.whl"; }},
      {"a foreign file",
       [](E& e, Random& r) {
         auto file = e.subjects[any_index(e, r)];
         file.filename = "zz-1.tar.gz";
         file.sha256 = sha256(fmt::format("{}", r()));
         e.subjects.push_back(file);
       }},
      {"another set", [](E& e, Random& r) { e.set = other_set(r); }},
      {"no set", [](E& e, Random&) { e.set = {}; }},
      {"unsealed", [](E& e, Random&) { e.sealed = false; }},
      {"stale",
       [](E& e, Random& r) {
         e.ended = sys::Timestamp::from_us(k_today - 14 * k_one_day - 1 - static_cast<std::int64_t>(r() % 1000));
         e.started = sys::Timestamp::from_us(e.ended.us() - 1);
       }},
      {"from the future",
       [](E& e, Random& r) {
         e.ended = sys::Timestamp::from_us(k_today + 301'000'000 + static_cast<std::int64_t>(r() % 1'000'000));
       }},
      {"ended before it started", [](E& e, Random&) { e.started = sys::Timestamp::from_us(e.ended.us() + 1); }},
      {"no times", [](E& e, Random&) { e.ended = e.started = {}; }},
      {"failed", [](E& e, Random&) { e.result = Outcome::failed; }},
      {"unknown result", [](E& e, Random&) { e.result = Outcome::read("perfect"); }},
      {"skipped result", [](E& e, Random&) { e.result = Outcome::skipped; }},
      {"counts a failure", [](E& e, Random&) { e.failed = 1; }},
      {"too few", [](E& e, Random& r) { e.passed = r() % 3; }},
      {"no GPU", [](E& e, Random&) { e.machine.erase("gpu_targets"); }},
      {"another GPU", [](E& e, Random&) { e.machine["gpu_targets"] = "gfx1100 gfx90a"; }},
      {"a report's word", [](E& e, Random&) { e.reported = "rocm-sdk.test/1 of gpu-1"; }},
      {"a machine set aside", [](E& e, Random&) { e.machine["host"] = "gpu-9"; }},
      {"on a CPU", [](E& e, Random&) { e.cell.backend = "cpu"; }},
      {"another platform", [](E& e, Random&) { e.cell.platform = Platform::windows; }},
      {"another family", [](E& e, Random&) { e.cell.family = "gfx1100"; }},
      {"a framework", [](E& e, Random&) { e.cell.framework = "torch"; }},
      {"no Python", [](E& e, Random&) { e.cell.python.clear(); }},
      {"another suite", [](E& e, Random&) { e.suite = "Smoke"; }},
      {"rows that disagree", [](E& e, Random&) { e.rows = {{"test", Outcome::failed, "", 0}}; }}};
  return k_all;
}

const std::vector<Attack<WaiverRecord>>& waiver_attacks() {
  using W = WaiverRecord;
  static const std::vector<Attack<W>> k_all = {
      {"another channel", [](W& w, Random&) { w.channel = "nightly"; }},
      {"another suite", [](W& w, Random&) { w.suite = "other"; }},
      {"another family", [](W& w, Random&) { w.cell.family = "gfx1100"; }},
      {"another platform", [](W& w, Random&) { w.cell.platform = Platform::windows; }},
      {"a framework", [](W& w, Random&) { w.cell.framework = "torch"; }},
      {"another set", [](W& w, Random& r) { w.sets = {other_set(r)}; }},
      {"expired",
       [](W& w, Random& r) { w.expires = sys::Timestamp::from_us(k_today - static_cast<std::int64_t>(r() % 1000)); }},
      {"from the future", [](W& w, Random&) { w.created = sys::Timestamp::from_us(k_today + 301'000'000); }},
      {"too long",
       [](W& w, Random& r) {
         w.expires = sys::Timestamp::from_us(w.created.us() + 7 * k_one_day + 1 + static_cast<std::int64_t>(r() % 9));
       }},
      {"no approver", [](W& w, Random&) { w.approver = "intern"; }},
      {"an approver in capitals", [](W& w, Random&) { w.approver = "Lead"; }},
      {"no reason", [](W& w, Random&) { w.reason = " \t"; }},
      {"no times", [](W& w, Random&) { w.created = w.expires = {}; }}};
  return k_all;
}

void put_bytes(store::ObjectStore& store, const std::string& key, const std::string& bytes) {
  ASSERT_TRUE(store.put(key, content::Rope::literal(bytes), {}));
}

/// Ways to sign that prove nothing. `kind` and `digest` are of a record that is otherwise good.
void sign_wrongly(store::ObjectStore& store, const signature::Subject& record, const Keys& keys, Random& random) {
  bool waiver = record.kind == "waiver";
  const auto& right = waiver ? keys.lead : keys.tester;
  auto at = fmt::format("signatures/{}/{}.json", record.sha256.hex(), std::string(16, 'a'));
  auto valid = signature::envelope(record, right);
  switch (random() % 9) {
  case 0: return; // not at all
  case 1: ASSERT_TRUE(signature::sign(store, record, keys.stranger)); return;
  case 2: ASSERT_TRUE(signature::sign(store, record, keys.revoked)); return;
  case 3: ASSERT_TRUE(signature::sign(store, record, waiver ? keys.tester : keys.lead)); return;
  case 4: // of another record, put here
    return put_bytes(store, at, signature::envelope({record.kind, sha256("other")}, right));
  case 5: { // of the same bytes as another kind of record
    const char* kinds[] = {waiver ? "evidence" : "waiver", "verdict", "move"};
    return put_bytes(store, at, signature::envelope({kinds[random() % 3], record.sha256}, right));
  }
  case 6: return put_bytes(store, at, valid.substr(0, random() % valid.size()));
  case 7: { // a changed character of the signature or of what is signed
    auto part = valid.find(random() % 2 ? "\"payload\":\"" : "\"sig\":\"");
    auto place = valid.find(":\"", part) + 2 + random() % 80;
    valid[place] = valid[place] == 'A' ? 'B' : 'A';
    return put_bytes(store, at, valid);
  }
  default: // the right envelope, in the place of another record
    return put_bytes(store, fmt::format("signatures/{}/{}.json", sha256("other").hex(), std::string(16, 'a')), valid);
  }
}

class Attacks : public ::testing::Test {
protected:
  Verdict judged() {
    registry::Resolved source;
    source.sets = {set_};
    auto input = collect_new(*store_, "stable", source, k_today);
    EXPECT_TRUE(input) << render(input.error());
    EXPECT_TRUE(load_for_policy(*store_, policy_, *input));
    return judge(policy_, *input);
  }
  /// Stores the record below its digest, and signs it.
  template <class Record> void store_signed(const Record& record, const Ed25519PrivateKey& key) {
    auto digest = registry::digest_of(record);
    constexpr bool k_waiver = std::is_same_v<Record, WaiverRecord>;
    put_bytes(*store_, k_waiver ? "waivers/" + digest.hex() + ".json" : "evidence/" + digest.hex() + ".json",
              registry::to_json(record));
    ASSERT_TRUE(signature::sign(*store_, {k_waiver ? "waiver" : "evidence", *digest.sha256()}, key));
  }
  void start() {
    store_ = store::make_memory_store();
    set_ = sealed_release(*store_);
  }

  Keys keys_;
  Policy policy_ = guarded_policy(keys_);
  std::unique_ptr<store::ObjectStore> store_;
  SealedSet set_;
};

TEST_F(Attacks, WhatIsSpoiledInOneWayIsGoodInAllOthers) {
  start();
  EXPECT_EQ(judged().verdict, Decision::held);
  store_signed(good_evidence(set_), keys_.tester);
  EXPECT_EQ(judged().verdict, Decision::ready);
  start();
  store_signed(good_waiver(set_), keys_.lead);
  auto waived = judged();
  EXPECT_EQ(waived.verdict, Decision::ready);
  EXPECT_TRUE(waived.cells.at(0).waived);
}

TEST_F(Attacks, EachWayAloneIsRefused) {
  Random random(seed());
  for (const auto& attack : evidence_attacks()) {
    start();
    auto record = good_evidence(set_);
    attack.spoil(record, random);
    store_signed(record, keys_.tester);
    EXPECT_EQ(judged().verdict, Decision::held) << attack.name;
  }
  for (const auto& attack : waiver_attacks()) {
    start();
    auto record = good_waiver(set_);
    attack.spoil(record, random);
    store_signed(record, keys_.lead);
    EXPECT_EQ(judged().verdict, Decision::held) << attack.name;
  }
}

/// One store with up to six spoiled records; returns what was done.
std::string attack_once(store::ObjectStore& store, const SealedSet& set, const Keys& keys, Random& random) {
  std::string done;
  for (auto left = 1 + random() % 6; left > 0; --left) {
    bool waiver = random() % 2;
    auto evidence = good_evidence(set);
    auto waived = good_waiver(set);
    evidence.machine["boot"] = waived.run = fmt::format("{}", random()); // no two are one record
    auto way = random() % 3;                                             // what it says, who signed it, or its bytes
    for (auto spoils = way == 0 ? 1 + random() % 3 : 0; spoils > 0; --spoils) {
      const auto& of_evidence = any_of(evidence_attacks(), random);
      const auto& of_waiver = any_of(waiver_attacks(), random);
      (waiver ? of_waiver.spoil(waived, random) : of_evidence.spoil(evidence, random));
      done += std::string(waiver ? of_waiver.name : of_evidence.name) + ", ";
    }
    auto bytes = waiver ? registry::to_json(waived) : registry::to_json(evidence);
    auto digest = sha256(bytes);
    signature::Subject subject{waiver ? "waiver" : "evidence", digest};
    if (way == 2) { // other bytes below the name of the good ones, which somebody has signed
      auto place = random() % bytes.size();
      bytes = random() % 2 ? bytes.substr(0, place) : bytes.insert(place, 1, " 0a\"}"[random() % 5]);
      done += "other bytes in its place, ";
    }
    put_bytes(store, (waiver ? "waivers/" : "evidence/") + digest.hex() + ".json", bytes);
    if (way == 1) {
      sign_wrongly(store, subject, keys, random);
      done += "signed wrongly, ";
    } else {
      EXPECT_TRUE(signature::sign(store, subject, waiver ? keys.lead : keys.tester));
    }
  }
  return done;
}

TEST_F(Attacks, NoneIsAccepted) {
  Random random(seed());
  for (std::size_t i = 0; i < attacks(); ++i) {
    start();
    auto done = attack_once(*store_, set_, keys_, random);
    ASSERT_EQ(judged().verdict, Decision::held) << fmt::format("QUARRY_SEED={}, attack {}: {}", seed(), i, done);
  }
}

TEST_F(Attacks, ARevokedWaiverDoesNotComeBack) {
  start();
  auto waiver = good_waiver(set_);
  store_signed(waiver, keys_.lead);
  auto revocation = registry::revocation_key(registry::digest_of(waiver));
  for (const auto* bytes : {"", "{}", "{\"waiver\":\"other\"}"}) {
    put_bytes(*store_, revocation, bytes);
    EXPECT_EQ(judged().verdict, Decision::held) << bytes;
  }
}

/// Among any records, one more that did not pass opens nothing.
TEST_F(Attacks, ARecordThatDidNotPassOpensNothing) {
  Random random(seed());
  auto open = testing::parsed_policy(
      "approvers = [\"lead\"]\n[[require]]\nplatforms = [\"linux\"]\nfamilies = [\"*\"]\npythons = [\"*\"]\n"
      "suites = [\"smoke\"]\n[[suite]]\nname = \"smoke\"\ngpu = true\n");
  start();
  for (std::size_t i = 0; i < attacks(); ++i) {
    Case input;
    input.channel = "stable";
    input.now_us = k_today;
    input.subjects = {{set_.digest, set_.set}};
    auto add = [&](EvidenceRecord e) { input.evidence.push_back({registry::digest_of(e), e}); };
    auto any_record = [&] {
      auto e = good_evidence(set_);
      e.ended = sys::Timestamp::from_us(k_today - static_cast<std::int64_t>(random() % 20) * k_one_day);
      e.started = e.ended;
      if (random() % 2) any_of(evidence_attacks(), random).spoil(e, random);
      return e;
    };
    for (auto left = random() % 5; left > 0; --left) add(any_record());
    auto before = judge(open, input);
    auto more = any_record();
    const Outcome results[] = {Outcome::failed, Outcome::error, Outcome::timed_out, Outcome::skipped,
                               Outcome::read("perfect")};
    more.result = results[random() % 5];
    add(more);
    auto after = judge(open, input);
    if (before.verdict == Decision::held) {
      ASSERT_EQ(after.verdict, Decision::held) << fmt::format("QUARRY_SEED={}, case {}", seed(), i);
    }
  }
}

} // namespace
} // namespace quarry::gate
