#include "registry/records.hpp"

#include "registry/own_digest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace quarry::registry {
namespace {

const auto k_record_time = *Timestamp::parse("2026-11-20T10:00:00.000000Z");

FileRecord wheel() {
  FileRecord file;
  file.filename = "a-1.0-py3-none-any.whl";
  file.project = "a";
  file.version = "1.0";
  file.size = 3;
  file.sha256 = sha256("abc");
  file.metadata_sha256 = sha256("m");
  file.requires_python = ">=3.10";
  file.upload_time = "2026-11-20T10:00:00.000000Z";
  file.key = "42-linux/python/g/dist/a-1.0-py3-none-any.whl";
  file.tags = "py3-none-any";
  return file;
}

SetRecord set_of(std::vector<FileRecord> files) {
  SetRecord set;
  set.origin = {"42", Platform::linux, "g", "c0ffee", "", "quarry 0.1", "", {}};
  set.directory = "42-linux/python/g";
  set.files = std::move(files);
  return set;
}

// The bytes are a contract: the digest of every set ever sealed depends on them.
TEST(Records, ASetHasExactlyTheseBytes) {
  EXPECT_EQ(
      to_json(set_of({wheel()})),
      R"({"directory":"42-linux/python/g","files":[{"filename":"a-1.0-py3-none-any.whl","key":"42-linux/python/g/dist/a-1.0-py3-none-any.whl",)"
      R"("metadata_sha256":")" +
          sha256("m").hex() + R"(","project":"a","requires_python":">=3.10","sha256":")" + sha256("abc").hex() +
          R"(","size":3,"tags":"py3-none-any","upload_time":"2026-11-20T10:00:00.000000Z","version":"1.0"}],)"
          R"("origin":{"commit":"c0ffee","group":"g","platform":"linux","run_id":"42","tool":"quarry 0.1"},"schema":"quarry.set/1"})");
}

template <class R, class Parse> void expect_round_trip(const R& record, Parse parse) {
  auto bytes = to_json(record);
  auto again = parse({bytes, "a record"});
  ASSERT_TRUE(again) << render(again.error());
  EXPECT_EQ(to_json(*again), bytes);
  EXPECT_EQ(json::canonical(*json::parse({bytes, "a record"})).value(), bytes);
}

template <class Parse> void expect_no_change_unseen(const std::string& bytes, Parse parse) {
  ASSERT_TRUE(parse({bytes, "a record"}));
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    auto changed = bytes;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(parse({changed, "a record"})) << changed;
  }
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(parse({bytes.substr(0, size), "a record"}));
}

TEST(Records, NoBitOfARecordThatHoldsItsOwnDigestChangesUnseen) {
  const SetDigest set(sha256("x"));
  const ViewDigest view(sha256("x"));
  const LedgerDigest ledger(sha256("x"));
  expect_no_change_unseen(to_json(SealRecord{set, "42-linux/python/g", k_record_time, {}}), parse_seal);
  expect_no_change_unseen(to_json(ChannelRecord{"stable", 3, view, view, ledger, {}}), parse_channel);
}

