// A file that another tool published, that was taken over, then sealed, and then taken out.
#include "promote/distributions.hpp"
#include "promote/withdraw_from.hpp"
#include "publish/shown.hpp"
#include "registry/history.hpp"
#include "registry/testing/samples.hpp"
#include <gtest/gtest.h>

namespace quarry::promote {
namespace {

using registry::Action;

const std::string k_filled = "v2/all", k_old_file = "old-1.tar.gz";
const auto k_sealed_at = *sys::Timestamp::parse("2026-11-20T12:00:00Z");

class YankedHistory : public ::testing::Test {
protected:
  /// Takes the file over as the other tool left it, then seals it.
  void fill(const std::optional<Sha256>& said, const std::string& from) {
    store_ = store::make_memory_store();
    sealed_ = registry::testing::sealed_sample(*store_, k_filled, {{k_old_file, "old", "1"}});
    const auto& record = sealed_.set.files.front();
    registry::HistoryFile file;
    file.filename = k_old_file, file.project = "old", file.version = "1";
    file.size = record.size, file.key = record.key, file.sha256 = said, file.digest_from = from;
    ASSERT_TRUE(registry::put_history(*store_, {k_filled, {file}, k_sealed_at, "ann", "", "quarry"}));
    ASSERT_TRUE(registry::claim_distribution(*store_, k_filled));
    auto adopt = Action::read("adopt");
    ASSERT_TRUE(
        publish::show_sets(*store_, k_filled, {{sealed_.digest, {}}}, {adopt, {}, "ann", k_sealed_at, "sealed"}));
    ASSERT_TRUE(publish::display(*store_, k_filled));
    ASSERT_TRUE(is_listed());
  }
  Sha256 right() { return sha256("bytes of " + k_old_file); }
  bool is_listed() {
    auto bytes = store_->get(k_filled + "/simple/old/index.html", 1 << 20);
    return bytes && *bytes && (*bytes)->find(k_old_file) != std::string::npos;
  }
  void yank() {
    auto plan = plan_distribution_withdrawal(*store_, k_filled, {k_old_file});
    ASSERT_TRUE(plan) << render(plan.error());
    auto done = withdraw_from_distribution(*store_, *plan, {"ann", k_sealed_at, "breaks"});
    ASSERT_TRUE(done) << render(done.error());
  }
  Options options() const { return {"ann", k_sealed_at, "why", {}, false}; }

  std::unique_ptr<store::ObjectStore> store_;
  registry::SealedSet sealed_;
};

TEST_F(YankedHistory, IsNotListedAnyMoreHoweverItsDigestIsKnown) {
  using Digest = std::optional<Sha256>;
  const std::pair<Digest, std::string> said[] = {{right(), registry::digest_source::k_store},
                                                 {std::nullopt, ""},
                                                 {sha256("lie"), registry::digest_source::k_page}};
  for (const auto& [digest, from] : said) {
    fill(digest, from);
    yank();
    EXPECT_FALSE(is_listed()) << from;
    ASSERT_TRUE(publish::display(*store_, k_filled));
    EXPECT_FALSE(is_listed()) << from;
  }
}

TEST_F(YankedHistory, ComesBackWhenTheYankIsTakenBackOrTheFileIsLetIn) {
  for (bool unblocked : {false, true}) {
    fill(right(), registry::digest_source::k_read);
    yank();
    bool done = unblocked ? unblock_distribution(*store_, k_filled, {k_old_file}, options()).has_value()
                          : rollback_distribution(*store_, k_filled, options()).has_value();
    ASSERT_TRUE(done);
    EXPECT_TRUE(is_listed());
  }
}

TEST_F(YankedHistory, StaysListedWhereARollbackTookTheSealBack) {
  fill(right(), registry::digest_source::k_read);
  auto back = options();
  back.to_generation = 0;
  auto done = rollback_distribution(*store_, k_filled, back);
  ASSERT_TRUE(done) << render(done.error());
  EXPECT_EQ(done->plan.listed_on, 1u);
  EXPECT_TRUE(is_listed());
}

TEST_F(YankedHistory, OtherBytesOfThatNameAreAnotherFile) {
  fill(sha256("other bytes"), registry::digest_source::k_read);
  yank();
  EXPECT_TRUE(is_listed());
}

} // namespace
} // namespace quarry::promote
