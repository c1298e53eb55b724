#include "registry/registry.hpp"

#include "registry/bound.hpp"
#include "registry/distributions.hpp"
#include "registry/empty_extras.hpp"
#include "registry/evidence_marks.hpp"
#include "registry/history.hpp"
#include "registry/locks.hpp"
#include "registry/requirements.hpp"
#include "registry/retired.hpp"
#include "registry/testing/samples.hpp"
#include "store/testing/faulty_store.hpp"
#include "store/testing/temporary_directory.hpp"
#include "sys/file.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace quarry::registry {
namespace {

using store::testing::FaultyStore;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::put_sample_set;
using testing::sealed_sample;

const auto k_time = *Timestamp::parse("2026-11-20T10:00:00.000000Z");

class Registry : public ::testing::Test {
protected:
  void overwrite(const std::string& key, const std::string& bytes) {
    ASSERT_TRUE(store_->put(key, content::Rope::literal(bytes), {}));
  }
  std::string text(const std::string& key) { return **store_->get(key, 1 << 20); }
  void spoil(const std::string& key) {
    auto bytes = text(key);
    bytes.replace(bytes.find("1.0"), 3, "6.6");
    overwrite(key, bytes);
  }
  std::vector<std::string> names(const std::vector<FileRecord>& files) {
    std::vector<std::string> found;
    for (const auto& file : files) found.push_back(file.filename);
    return found;
  }
  /// One move of channel "c" to the view of these sets.
  Channel move(const std::vector<SealedSet>& sets, Action action = Action::promote) {
    auto now = read_channel(*store_, "c");
    auto view = make_view(sets);
    EXPECT_TRUE(view && put_view(*store_, *view));
    ChannelRecord next{"c", 1, view->digest, {}, {}, {}};
    LedgerRecord entry{{}, "c", action, {}, view->digest, {}, {}, "who", k_time, {}, 1, {}};
    if (*now) {
      next.generation = entry.generation = (*now)->record.generation + 1;
      next.previous = entry.from_view = (*now)->record.view;
      entry.previous = (*now)->record.ledger;
    }
    next.ledger = *put_ledger(*store_, entry);
    EXPECT_TRUE(swap_channel(*store_, *now, next));
    return *require_channel(*store_, "c");
  }
  std::unique_ptr<ObjectStore> store_ = store::make_memory_store();
};

// Nobody could read it again: a seal or a channel that names it would be broken from the start.
TEST_F(Registry, ARecordThatIsTooLargeToBeReadIsNotWritten) {
  auto refused = put_verdict(*store_, std::string(k_record_bytes_max + 1, ' '));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "R007");
  EXPECT_EQ(refused.error().kind, ErrorKind::resource_exhausted);
  EXPECT_TRUE(store_->list("")->empty());
  auto largest = put_verdict(*store_, std::string(k_record_bytes_max, ' '));
  EXPECT_TRUE(largest) << render(largest.error());
}

TEST_F(Registry, ARecordIsNamedByItsDigestAndWrittenOnce) {
  auto digest = put_sample_set(*store_, "1-linux/python/g", {{"a-1.0.tar.gz", "a", "1.0"}});
  EXPECT_EQ(SetDigest(sha256(text(set_key(digest)))), digest);
  auto puts = store_->counters().puts;
  EXPECT_EQ(*put_set(*store_, *load_set(*store_, digest)), digest);
  EXPECT_EQ(store_->counters().puts, puts);
}

TEST_F(Registry, AnAlteredRecordIsCorruptToReadAndToWrite) {
  auto digest = put_sample_set(*store_, "1-linux/python/g", {{"a-1.0.tar.gz", "a", "1.0"}});
  auto good = *load_set(*store_, digest);
  spoil(set_key(digest));
  auto loaded = load_set(*store_, digest);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, "R011");
  EXPECT_EQ(loaded.error().kind, ErrorKind::corrupt);
  auto put = put_set(*store_, good);
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, "R011");
}

TEST_F(Registry, ASetWithoutSealIsNotFound) {
  auto digest = put_sample_set(*store_, "1-linux/python/g", {{"a-1.0.tar.gz", "a", "1.0"}});
  for (auto&& attempt : {resolve_set(*store_, digest.hex()), resolve_run(*store_, "1-linux")}) {
    ASSERT_FALSE(attempt);
    EXPECT_EQ(attempt.error().code, "R013");
    EXPECT_EQ(attempt.error().kind, ErrorKind::not_found);
  }
  EXPECT_TRUE(*seal(*store_, digest, *Timestamp::parse("2026-11-20T10:00:01.000000Z")));
  EXPECT_FALSE(*seal(*store_, digest, *Timestamp::parse("2026-11-21T10:00:01.000000Z")));
  EXPECT_EQ(load_sealed(*store_, digest)->seal.time.text(), "2026-11-20T10:00:01.000000Z");
  EXPECT_TRUE(resolve_run(*store_, "1-linux"));
}