TEST(Records, ASealKeepsAndProvesFieldsOfLaterVersions) {
  SealRecord seal{SetDigest(sha256("x")), "42-linux/python/g", k_record_time, R"({"later":"words"})"};
  auto bytes = to_json(seal);
  auto again = parse_seal({bytes, "a seal"});
  ASSERT_TRUE(again) << render(again.error());
  EXPECT_EQ(to_json(*again), bytes);
  auto changed = bytes;
  changed.replace(changed.find("words"), 5, "sword");
  auto refused = parse_seal({changed, "a seal"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "R011");
}

TEST(Records, EveryRecordReadsBackToTheSameBytes) {
  const SetDigest set(sha256("x"));
  const ViewDigest view(sha256("x"));
  const ShardDigest shard(sha256("x"));
  const LedgerDigest ledger(sha256("x"));
  const PlanDigest plan(sha256("x"));
  const VerdictDigest verdict(sha256("x"));
  expect_round_trip(set_of({wheel()}), parse_set);
  expect_round_trip(SealRecord{set, "42-linux/python/g", k_record_time, {}}, parse_seal);
  expect_round_trip(ViewRecord{{set}, {{"a", shard}}, {}}, parse_view);
  expect_round_trip(ViewRecord{}, parse_view);
  expect_round_trip(ShardRecord{"a", {wheel()}, {}}, parse_shard);
  expect_round_trip(ChannelRecord{"stable", 3, view, view, ledger, {}}, parse_channel);
  Guard guard{PolicyDigest(sha256("p")), {{sha256("f"), "a-1.0-py3-none-any.whl", "crashes", 2, {}}}};
  expect_round_trip(ChannelRecord{"stable", 3, view, view, ledger, guard}, parse_channel);
  expect_round_trip(
      LedgerRecord{ledger, "stable", Action::promote, view, view, plan, verdict, "ci", k_record_time, "why", 2, {}},
      parse_ledger);
  LedgerRecord move{ledger, "stable", Action::promote, view, view, plan, verdict, "ci", k_record_time, "why", 2, {}};
  EXPECT_EQ(to_json(move).find("identity"), std::string::npos) << "entries of before keep their digests";
  move.identity = Identity{"ci", "acme/rocm", "", "", ""};
  expect_round_trip(move, parse_ledger);
  EXPECT_EQ(parse_ledger({to_json(move), "x"})->identity, move.identity);
  EvidenceRecord evidence;
  evidence.subjects = {wheel()};
  evidence.cell = {Platform::linux, "gfx94X-dcgpu", "3.12", ""};
  evidence.suite = "rocm-sdk-test";
  evidence.result = Outcome::failed;
  evidence.failed = 1;
  evidence.rows = {{"t1", Outcome::failed, "no device", 0.25}, {"t2", Outcome::passed, "", 1e-7}};
  evidence.machine = {{"host", "gpu-7"}};
  evidence.started = evidence.ended = k_record_time;
  expect_round_trip(evidence, parse_evidence);
  evidence.sets = {set, digest_of(set_of({wheel()}))};
  expect_round_trip(evidence, parse_evidence);
  EXPECT_EQ(to_json(evidence).find("identity"), std::string::npos) << "records of before keep their digests";
  evidence.identity = Identity{"ann",
                               "acme/rocm",
                               "acme/rocm/.github/workflows/t.yml@refs/heads/main",
                               "c0ffee",
                               "https://github.com/acme/rocm/actions/runs/1",
                               R"({"later":1})"};
  expect_round_trip(evidence, parse_evidence);
  EXPECT_EQ(parse_evidence({to_json(evidence), "x"})->identity, evidence.identity);
  WaiverRecord waiver;
  waiver.channel = "stable";
  waiver.suite = "s";
  waiver.reason = "why";
  waiver.approver = "lead";
  waiver.requester = "eve";
  waiver.repository = "acme/rocm";
  waiver.run = "https://github.com/acme/rocm/actions/runs/1";
  waiver.created = waiver.expires = k_record_time;
  waiver.cell = {Platform::linux, "f", "", ""};
  waiver.sets = {set};
  expect_round_trip(waiver, parse_waiver);
  waiver.attachment = Attachment{"risks.pdf", sha256("risks")};
  expect_round_trip(waiver, parse_waiver);
  EXPECT_EQ(parse_waiver({to_json(waiver), "x"})->attachment, waiver.attachment);
}

TEST(Records, FieldsOfALaterVersionAreKept) {
  auto bytes = to_json(set_of({wheel()}));
  auto insert = [&](const std::string& before, const std::string& text) { bytes.insert(bytes.find(before), text); };
  insert(R"("platform":)", R"("new_in_origin":[1,2],)");
  insert(R"("project":)", R"("new_in_file":{"x":true},)");
  insert(R"("origin":)", R"("new":"y",)");
  auto read = parse_set({bytes, "a set"});
  ASSERT_TRUE(read) << render(read.error());
  EXPECT_EQ(read->unknown, R"({"new":"y"})");
  EXPECT_EQ(sha256(to_json(*read)).hex().size(), 64u);
  auto again = parse_set({to_json(*read), "a set"});
  EXPECT_EQ(again->origin.unknown, R"({"new_in_origin":[1,2]})");
  EXPECT_EQ(again->files[0].unknown, R"({"new_in_file":{"x":true}})");
}

// Quotes, escapes, control characters, DEL and characters of one to four bytes; keys that need escapes, too.
TEST(Records, AnyTextIsWrittenAsCanonicalJson) {
  const std::string odd = "\"a\\b/\n\t\x01\x1f\x7f \xC3\xA4 \xE2\x82\xAC \xF0\x9F\x98\x80";
  EvidenceRecord evidence;
  evidence.suite = odd;
  evidence.result = Outcome::read(odd);
  evidence.started = evidence.ended = k_record_time;
  evidence.machine = {{odd, odd}, {"host", ""}};
  evidence.rows = {{odd, Outcome::passed, odd, 0.1}, {"b", Outcome::passed, "", 1e300}};
  evidence.unknown = R"({"added":[1.5,-3,{"\u0001":null}],"zzz":"later"})";
  expect_round_trip(evidence, parse_evidence);
  EXPECT_EQ(parse_evidence({to_json(evidence), "x"})->machine.at(odd), odd);
}

TEST(Records, TextThatIsNotUtf8CannotBreakARecord) {
  EvidenceRecord evidence;
  evidence.suite = "s";
  evidence.result = Outcome::failed;
  evidence.started = evidence.ended = k_record_time;
  evidence.rows = {{"t\xff", Outcome::failed, "\x80", 0}};
  auto read = parse_evidence({to_json(evidence), "evidence"});
  ASSERT_TRUE(read) << render(read.error());
  EXPECT_EQ(read->rows[0].message, "\xEF\xBF\xBD");
}

struct BadSet {
  const char* name;
  void (*spoil)(SetRecord&);
};
class SenselessSet : public ::testing::TestWithParam<BadSet> {};
INSTANTIATE_TEST_SUITE_P(
    All, SenselessSet,
    ::testing::Values(BadSet{"FileNameWithSlash", [](SetRecord& s) { s.files[0].filename = "../a"; }},
                      BadSet{"FileNameDots", [](SetRecord& s) { s.files[0].filename = ".."; }},
                      BadSet{"KeyOutside", [](SetRecord& s) { s.files[0].key = "../a-1.0-py3-none-any.whl"; }},
                      BadSet{"KeyOfAnotherFile", [](SetRecord& s) { s.files[0].key = "42-linux/python/g/dist/b.whl"; }},
                      BadSet{"ProjectNotNormal", [](SetRecord& s) { s.files[0].project = "A_b"; }},
                      BadSet{"ProjectWithSlash", [](SetRecord& s) { s.files[0].project = "a/../b"; }},
                      BadSet{"Directory", [](SetRecord& s) { s.directory = "/etc"; }},
                      BadSet{"Twice", [](SetRecord& s) { s.files.push_back(s.files[0]); }},
                      BadSet{"OutOfOrder",
                             [](SetRecord& s) {
                               auto first = s.files[0];
                               first.filename = "Z.whl", first.key = {};
                               s.files.push_back(first);
                             }}),
    [](const auto& bad) { return bad.param.name; });
TEST_P(SenselessSet, IsRefused) {
  auto set = set_of({wheel()});
  GetParam().spoil(set);
  auto read = parse_set({to_json(set), "a set"});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, "R012");
  EXPECT_EQ(read.error().kind, ErrorKind::corrupt);
}

