#include "trial/expect.hpp"

#include "registry/testing/samples.hpp"
#include <gmock/gmock.h>

namespace quarry::trial {
namespace {

using registry::Cell;

registry::SetDigest set_named(const char* name) { return registry::testing::digest_named<registry::SetDigest>(name); }

Expected expected_job() {
  return {"linux/gfx94X-dcgpu/3.12", "smoke", {set_named("a")}, "https://ci/1", "mi325", "queued", 1'000'000};
}

TEST(ExpectedCell, IsReadPartByPart) {
  EXPECT_EQ(*parse_cell("linux/gfx94X-dcgpu/3.12"), (Cell{Platform::linux, "gfx94X-dcgpu", "3.12", ""}));
  EXPECT_EQ(*parse_cell("windows/gfx110X-all"), (Cell{Platform::windows, "gfx110X-all", "", ""}));
  EXPECT_EQ(*parse_cell("linux/gfx942/3.12/torch/gpu"), (Cell{Platform::linux, "gfx942", "3.12", "torch"}));
  EXPECT_EQ(*parse_cell("linux//3.12/jax/cpu"), (Cell{Platform::linux, "", "3.12", "jax", "cpu"}));
  EXPECT_EQ(*parse_cell("linux/any/3.12"), (Cell{Platform::linux, "", "3.12", ""})) << "as a verdict prints it";
  for (const auto* wrong : {"", "linux", "macos/gfx942/3.12", "linux/gfx 942/3.12", "linux/gfx942/py312",
                            "linux/gfx942/3.12/torch/tpu", "linux/gfx942/3.12/torch/cpu/more"}) {
    auto cell = parse_cell(wrong);
    ASSERT_FALSE(cell) << wrong;
    EXPECT_EQ(cell.error().code, "X018") << wrong;
  }
}

TEST(Expect, WritesWhatAGateReads) {
  auto store = store::make_memory_store();
  auto expected = expected_job();
  expected.sets = {set_named("b"), set_named("a"), set_named("b")};
  expected.job = "https://user:secret@ci.example/runs/1?token=secret";
  auto done = expect(expected, *store);
  ASSERT_TRUE(done) << render(done.error());
  EXPECT_EQ(done->attempt.job, "https://ci.example/runs/1") << "the store may be public";
  EXPECT_EQ(done->attempt.sets.size(), 2u);
  Findings skipped;
  auto found = registry::list_attempts(*store, {set_named("b")}, skipped);
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(registry::to_json(found->at(0)), registry::to_json(done->attempt));
}

TEST(Expect, TakesGithubsWordsForTheEndOfAJob) {
  for (const auto& [word, state] : {std::pair("success", "ended"), std::pair("failure", "ended"),
                                    std::pair("skipped", "skipped"), std::pair("cancelled", "cancelled")}) {
    auto store = store::make_memory_store();
    auto expected = expected_job();
    expected.state = word;
    EXPECT_EQ(expect(expected, *store)->attempt.state.text(), state);
  }
}

TEST(Expect, RefusesWhatSaysNothingAndWritesNothing) {
  auto store = store::make_memory_store();
  for (auto change : std::vector<void (*)(Expected&)>{
           [](Expected& e) { e.suite = ""; }, [](Expected& e) { e.suite = "a b"; }, [](Expected& e) { e.job = " "; },
           [](Expected& e) { e.sets.clear(); }, [](Expected& e) { e.state = "done"; }}) {
    auto expected = expected_job();
    change(expected);
    auto done = expect(expected, *store);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, "X019");
  }
  EXPECT_TRUE(store->list("")->empty());
}

} // namespace
} // namespace quarry::trial