// A job that was killed between the seal and the second look at the record, which gc had removed meanwhile.
TEST_F(Registry, SealingAgainBringsTheRecordBack) {
  auto digest = put_sample_set(*store_, "1-linux/python/g", {{"a-1.0.tar.gz", "a", "1.0"}});
  auto time = *Timestamp::parse("2026-11-20T10:00:01.000000Z");
  ASSERT_TRUE(*seal(*store_, digest, time));
  auto record = *load_set(*store_, digest);
  ASSERT_TRUE(store_->remove(set_key(digest)));
  EXPECT_FALSE(*seal(*store_, digest, record, time));
  EXPECT_TRUE(load_sealed(*store_, digest));
}

TEST_F(Registry, ASealWithoutItsSetCannotBeWritten) {
  auto sealed = seal(*store_, SetDigest(sha256("nothing")), k_time);
  ASSERT_FALSE(sealed);
  EXPECT_EQ(sealed.error().code, "R010");
}

TEST_F(Registry, AnAlteredSetIsRefusedThroughEveryDoor) {
  auto sealed = sealed_sample(*store_, "1-linux/python/g", {{"a-1.0.tar.gz", "a", "1.0"}});
  move({sealed});
  spoil(set_key(sealed.digest));
  for (auto&& attempt :
       {resolve_set(*store_, sealed.digest.hex()), resolve_run(*store_, "1-linux"), resolve_channel(*store_, "c")}) {
    ASSERT_FALSE(attempt);
    EXPECT_EQ(attempt.error().code, "R011");
    EXPECT_EQ(attempt.error().kind, ErrorKind::corrupt);
  }
}

TEST_F(Registry, ADamagedSealIsRefusedAndLeftAsItIs) {
  auto sealed = sealed_sample(*store_, "1-linux/python/g", {{"a-1.0.tar.gz", "a", "1.0"}});
  auto key = seal_key("1-linux/python/g", sealed.digest);
  auto later = text(key);
  later.replace(later.find("2026"), 4, "2036");
  overwrite(key, later);
  EXPECT_EQ(load_sealed(*store_, sealed.digest).error().code, "R011");
  EXPECT_EQ(seal(*store_, sealed.digest, *Timestamp::parse("2026-11-21T10:00:01.000000Z")).error().code, "R011");
  EXPECT_EQ(text(key), later);
}

TEST_F(Registry, ASealThatNamesAnotherSetOrPlaceIsRefused) {
  auto one = sealed_sample(*store_, "1-linux/python/g", {{"a-1.0.tar.gz", "a", "1.0"}});
  auto other = sealed_sample(*store_, "2-linux/python/g", {{"b-1.0.tar.gz", "b", "1.0"}});
  auto good = text(seal_key("1-linux/python/g", one.digest));
  overwrite(seal_key("1-linux/python/g", one.digest), to_json(other.seal));
  EXPECT_EQ(load_sealed(*store_, one.digest).error().code, "R014");
  EXPECT_EQ(seal(*store_, one.digest, k_time).error().code, "R014");
  overwrite(seal_key("1-linux/python/g", one.digest), good);
  overwrite(seal_key("3-linux/python/g", one.digest), good);
  auto moved = resolve_run(*store_, "3-linux");
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code, "R014");
}

TEST_F(Registry, ARunIsTheUnionOfTheSealedSetsBelowIt) {
  sealed_sample(*store_, "1-linux/python/g", {{"a-1.0.tar.gz", "a", "1.0"}, {"c-1.0.tar.gz", "c", "1.0"}},
                "2026-11-20T10:00:02.000000Z");
  sealed_sample(*store_, "1-linux/pytorch/g", {{"b-1.0.tar.gz", "b", "1.0"}}, "2026-11-20T10:00:01.000000Z");
  put_sample_set(*store_, "1-linux/jax/g", {{"d-1.0.tar.gz", "d", "1.0"}});
  sealed_sample(*store_, "11-linux/python/g", {{"e-1.0.tar.gz", "e", "1.0"}});
  auto run = resolve_run(*store_, "1-linux");
  ASSERT_TRUE(run) << render(run.error());
  EXPECT_THAT(names(run->files), ElementsAre("a-1.0.tar.gz", "b-1.0.tar.gz", "c-1.0.tar.gz"));
  ASSERT_EQ(run->sets.size(), 2u);
  EXPECT_EQ(run->sets[0].set.files[0].filename, "b-1.0.tar.gz");
}