struct WrongShape {
  std::string text, code;
};
template <class Parse> void expect_refused(const std::vector<WrongShape>& cases, Parse parse) {
  for (const auto& [text, code] : cases) {
    auto read = parse({text, "a record"});
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, code) << text;
    EXPECT_EQ(read.error().kind, ErrorKind::corrupt) << text;
  }
}
/// Hand-made, with the digest that it must have.
std::string proven(const std::string& text) { return with_own_digest(*json::parse({text, "a record"})); }

TEST(Records, WrongShapesAreRefused) {
  auto channel = [](const std::string& fields) { return proven(R"({"schema":"quarry.channel/1",)" + fields + "}"); };
  const auto digest = sha256("x").hex(), rest = R"(,"view":")" + digest + R"(","ledger":")" + digest + R"(")";
  ASSERT_TRUE(parse_channel({channel(R"("name":"a","generation":1)" + rest), "a channel"}));
  expect_refused({{"", "B002"},
                  {"[]", "B003"},
                  {R"({"schema":"quarry.channel/3"})", "B004"},
                  {R"({"schema":"quarry.channel/2"})", "R011"},
                  {R"({"schema":"quarry.channel/1"})", "R011"},
                  {R"({"digest":1,"schema":"quarry.channel/1"})", "R011"},
                  {" " + channel(R"("name":"a","generation":1)" + rest), "R011"}, // not the canonical bytes
                  {channel(R"("name":"a")" + rest), "R012"},
                  {channel(R"("name":"","generation":1)" + rest), "R012"},
                  {channel(R"("name":"a","generation":-1)" + rest), "R012"},
                  {channel(R"("name":"a","generation":"1")" + rest), "R012"},
                  {channel(R"("name":"a","generation":1,"previous":"../x")" + rest), "R012"},
                  {channel(R"("name":"a","generation":1,"view":"../x","ledger":")" + digest + R"(")"), "R012"}},
                 parse_channel);
  auto seal = [&](const std::string& set, const std::string& directory,
                  const std::string& time = "2026-11-20T10:00:00Z") {
    return proven(R"({"schema":"quarry.seal/1","time":")" + time + R"(","set":")" + set + R"(","directory":")" +
                  directory + R"("})");
  };
  ASSERT_TRUE(parse_seal({seal(digest, "42-linux/python/g"), "a seal"}));
  expect_refused({{seal("../x", "42-linux/python/g"), "R012"},
                  {seal(digest, "../x"), "R012"},
                  {seal(digest, ""), "R012"},
                  {seal(digest, "42-linux/python/g", "yesterday"), "R012"},
                  {seal(digest, "42-linux/python/g", "2026-11-20T10:00:00+01:00"), "R012"},
                  {seal(digest, "42-linux/python/g", ""), "R012"},
                  {proven(R"({"schema":"quarry.seal/1"})"), "R012"}},
                 parse_seal);
}

TEST(Records, AGuardedChannelHasAnotherMajorVersion) {
  ChannelRecord channel{"stable", 1, ViewDigest(sha256("v")), {}, LedgerDigest(sha256("l")), {}};
  EXPECT_NE(to_json(channel).find("\"schema\":\"quarry.channel/1\""), std::string::npos);
  channel.guard.policy = PolicyDigest(sha256("p"));
  auto bytes = to_json(channel);
  EXPECT_NE(bytes.find("\"schema\":\"quarry.channel/2\""), std::string::npos);
  auto again = parse_channel({bytes, "c"});
  ASSERT_TRUE(again) << render(again.error());
  EXPECT_EQ(again->guard, channel.guard);
  channel.guard.blocked = {{sha256("f"), "f", "", 1, {}}, {sha256("f"), "g", "", 1, {}}};
  auto twice = parse_channel({to_json(channel), "c"});
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, "R012");
}

} // namespace
} // namespace quarry::registry
