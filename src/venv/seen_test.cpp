#include "venv/seen.hpp"

#include "store/testing/temporary_directory.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include <gtest/gtest.h>

namespace quarry::venv {
namespace {

registry::ViewDigest view_of(const std::string& text) { return registry::ViewDigest(sha256(text)); }
Seen at(std::uint64_t generation, const std::string& view = "a") {
  return {"file:/s", "file:///s/channels/stable.json", "stable", generation, view_of(view)};
}

TEST(Seen, AGenerationOnlyGrows) {
  struct Case {
    Seen before, now;
    bool refused;
  };
  const Case cases[] = {{at(2), at(2), false},
                        {at(2), at(3, "b"), false}, // also what a rollback makes
                        {at(2), at(1), true},
                        {at(2), at(1, "b"), true},
                        {at(2), at(2, "b"), true}, // another history
                        {{"file:/s", "x", "stable", 2, {}}, at(2, "b"), false}};
  for (const auto& one : cases) {
    auto done = refuse_older({one.before, "this machine"}, one.now);
    EXPECT_EQ(!done, one.refused) << one.before.generation << " -> " << one.now.generation;
    if (!done) {
      EXPECT_EQ(done.error().code, "V040");
      EXPECT_EQ(done.error().kind, ErrorKind::corrupt);
    }
  }
}

TEST(Seen, IsRememberedForEachAddress) {
  store::testing::TemporaryDirectory place;
  auto directory = path::join(place.path(), "quarry/channels");
  EXPECT_FALSE(*last_seen(directory, at(1)));
  ASSERT_TRUE(remember(directory, at(3)));
  ASSERT_TRUE(remember(directory, at(4, "b")));
  auto seen = last_seen(directory, at(1));
  ASSERT_TRUE(seen && *seen);
  EXPECT_EQ((*seen)->generation, 4u);
  EXPECT_EQ((*seen)->view, view_of("b"));
  auto elsewhere = at(1);
  elsewhere.address = "https://other.example/channels/stable.json";
  EXPECT_FALSE(*last_seen(directory, elsewhere)) << "another service with a bucket of that name";
  EXPECT_TRUE(remember("", at(1))) << "without a home there is nowhere to keep it";
  EXPECT_FALSE(*last_seen("", at(1)));
}

TEST(Seen, ADamagedMemoryIsNotAnEmptyOne) {
  store::testing::TemporaryDirectory place;
  ASSERT_TRUE(remember(place.path(), at(3)));
  auto file = path::join(place.path(), sha256(at(3).address).hex() + ".json");
  for (const auto* bytes : {"", "{", "{}", R"({"schema":"quarry.seen-channel/2"})"}) {
    ASSERT_TRUE(sys::write_file(file, bytes));
    auto seen = last_seen(place.path(), at(1));
    ASSERT_FALSE(seen) << bytes;
    EXPECT_NE(seen.error().hint.find("remove " + file), std::string::npos);
  }
}

TEST(Seen, LiesBelowTheStateDirectory) {
  EXPECT_EQ(seen_directory({{"XDG_STATE_HOME", "/x"}, {"HOME", "/h"}}), "/x/quarry/channels");
  EXPECT_EQ(seen_directory({{"HOME", "/h"}}), "/h/.local/state/quarry/channels");
  for (const Variables& none :
       {Variables{}, Variables{{"HOME", "h"}}, Variables{{"XDG_STATE_HOME", "x"}, {"HOME", "/h"}}})
    EXPECT_EQ(seen_directory(none), "");
}

} // namespace
} // namespace quarry::venv