TEST_F(Registry, AFewDigitsNameASetWhileTheyAreClear) {
  auto sealed = sealed_sample(*store_, "1-linux/python/g", {{"a-1.0.tar.gz", "a", "1.0"}});
  EXPECT_EQ(resolve_set(*store_, sealed.digest.hex().substr(0, 8))->sets[0].digest, sealed.digest);
  EXPECT_EQ(resolve_set(*store_, sealed.digest.hex().substr(0, 7)).error().code, "R020");
  EXPECT_EQ(resolve_set(*store_, "zzzzzzzzzz").error().code, "R020");
  EXPECT_EQ(resolve_set(*store_, sha256("x").hex().substr(0, 8)).error().code, "R010");
  overwrite("sets/" + sealed.digest.hex().substr(0, 10) + std::string(54, '0') + ".json", "x");
  EXPECT_EQ(resolve_set(*store_, sealed.digest.hex().substr(0, 8)).error().code, "R020");
}

TEST_F(Registry, OneNameWithTwoContentsIsAConflict) {
  auto one = sealed_sample(*store_, "1-linux/python/g", {{"a-1.0.tar.gz", "a", "1.0", "x"}});
  auto other = sealed_sample(*store_, "2-linux/python/g", {{"a-1.0.tar.gz", "a", "1.0", "y"}});
  auto same = sealed_sample(*store_, "3-linux/python/g", {{"a-1.0.tar.gz", "a", "1.0", "x"}});
  auto conflict = make_view({one, other});
  ASSERT_FALSE(conflict);
  EXPECT_EQ(conflict.error().code, "R018");
  EXPECT_EQ(conflict.error().kind, ErrorKind::already_exists);
  EXPECT_THAT(conflict.error().details, ElementsAre(HasSubstr(sha256("x").hex()), HasSubstr(sha256("y").hex())));
  auto fine = make_view({one, same});
  ASSERT_TRUE(fine);
  EXPECT_EQ(files_of(*fine)[0].key, "1-linux/python/g/dist/a-1.0.tar.gz");
}

TEST_F(Registry, AViewSharesUnchangedShards) {
  auto one = sealed_sample(*store_, "1-linux/python/g", {{"a-1.0.tar.gz", "a", "1.0"}, {"b-1.0.tar.gz", "b", "1.0"}});
  auto two = sealed_sample(*store_, "2-linux/python/g", {{"b-2.0.tar.gz", "b", "2.0"}});
  auto first = *make_view({one});
  auto second = *make_view({one, two, one});
  EXPECT_THAT(second.record.sets, ElementsAre(one.digest, two.digest));
  EXPECT_EQ(first.record.shards["a"], second.record.shards["a"]);
  EXPECT_NE(first.record.shards["b"], second.record.shards["b"]);
  ASSERT_TRUE(put_view(*store_, first));
  auto puts = store_->counters().puts;
  ASSERT_TRUE(put_view(*store_, second));
  EXPECT_EQ(store_->counters().puts, puts + 2);
  auto loaded = load_whole_view(*store_, second.digest);
  ASSERT_TRUE(loaded) << render(loaded.error());
  EXPECT_THAT(names(files_of(*loaded)), ElementsAre("a-1.0.tar.gz", "b-1.0.tar.gz", "b-2.0.tar.gz"));
}

TEST_F(Registry, ExtendingAViewIsMakingItFromAllSets) {
  auto one = sealed_sample(*store_, "1-linux/python/g", {{"a-1.0.tar.gz", "a", "1.0"}});
  auto two = sealed_sample(*store_, "2-linux/python/g", {{"a-1.0.tar.gz", "a", "1.0"}, {"b-2.0.tar.gz", "b", "2.0"}});
  auto base = *make_view({one});
  EXPECT_EQ(extend_view(base, {two})->digest, make_view({one, two})->digest);
  EXPECT_EQ(extend_view(base, {one})->digest, base.digest);
  base.record.unknown = R"("seen":true)"; // a newer program's word about that view
  EXPECT_EQ(extend_view(base, {two})->digest, make_view({one, two})->digest);
  EXPECT_NE(make_view({two, one})->digest, make_view({one, two})->digest);
}

