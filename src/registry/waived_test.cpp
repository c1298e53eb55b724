#include "registry/waived.hpp"

#include "registry/empty_extras.hpp"
#include "registry/registry.hpp"
#include "registry/testing/samples.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::registry {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Waived waived_sample(const std::string& name) {
  return {SetDigest(sha256("a set")),
          WaiverDigest(sha256(name)),
          "smoke",
          "lead",
          "no machine",
          "2026-11-21T12:00:00.000000Z",
          {"linux gfx1151 py3.12", "linux gfx942 py3.12"},
          {"rocm", "rocm-sdk-core"}};
}

TEST(WaivedList, ComesBackAsItWasWritten) {
  ViewRecord view;
  EXPECT_THAT(waived_of(view), IsEmpty()) << "as an older program wrote it";
  set_waived(view, {waived_sample("b"), waived_sample("a"), waived_sample("b")});
  set_empty_extras(view, {{"rocm", "7.0", "libraries", "lib"}});
  auto parsed = parse_view({to_json(view), "view"});
  ASSERT_TRUE(parsed) << render(parsed.error());
  auto list = waived_of(*parsed);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_LT(list[0], list[1]);
  EXPECT_EQ(list[0].projects, waived_sample("a").projects);
  EXPECT_EQ(empty_extras_of(*parsed).size(), 1u) << "each list leaves the other alone";
  EXPECT_EQ(to_json(*parsed), to_json(view));
  set_waived(*parsed, {});
  set_empty_extras(*parsed, {});
  EXPECT_EQ(parsed->unknown, "");
}

TEST(WaivedList, IsSortedAlthoughTheRecordIsNot) {
  ViewRecord view;
  auto one = waived_sample("a");
  std::swap(one.projects[0], one.projects[1]);
  std::swap(one.cells[0], one.cells[1]);
  set_waived(view, {one});
  EXPECT_THAT(waived_of(view), ElementsAre(waived_sample("a")));
}

TEST(WaivedList, JunkInItIsLeftOut) {
  ViewRecord view;
  set_waived(view, {waived_sample("a")});
  auto good = view.unknown;
  for (const auto* junk : {R"({"waived":1})", R"({"waived":[1,{},{"set":"x","waiver":"y"}]})", "junk", "[]"}) {
    view.unknown = junk;
    EXPECT_THAT(waived_of(view), IsEmpty()) << junk;
  }
  view.unknown = good.substr(0, good.size() - 2) + ",{}]}";
  EXPECT_EQ(waived_of(view).size(), 1u) << view.unknown;
}

TEST(WaivedList, IsSaidInASentence) {
  auto one = waived_sample("a");
  EXPECT_EQ(sentence_of(one), "lead waived smoke on linux gfx1151 py3.12, linux gfx942 py3.12 until "
                              "2026-11-21T12:00:00.000000Z: no machine");
  one.cells = {};
  one.suite = "";
  EXPECT_EQ(sentence_of(one), "lead waived every suite on every cell until 2026-11-21T12:00:00.000000Z: no machine");
}

TEST(WaivedList, StaysWhenSetsAreAdded) {
  auto store = store::make_memory_store();
  auto one = testing::sealed_sample(*store, "1-linux/python/g", {{"a-1.0.tar.gz", "a", "1.0"}});
  auto two = testing::sealed_sample(*store, "2-linux/python/g", {{"b-1.0.tar.gz", "b", "1.0"}});
  auto base = *make_view({one});
  set_waived(base.record, {waived_sample("a")});
  base.digest = digest_of(base.record);
  EXPECT_THAT(waived_of(extend_view(base, {two})->record), ElementsAre(waived_sample("a")));
  EXPECT_EQ(extend_view(base, {one})->digest, base.digest) << "a set that is there already moves nothing";
}

} // namespace
} // namespace quarry::registry
