#include "registry/records.hpp"
#include "registry/words.hpp"
#include <gtest/gtest.h>
#include <type_traits>

namespace quarry::registry {
namespace {

static_assert(!std::is_convertible_v<std::string, Outcome>, "text becomes an outcome by read() only");
static_assert(!std::is_convertible_v<Action::Kind, Outcome>);

TEST(Words, EachKnownWordIsReadAsItIsWritten) {
  for (auto kind : {Outcome::passed, Outcome::failed, Outcome::skipped, Outcome::error, Outcome::timed_out}) {
    auto read = Outcome::read(Outcome(kind).text());
    EXPECT_EQ(read.kind(), kind) << read.text();
    EXPECT_EQ(read, Outcome(kind));
  }
  for (auto kind : {Action::publish, Action::promote, Action::rollback})
    EXPECT_EQ(Action::read(Action(kind).text()).kind(), kind);
  EXPECT_EQ(Outcome(Outcome::timed_out).text(), "timed_out");
  EXPECT_EQ(fmt::format("{}", Action(Action::rollback)), "rollback");
}

TEST(Words, AWordOfALaterVersionIsKeptAndEqualsNoKnownOne) {
  for (const std::string text : {"", "ok", "Passed", "passed "}) {
    auto word = Outcome::read(text);
    EXPECT_EQ(word.text(), text);
    EXPECT_FALSE(word.kind()) << text;
    for (auto kind : {Outcome::passed, Outcome::failed, Outcome::skipped, Outcome::error, Outcome::timed_out})
      EXPECT_FALSE(word == kind) << text;
  }
  EXPECT_NE(Outcome::read("ok"), Outcome::read("good"));
  EXPECT_EQ(Outcome(), Outcome::read(""));
}

TEST(Words, RecordsOfALaterVersionKeepTheirBytes) {
  const std::string evidence =
      R"({"cell":{"platform":"linux"},"ended":"2026-01-01T00:00:00Z","errors":0,"failed":0,"passed":1,"result":"quarantined",)"
      R"("rows":[{"name":"a","outcome":"rerun","seconds":0.5}],"schema":"quarry.evidence/1","sealed":true,"skipped":0,)"
      R"("started":"2026-01-01T00:00:00Z","subjects":[],"suite":"s"})";
  auto read = parse_evidence({evidence, "e"});
  ASSERT_TRUE(read) << render(read.error());
  EXPECT_FALSE(read->result.kind());
  EXPECT_EQ(read->rows[0].outcome.text(), "rerun");
  EXPECT_EQ(to_json(*read), evidence);

  LedgerRecord entry;
  entry.channel = "stable";
  entry.action = Action::read("adopt");
  entry.when = *Timestamp::parse("2026-01-01T00:00:00Z");
  entry.to_view = ViewDigest(sha256("view"));
  auto again = parse_ledger({to_json(entry), "l"});
  ASSERT_TRUE(again) << render(again.error());
  EXPECT_EQ(again->action.text(), "adopt");
  EXPECT_FALSE(again->action == Action::rollback);
  entry.action = {};
  EXPECT_FALSE(parse_ledger({to_json(entry), "l"})) << "a move without an action";
}

} // namespace
} // namespace quarry::registry