TEST_F(Registry, AnExtraStaysEmptyUntilItsPackageComesInItsVersion) {
  auto meta = sealed_sample(*store_, "1-linux/python/g", {{"rocm-7.2.0.tar.gz", "rocm", "7.2.0"}});
  auto next = sealed_sample(*store_, "2-linux/python/g", {{"lib-7.3.0.tar.gz", "lib", "7.3.0"}});
  auto same = sealed_sample(*store_, "3-linux/python/g", {{"lib-7.2.0.tar.gz", "lib", "7.2.0"}});
  auto base = *make_view({meta});
  set_empty_extras(base.record, {{"rocm", "7.2.0", "libraries", "lib"}});
  auto later = *extend_view(base, {next});
  EXPECT_EQ(empty_extras_of(later.record).size(), 1u) << "rocm 7.2.0 requires lib==7.2.0";
  EXPECT_THAT(empty_extras_of(extend_view(later, {same})->record), IsEmpty());
}

TEST_F(Registry, AChannelIsSwappedOnlyFromWhatWasRead) {
  auto one = sealed_sample(*store_, "1-linux/python/g", {{"a-1.0.tar.gz", "a", "1.0"}});
  auto before = move({one});
  auto after = move({one});
  EXPECT_EQ(after.record.generation, 2u);
  auto next = before.record;
  next.generation = 7;
  next.ledger = LedgerDigest(sha256("a move of somebody else"));
  for (const auto& stale : {std::optional<Channel>(before), std::optional<Channel>()}) {
    auto swapped = swap_channel(*store_, stale, next);
    ASSERT_FALSE(swapped);
    EXPECT_EQ(swapped.error().code, "R003");
    EXPECT_EQ(swapped.error().kind, ErrorKind::precondition_failed);
  }
  EXPECT_EQ((*read_channel(*store_, "c"))->record.generation, 2u);
}

TEST(RegistryOfFiles, AFileInTheWayOfChannelsIsNotAMove) {
  store::testing::TemporaryDirectory directory;
  ASSERT_TRUE(sys::write_file(directory.path() + "/channels", "in the way"));
  auto files = store::open_file_store(directory.path());
  ASSERT_TRUE(files);
  auto swapped = swap_channel(**files, std::nullopt, {"c", 1, ViewDigest(sha256("a view")), {}, {}, {}});
  ASSERT_FALSE(swapped);
  EXPECT_EQ(swapped.error().code, "D002") << render(swapped.error());
}

TEST_F(Registry, ALostReplyToASwapIsLookedUp) {
  auto before = move({sealed_sample(*store_, "1-linux/python/g", {{"a-1.0.tar.gz", "a", "1.0"}})});
  auto next = before.record;
  next.generation = 2;
  FaultyStore faulty(*store_, {FaultyStore::Fault::lose_reply, 1, true});
  EXPECT_TRUE(swap_channel(faulty, before, next));
  EXPECT_EQ((*read_channel(*store_, "c"))->record.generation, 2u);
}

TEST_F(Registry, ALostReplyToASwapThatOthersMovedOnFromIsADoneMove) {
  auto one = sealed_sample(*store_, "1-linux/python/g", {{"a-1.0.tar.gz", "a", "1.0"}});
  auto two = sealed_sample(*store_, "2-linux/python/g", {{"b-2.0.tar.gz", "b", "2.0"}});
  auto before = move({one});
  auto ours = move({one, two});
  move({one});
  move({two});
  EXPECT_TRUE(swap_channel(*store_, before, ours.record)); // its reply was lost: it is asked for again
  auto never = ours.record;
  never.ledger = LedgerDigest(sha256("an entry that no channel reaches"));
  EXPECT_EQ(swap_channel(*store_, before, never).error().code, "R003");
}

TEST_F(Registry, AWriteThatNeverArrivedIsNoRival) {
  auto before = move({sealed_sample(*store_, "1-linux/python/g", {{"a-1.0.tar.gz", "a", "1.0"}})});
  auto next = before.record;
  next.generation = 2;
  next.ledger = LedgerDigest(sha256("the move that was lost"));
  for (const std::string name : {"c", "new"}) {
    next.name = name;
    auto expected = *read_channel(*store_, name);
    FaultyStore faulty(*store_, {FaultyStore::Fault::lose_request, 1, true});
    auto swapped = swap_channel(faulty, expected, next);
    ASSERT_FALSE(swapped);
    EXPECT_EQ(swapped.error().code, "R004") << name;
    EXPECT_EQ(swapped.error().kind, ErrorKind::outcome_unknown);
  }
}

TEST_F(Registry, ChannelsThatAreNotThere) {
  EXPECT_FALSE(*read_channel(*store_, "c"));
  EXPECT_EQ(require_channel(*store_, "c").error().code, "R015");
  move({sealed_sample(*store_, "1-linux/python/g", {{"a-1.0.tar.gz", "a", "1.0"}})});
  overwrite("channels/c/simple/index.html", "");
  EXPECT_THAT(*list_channels(*store_), ElementsAre("c"));
  EXPECT_THAT(require_channel(*store_, "stabel").error().hint, HasSubstr("it holds: c"));
  for (const std::string name : {"", "A", "a/b", "..", ".a", "-a", "a b", "ä", "a.json"})
    EXPECT_EQ(read_channel(*store_, name).error().code, "R016") << name;
}

