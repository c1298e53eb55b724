#include "base/text.hpp"
#include "closure/stored.hpp"
#include "gate/testing/policies.hpp"
#include "promote/promote.hpp"
#include "promote/withdraw.hpp"
#include "registry/empty_extras.hpp"
#include "registry/testing/samples.hpp"
#include "sys/clock.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::promote {
namespace {

using registry::SealedSet;
using registry::testing::SampleFile;
using registry::testing::sealed_sample;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::int64_t k_closed_now_us = *sys::parse_rfc3339("2026-11-20T12:00:00Z");

SampleFile library(const std::string& family, const std::string& version = "7.0") {
  auto project = "rocm-sdk-libraries-" + family;
  return {text::replace_all(project, "-", "_") + "-" + version + "-py3-none-linux_x86_64.whl", project, version};
}

SampleFile meta(const std::vector<std::string>& families) {
  SampleFile file{"rocm-7.0.tar.gz", "rocm", "7.0"};
  for (const auto& family : families) {
    file.extras.push_back("libraries-" + family);
    file.requires_dist.push_back("rocm-sdk-libraries-" + family + "==7.0 ; extra == \"libraries-" + family + "\"");
  }
  return file;
}

SampleFile wheel(const std::string& project, const std::vector<std::string>& requires_dist = {}) {
  SampleFile file{project + "-1.0-py3-none-any.whl", project, "1.0"};
  file.requires_dist = requires_dist;
  return file;
}

class Closed : public ::testing::Test {
protected:
  /// Somebody takes the risk for the cells of a family, or for all of a set.
  void waive(const std::string& family, const std::vector<registry::SetDigest>& sets = {}) {
    registry::WaiverRecord waiver;
    waiver.channel = "stable";
    waiver.reason = "test";
    waiver.approver = "lead";
    waiver.created = sys::Timestamp::from_us(k_closed_now_us - 1'000'000);
    waiver.expires = sys::Timestamp::from_us(k_closed_now_us + 3'600'000'000);
    waiver.cell.family = family;
    waiver.sets = sets;
    ASSERT_TRUE(registry::put_waiver(*store_, waiver));
  }
  Plan ready(const std::vector<SealedSet>& sets, const std::string& keys = "") {
    auto plan = plan_promotion(*store_, request(sets, keys));
    EXPECT_TRUE(plan) << render(plan.error());
    return *plan;
  }
  Request request(const std::vector<SealedSet>& sets, const std::string& keys = "") {
    auto policy = gate::testing::parsed_policy(
        "approvers = [\"lead\"]\n" + keys +
        "[[require]]\nplatforms=[\"*\"]\nfamilies=[\"*\"]\npythons=[\"*\"]\nsuites=[\"smoke\"]\n");
    return {{"test", sets, *registry::union_of(sets), {}, 0}, "stable", policy, true, k_closed_now_us, 1};
  }
  Receipt move(const std::vector<SealedSet>& sets, const std::string& keys = "", bool only_ready = true) {
    auto wanted = request(sets, keys);
    wanted.ready_cells_only = only_ready;
    auto receipt = promote(*store_, wanted, {"tester", sys::Timestamp::from_us(k_closed_now_us), "why", {}, false});
    EXPECT_TRUE(receipt) << render(receipt.error());
    return *receipt;
  }
  std::vector<std::string> empty_extras() {
    std::vector<std::string> names;
    auto channel = *registry::require_channel(*store_, "stable");
    for (const auto& one : registry::empty_extras_of(*registry::load_view(*store_, channel.record.view)))
      names.push_back(registry::name_of(one) + " lacks " + one.lacks);
    return names;
  }
  SealedSet two_families() {
    return sealed_sample(*store_, "1-linux/python/g",
                         {meta({"gfx94x-dcgpu", "gfx110x-all"}), library("gfx94x-dcgpu"), library("gfx110x-all")});
  }
  std::unique_ptr<store::ObjectStore> store_ = store::make_memory_store();
};

constexpr const char* k_empty = "empty_extras = [\"rocm[libraries-gfx110x-all]\"]\n";

TEST_F(Closed, APackageWhoseExtraNamesAHeldFamilyIsHeldWithIt) {
  auto set = two_families();
  waive("gfx94X-dcgpu");
  auto plan = ready({set});
  EXPECT_TRUE(plan.held);
  for (const auto& cell : plan.judgement.verdict.cells) {
    if (!cell.not_installable) continue;
    EXPECT_THAT(cell.reasons,
                ElementsAre("rocm-7.0.tar.gz could not be installed with its extra libraries-gfx110x-all: "
                            "rocm[libraries-gfx110x-all] 7.0 requires rocm-sdk-libraries-gfx110x-all==7.0, which "
                            "channel stable lacks"));
  }
  EXPECT_TRUE(std::any_of(plan.judgement.verdict.cells.begin(), plan.judgement.verdict.cells.end(),
                          [](const auto& cell) { return cell.not_installable; }));
}

TEST_F(Closed, APolicyMayListAnExtraAsEmptyUntilItsPackagesFollow) {
  auto set = two_families();
  waive("gfx94X-dcgpu");
  auto first = move({set}, k_empty);
  ASSERT_TRUE(first.moved);
  EXPECT_THAT(empty_extras(), ElementsAre("rocm[libraries-gfx110x-all] 7.0 lacks rocm-sdk-libraries-gfx110x-all"));
  auto page = *store_->get("channels/stable/simple/rocm/index.html", 1 << 20);
  EXPECT_THAT(*page, HasSubstr("rocm[libraries-gfx110x-all] 7.0 cannot be installed from here: "
                               "rocm-sdk-libraries-gfx110x-all is held back."));
  waive("gfx110X-all");
  EXPECT_TRUE(move({set}, k_empty, false).moved);
  EXPECT_THAT(empty_extras(), IsEmpty());
  page = *store_->get("channels/stable/simple/rocm/index.html", 1 << 20);
  EXPECT_THAT(*page, ::testing::Not(HasSubstr("held back")));
  // What the view of then says comes back with it.
  Options back{"tester", sys::Timestamp::from_us(k_closed_now_us), "why", {}, false};
  ASSERT_TRUE(rollback(*store_, "stable", back));
  EXPECT_EQ(empty_extras().size(), 1u);
  page = *store_->get("channels/stable/simple/rocm/index.html", 1 << 20);
  EXPECT_THAT(*page, HasSubstr("held back"));
}

TEST_F(Closed, AYankKeepsWhatIsStillTrueOfTheRest) {
  auto set = two_families(), other = sealed_sample(*store_, "2-linux/python/g", {wheel("other")});
  waive("gfx94X-dcgpu");
  waive("", {other.digest});
  move({set, other}, k_empty);
  auto plan = plan_withdrawal(*store_, "stable", {"set:" + other.digest.hex()});
  ASSERT_TRUE(plan) << render(plan.error());
  EXPECT_EQ(registry::empty_extras_of(plan->view.record).size(), 1u);
  plan = plan_withdrawal(*store_, "stable", {"rocm-7.0.tar.gz"});
  EXPECT_THAT(registry::empty_extras_of(plan->view.record), IsEmpty());
}

TEST_F(Closed, WhatRequiresASetThatStaysBehindStaysToo) {
  auto lib = sealed_sample(*store_, "1-linux/python/g", {wheel("lib")});
  auto app = sealed_sample(*store_, "2-linux/python/g", {wheel("app", {"lib==1.0"})});
  auto tool = sealed_sample(*store_, "3-linux/python/g", {wheel("tool", {"app"})});
  auto free = sealed_sample(*store_, "4-linux/python/g", {wheel("free", {"numpy>=2"})});
  waive("", {app.digest, tool.digest, free.digest});
  auto plan = ready({lib, app, tool, free});
  ASSERT_EQ(plan.sets.size(), 1u);
  EXPECT_EQ(plan.sets[0].digest, free.digest);
  auto held = std::find_if(plan.judgement.verdict.cells.begin(), plan.judgement.verdict.cells.end(),
                           [&](const auto& cell) { return cell.set == tool.digest; });
  EXPECT_THAT(held->reasons[0], HasSubstr("tool-1.0-py3-none-any.whl could not be installed: "));
  ASSERT_EQ(plan.notes.size(), 1u);
  EXPECT_EQ(plan.notes[0].code, "O028");
  EXPECT_THAT(plan.notes[0].message, HasSubstr("numpy"));
  // With the library everything moves; or when the channel has it already.
  waive("", {lib.digest});
  EXPECT_EQ(ready({lib, app, tool, free}).sets.size(), 4u);
  move({lib});
  EXPECT_EQ(ready({lib, app, tool}).sets.size(), 2u);
}

TEST_F(Closed, ASourceDistributionThatDoesNotSayWhatItRequiresIsHeld) {
  registry::SetRecord record;
  record.origin.run_id = "1";
  record.origin.platform = Platform::linux;
  record.directory = "1-linux/python/g";
  auto file = registry::testing::file_record({"old-1.0.tar.gz", "old", "1.0"}, record.directory);
  file.unknown.clear();
  ASSERT_TRUE(store_->put(file.key, content::Rope::literal("bytes of old-1.0.tar.gz"), {}));
  record.files = {file};
  auto digest = *registry::put_set(*store_, record);
  ASSERT_TRUE(registry::seal(*store_, digest, sys::Timestamp::from_us(k_closed_now_us)));
  waive("");
  auto plan = ready({*registry::load_sealed(*store_, digest)});
  EXPECT_TRUE(plan.held);
  EXPECT_THAT(plan.judgement.verdict.cells[0].reasons[0], HasSubstr("is known only once it is built"));
}

TEST_F(Closed, AFamilyWhoseJobNeverRanIsNotTakenFromElsewhere) {
  auto set = sealed_sample(*store_, "1-linux/python/g", {meta({"gfx94x-dcgpu", "gfx1151"}), library("gfx94x-dcgpu")});
  waive("");
  EXPECT_TRUE(ready({set}).held);
  EXPECT_FALSE(ready({set}, "empty_extras = [\"rocm[libraries-gfx1151]\"]\n").held);
}

TEST_F(Closed, WhatIsLostBesideAWheelNamesWhatMakesItAgain) {
  auto set = sealed_sample(*store_, "1-linux/python/g", {wheel("lib")});
  ASSERT_TRUE(store_->remove(set.set.files[0].key + ".metadata"));
  auto lost = closure::load_package(*store_, set.set.files[0]);
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, "P022");
  EXPECT_THAT(lost.error().hint, HasSubstr("`quarry index rebuild 1-linux/python/g`"));
}

} // namespace
} // namespace quarry::promote
