#include "pages/shown_sets.hpp"

#include <gtest/gtest.h>

namespace quarry::pages {
namespace {

// A yank hides files of the history, too: its move must be seen in a directory that has no set any more.
TEST(ShownSets, TheTokenOfAHistoryChangesWithThePointer) {
  auto store = store::make_memory_store();
  auto record = registry::history_prefix("v2/g") + sha256("a record").hex() + ".json";
  ASSERT_TRUE(store->put(record, content::Rope::literal("{}"), {}));
  auto before = token_of_shown(*store, "v2/g");
  ASSERT_TRUE(before) << render(before.error());
  EXPECT_NE(*before, "");
  ASSERT_TRUE(registry::claim_distribution(*store, "v2/g"));
  EXPECT_NE(*token_of_shown(*store, "v2/g"), *before);
}

} // namespace
} // namespace quarry::pages