TEST_F(Registry, TheLedgerIsAChainToTheFirstMove) {
  auto one = sealed_sample(*store_, "1-linux/python/g", {{"a-1.0.tar.gz", "a", "1.0"}});
  auto two = sealed_sample(*store_, "2-linux/python/g", {{"b-2.0.tar.gz", "b", "2.0"}});
  move({one});
  move({one, two});
  auto channel = move({one}, Action::rollback);
  auto chain = ledger_chain(*store_, channel.record);
  ASSERT_TRUE(chain) << render(chain.error());
  ASSERT_EQ(chain->size(), 3u);
  EXPECT_EQ((*chain)[0].record.action, Action(Action::rollback));
  EXPECT_EQ((*chain)[2].record.generation, 1u);
}

TEST_F(Registry, ABrokenLedgerIsNoticed) {
  auto one = sealed_sample(*store_, "1-linux/python/g", {{"a-1.0.tar.gz", "a", "1.0"}});
  auto two = sealed_sample(*store_, "2-linux/python/g", {{"b-2.0.tar.gz", "b", "2.0"}});
  auto first = move({one});
  auto channel = move({one, two});
  auto skipped = channel.record;
  skipped.generation = 9;
  EXPECT_EQ(ledger_chain(*store_, skipped).error().code, "R017");
  auto other_view = channel.record;
  other_view.view = first.record.view;
  EXPECT_EQ(ledger_chain(*store_, other_view).error().code, "R017");
  auto entry = *load_ledger(*store_, channel.record.ledger);
  entry.previous = {};
  auto cut = channel.record;
  cut.ledger = *put_ledger(*store_, entry);
  EXPECT_EQ(ledger_chain(*store_, cut).error().code, "R017");
  ASSERT_TRUE(store_->remove(ledger_key(first.record.ledger)));
  EXPECT_EQ(ledger_chain(*store_, channel.record).error().code, "R010");
}

TEST_F(Registry, EvidenceAndWaiversAreListedWhole) {
  EvidenceRecord evidence;
  evidence.suite = "s";
  evidence.result = Outcome::passed;
  evidence.started = evidence.ended = k_time;
  auto first = *put_evidence(*store_, evidence);
  evidence.passed = 2;
  auto second = *put_evidence(*store_, evidence);
  Findings skipped;
  auto listed = *list_evidence(*store_, skipped);
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_TRUE(listed[0].digest < listed[1].digest);
  EXPECT_NE(first, second);
  EXPECT_TRUE(list_waivers(*store_, skipped)->empty());
  EXPECT_TRUE(skipped.empty());
}

// Whoever may write evidence could hold every channel with one object of junk.
TEST_F(Registry, JunkAmongEvidenceAndWaiversCountsForNothing) {
  EvidenceRecord evidence;
  evidence.suite = "s";
  evidence.result = Outcome::passed;
  evidence.started = evidence.ended = k_time;
  auto good = *put_evidence(*store_, evidence);
  const std::string no_fields = R"({"schema":"quarry.evidence/1"})", other = R"({"schema":"quarry.set/1"})",
                    newer = R"({"schema":"quarry.evidence/2"})";
  std::set<std::string> junk;
  for (const auto& bytes : {std::string("junk"), std::string(), std::string("[]"), no_fields, other, newer})
    junk.insert(evidence_key(EvidenceDigest(sha256(bytes)))),
        overwrite(evidence_key(EvidenceDigest(sha256(bytes))), bytes);
  junk.insert(evidence_key(*EvidenceDigest::parse(std::string(64, 'a'))));
  overwrite(evidence_key(*EvidenceDigest::parse(std::string(64, 'a'))),
            text(evidence_key(good))); // a record under another name
  overwrite("evidence/readme.json", "not the name of a record");
  overwrite("evidence/" + std::string(64, 'Z') + ".json", "neither");
  overwrite("evidence/logs/" + std::string(64, 'b') + ".json", "a log");
  Findings skipped;
  auto listed = list_evidence(*store_, skipped);
  ASSERT_TRUE(listed) << render(listed.error());
  ASSERT_EQ(listed->size(), 1u);
  EXPECT_EQ(listed->front().digest, good);
  std::set<std::string> told;
  for (const auto& finding : skipped) {
    EXPECT_EQ(finding.code, "R021");
    EXPECT_EQ(finding.severity, Severity::warning);
    told.insert(finding.place);
  }
  EXPECT_EQ(told, junk);
  skipped.clear();
  overwrite(waiver_key(*WaiverDigest::parse(std::string(64, 'c'))), "junk");
  EXPECT_TRUE(list_waivers(*store_, skipped)->empty());
  ASSERT_EQ(skipped.size(), 1u);
  EXPECT_EQ(skipped.front().place, waiver_key(*WaiverDigest::parse(std::string(64, 'c'))));
}

TEST_F(Registry, EvidenceThatCannotBeReadNowIsAnError) {
  EvidenceRecord evidence;
  evidence.suite = "s";
  evidence.result = Outcome::failed;
  evidence.started = evidence.ended = k_time;
  ASSERT_TRUE(put_evidence(*store_, evidence));
  FaultyStore faulty(*store_, {FaultyStore::Fault::refuse, 2, false}); // 1 is the listing
  Findings skipped;
  EXPECT_FALSE(list_evidence(faulty, skipped)) << "a gate must not pass because a server is down";
}

/// Sends a page instead of one object, as a proxy in front of a server does.
class Proxied : public FaultyStore {
public:
  Proxied(ObjectStore& inner, std::string key) : FaultyStore(inner), key_(std::move(key)) {}
  Result<std::optional<std::string>> do_get(const std::string& key, std::uint64_t max_bytes,
                                            std::string* etag) override {
    if (key == key_) return fail(ErrorKind::corrupt, "K020", "a page, not the record");
    return FaultyStore::do_get(key, max_bytes, etag);
  }

private:
  std::string key_;
};

TEST_F(Registry, APageOfAProxyIsNotJunkAmongEvidence) {
  EvidenceRecord evidence;
  evidence.suite = "s";
  evidence.set = testing::digest_named<SetDigest>("a");
  evidence.result = Outcome::failed;
  evidence.started = evidence.ended = k_time;
  auto failed = *put_evidence(*store_, evidence);
  Proxied proxied(*store_, evidence_key(failed));
  Findings skipped;
  auto listed = list_evidence(proxied, skipped);
  ASSERT_FALSE(listed) << "the page hides a failed result";
  EXPECT_EQ(listed.error().code, "K020");
  EXPECT_THAT(skipped, IsEmpty());
  EXPECT_EQ(mark_all_evidence(proxied).error().code, "K020");
  for (const std::string code : {"R007", "R011", "R012", "B002", "B003", "B004"})
    EXPECT_TRUE(is_junk(Error::of(ErrorKind::corrupt, code, ""))) << code;
}

TEST_F(Registry, APageOfAProxyIsNotALostMove) {
  ChannelRecord record;
  record.name = "stable";
  record.ledger = testing::digest_named<LedgerDigest>("a");
  ASSERT_TRUE(bound_by_moves(*store_, record)) << "a lost move: the record counts";
  Proxied proxied(*store_, ledger_key(record.ledger));
  auto bound = bound_by_moves(proxied, record);
  ASSERT_FALSE(bound) << "it would be judged by a record that anybody may have written";
  EXPECT_EQ(bound.error().code, "K020");
}

TEST(IsLost, SaysNothingOfWhatCannotBeReadNow) {
  using enum ErrorKind;
  for (const auto& [kind, code] : {std::pair(not_found, "R010"), std::pair(corrupt, "R011"), std::pair(corrupt, "B002"),
                                   std::pair(resource_exhausted, "R007")})
    EXPECT_TRUE(is_lost(Error::of(kind, code, ""))) << code;
  for (const auto& [kind, code] : {std::pair(corrupt, "K020"), std::pair(not_found, "K002"), std::pair(corrupt, "B004"),
                                   std::pair(resource_exhausted, "D003"), std::pair(unavailable, "H005")})
    EXPECT_FALSE(is_lost(Error::of(kind, code, ""))) << code;
}

TEST_F(Registry, ASealThatRetentionRemovesMeanwhileIsLeftOut) {
  auto stays = sealed_sample(*store_, "1-linux/python/g", {{"a-1.0.tar.gz", "a", "1.0"}});
  auto goes = sealed_sample(*store_, "1-linux/python/g", {{"b-1.0.tar.gz", "b", "1.0"}});
  FaultyStore faulty(*store_);
  faulty.after_call = [&](std::uint64_t call) {
    if (call != 1) return; // 1 is the listing
    EXPECT_TRUE(store_->remove(seal_key("1-linux/python/g", goes.digest)));
  };
  auto found = sealed_sets_below(faulty, "1-linux");
  ASSERT_TRUE(found) << render(found.error());
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->front().digest, stays.digest);
  overwrite("1-linux/other/seals/" + goes.digest.hex() + ".json", "a seal in another place");
  EXPECT_EQ(sealed_sets_below(*store_, "1-linux").error().code, "R014");
  auto in = sealed_sets_in(*store_, "1-linux/python/g");
  ASSERT_TRUE(in) << render(in.error());
  ASSERT_EQ(in->size(), 1u) << "what lies elsewhere is not looked at";
  EXPECT_TRUE(sealed_sets_in(*store_, "1-linux/python")->empty()) << "the sets below are not its own";
}

TEST_F(Registry, WhatIsNotARecordOfRetentionIsPassedOver) {
  auto set = sealed_sample(*store_, "1-linux/python/g", {{"a-1.0.tar.gz", "a", "1.0"}});
  RetiredRecord record;
  record.set = set.digest, record.directory = "1-linux/python/g", record.state = Retirement::tombstoned;
  record.plan = PlanDigest(sha256("a plan")), record.since = record.until = k_time;
  record.rule = "nightly", record.seal = "{}";
  ASSERT_TRUE(store_->put(retired_key(record.directory, record.set), content::Rope::literal(to_json(record)), {}));
  for (const char* junk : {"note.txt", "backup.json", "old/x.json"})
    overwrite("1-linux/python/g/retired/" + std::string(junk), "{");
  auto leaving = leaving_from(*store_, "1-linux/python/g");
  ASSERT_TRUE(leaving) << render(leaving.error());
  ASSERT_EQ(leaving->size(), 1u);
  EXPECT_EQ(leaving->front().set, set.digest);
  auto other = sealed_sample(*store_, "1-linux/python/g", {{"b-1.0.tar.gz", "b", "1.0"}});
  overwrite(retired_key("1-linux/python/g", other.digest), to_json(record));
  EXPECT_EQ(leaving_from(*store_, "1-linux/python/g").error().code, "R012");
}

TEST(SdistRequirements, ASecondRecordReplacesTheFirst) {
  FileRecord file;
  record_requirements(file, {{"a"}, {"x"}});
  record_requirements(file, {{"b"}, {}});
  auto found = recorded_requirements(file);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->requires_dist, std::vector<std::string>{"b"});
  EXPECT_TRUE(found->extras.empty());
}

TEST_F(Registry, AnAlteredLockIsAnError) {
  LockRecord lock;
  lock.sets = {testing::digest_named<SetDigest>("a"), testing::digest_named<SetDigest>("b")};
  std::sort(lock.sets.begin(), lock.sets.end());
  lock.until = k_time;
  lock.source = "channel:stable";
  lock.pylock = "lock-version = \"1.0\"";
  auto key = "locks/" + put_lock(*store_, lock)->hex() + ".json";
  EXPECT_EQ(list_locks(*store_)->size(), 1u);
  auto before = text(key);
  spoil(key);
  EXPECT_EQ(list_locks(*store_).error().code, "R011");
  overwrite(key, before);
  std::swap(lock.sets[0], lock.sets[1]);
  EXPECT_EQ(put_lock(*store_, lock).error().code, "R012");
  for (const auto& sets : {lock.sets, std::vector<SetDigest>(), std::vector<SetDigest>(2, lock.sets[0])}) {
    lock.sets = sets;
    auto wrong = "locks/" + sha256(to_json(lock)).hex() + ".json";
    overwrite(wrong, to_json(lock));
    EXPECT_EQ(list_locks(*store_).error().code, "R012") << sets.size();
    ASSERT_TRUE(store_->remove(wrong));
  }
}

TEST_F(Registry, ALockThatNobodyCouldReadIsNotWritten) {
  LockRecord lock;
  lock.sets = {testing::digest_named<SetDigest>("a")};
  lock.until = k_time;
  lock.source = "channel:stable"; // and no pylock
  EXPECT_EQ(put_lock(*store_, lock).error().code, "R012");
  EXPECT_TRUE(list_locks(*store_)->empty());
}

TEST_F(Registry, AHistoryThatNobodyCouldReadIsNotWritten) {
  HistoryRecord history;
  history.directory = "v2/gfx94X-dcgpu";
  history.time = k_time;
  HistoryFile file;
  file.filename = "torch-2.9.0-py3-none-any.whl";
  file.project = "torch"; // and no version
  file.key = history.directory + "/" + file.filename;
  history.files = {file};
  EXPECT_EQ(put_history(*store_, history).error().code, "R012");
  EXPECT_TRUE(history_of(*store_, history.directory)->files.empty());
}

TEST_F(Registry, AHistoryIsBelievedOnlyInItsPlaceAndWithNamesThatPagesCanHave) {
  HistoryFile file;
  file.filename = "demo-1.0-py3-none-any.whl";
  file.project = "demo";
  file.version = "1.0";
  file.key = "v2/x/" + file.filename;
  HistoryRecord record{"v2/x", {file}, k_time, "", "", "", {}};
  auto name = put_history(*store_, record)->hex() + ".json";
  EXPECT_EQ(history_of(*store_, "v2/x")->files.size(), 1u);
  overwrite("v2/y/history/" + name, text("v2/x/history/" + name));
  EXPECT_EQ(history_of(*store_, "v2/y").error().code, "R012") << "it is that of v2/x";
  overwrite("v2/x/history/" + name, text("v2/x/history/" + name) + "\n");
  EXPECT_EQ(history_of(*store_, "v2/x").error().code, "R011") << "the same fields in other bytes";
  record.files[0].project = "../../simple";
  EXPECT_EQ(put_history(*store_, record).error().code, "R012");
}

/// A server that ignores conditions.
class Unconditional : public FaultyStore {
public:
  using FaultyStore::FaultyStore;
  Result<bool> conditional_writes() override { return false; }
};

TEST_F(Registry, ADistributionNeedsAStoreThatCanCompareAndSwap) {
  Unconditional ignores(*store_);
  EXPECT_EQ(claim_distribution(ignores, "v2/x").error().code, "R031");
  EXPECT_THAT(*store_->list(""), IsEmpty());
  ASSERT_TRUE(claim_distribution(*store_, "v2/x"));
  auto now = *require_distribution(*store_, "v2/x");
  auto moved = move_distribution(ignores, now, now.record.shown, {Action::read("add"), {}, "", k_time, ""});
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code, "R031");
  EXPECT_THAT(moved.error().message, HasSubstr("distribution v2/x"));
  EXPECT_THAT(*store_->list("v2/x/views/"), IsEmpty());
}

TEST_F(Registry, AProjectCalledViewsIsNotALostPointer) {
  overwrite("v2/x/views/index.html", "another tool's page of the project `views`");
  ASSERT_TRUE(claim_distribution(*store_, "v2/x"));
  overwrite("v2/y/views/" + std::string(64, 'a') + ".json", "a move");
  EXPECT_EQ(claim_distribution(*store_, "v2/y").error().code, "R010");
}

TEST_F(Registry, ChannelsAreListedWithoutTheirPages) {
  move({sealed_sample(*store_, "1-linux/python/g", {{"a-1.0.tar.gz", "a", "1.0"}})});
  for (const std::string key : {"channels/c/simple/index.html", "channels/c/pages.json", "channels/other/x.json"})
    overwrite(key, "a page");
  EXPECT_THAT(*list_channels(*store_), ElementsAre("c"));
}

TEST_F(Registry, ASealThatAppearsMeanwhileMustFit) {
  auto other = sealed_sample(*store_, "2-linux/python/g", {{"b-1.0.tar.gz", "b", "1.0"}});
  auto digest = put_sample_set(*store_, "1-linux/python/g", {{"a-1.0.tar.gz", "a", "1.0"}});
  auto key = seal_key("1-linux/python/g", digest);
  auto sealed_meanwhile = [&](const std::string& bytes) {
    EXPECT_TRUE(store_->remove(key));
    FaultyStore faulty(*store_);
    faulty.after_call = [&](std::uint64_t) {
      if (faulty.log().back().starts_with("get 1-linux/") && !*store_->head(key)) overwrite(key, bytes);
    };
    return seal(faulty, digest, k_time);
  };
  EXPECT_EQ(sealed_meanwhile(to_json(other.seal)).error().code, "R014");
  auto earlier = to_json(SealRecord{digest, "1-linux/python/g", *Timestamp::parse("2026-11-20T10:00:00.000000Z")});
  EXPECT_FALSE(*sealed_meanwhile(earlier));
}

TEST_F(Registry, ASetThatVanishesWhileItIsSealedIsWrittenAgain) {
  auto digest = put_sample_set(*store_, "1-linux/python/g", {{"a-1.0.tar.gz", "a", "1.0"}});
  FaultyStore faulty(*store_);
  faulty.after_call = [&](std::uint64_t) { // garbage collection, between the look at the record and the seal
    if (!faulty.log().back().starts_with("get 1-linux/")) return;
    EXPECT_TRUE(store_->remove(set_key(digest)));
  };
  ASSERT_TRUE(*seal(faulty, digest, k_time));
  EXPECT_TRUE(load_sealed(*store_, digest));
}

} // namespace
} // namespace quarry::registry
