#include "promote/expiry.hpp"

#include "base/text.hpp"
#include "registry/testing/samples.hpp"
#include "sys/file.hpp"
#include <gmock/gmock.h>
#include <set>

namespace quarry::promote {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

TEST(Expiry, RefusesWhatARuleWouldDelete) {
  auto store = store::make_memory_store();
  auto set = registry::testing::sealed_sample(*store, "41-linux/python/g", {{"a-1-py3-none-any.whl", "a", "1"}});
  auto refused = [&](const std::string& prefix, bool tagged = false) {
    auto done = refuse_expiring({set}, {{"clean", prefix, "after 30 days", tagged}});
    return done ? std::string() : done.error().code + " " + done.error().message;
  };
  EXPECT_THAT(refused("41-linux/"), HasSubstr("O031 the rule `clean` of the bucket deletes 41-linux/python/g/dist/"
                                              "a-1-py3-none-any.whl after 30 days, and 2 more of these sets"));
  EXPECT_THAT(refused("41-linux/python/g/seals/"), HasSubstr("seals"));
  EXPECT_THAT(refused(""), HasSubstr("deletes records below channels/"));
  EXPECT_THAT(refused("views/shards/"), HasSubstr("records below views/"));
  EXPECT_THAT(refused("ledg"), HasSubstr("records below ledger/"));
  for (const auto* fine : {"42-linux/", "gc/", "quarry-doctor/", "41-linux/logs/"})
    EXPECT_EQ(refused(fine), "") << fine;
  EXPECT_EQ(refused("", true), "") << "Quarry gives objects no tags";
}

/// The first components of the keys that the format's table names, but of runs, the base index and what `gc` remembers.
std::set<std::string> record_prefixes() {
  auto page = *sys::read_file(std::string(QUARRY_SOURCE_DIR) + "/docs/formats/store.md", 1 << 20);
  std::set<std::string> prefixes;
  for (const auto& line : text::lines(page)) {
    if (!line.starts_with("| `")) continue;
    auto words = text::split(text::split(line, '|').at(1), '`');
    for (std::size_t i = 1; i < words.size(); i += 2) {
      auto prefix = words[i].substr(0, words[i].find('/') + 1);
      if (!prefix.empty() && !prefix.starts_with('{') && prefix != "python-deps/" && prefix != "gc/")
        prefixes.insert(prefix);
    }
  }
  return prefixes;
}

TEST(Expiry, KnowsEveryKindOfRecord) {
  auto prefixes = record_prefixes();
  EXPECT_THAT(prefixes, IsSupersetOf({"channels/", "sets/", "derivations/", "evidence/", "plans/"}));
  auto guide = *sys::read_file(std::string(QUARRY_SOURCE_DIR) + "/docs/guides/lifecycle.md", 1 << 20);
  for (const auto& prefix : prefixes) {
    EXPECT_EQ(records_covered({"clean", prefix, "after 30 days", false}), prefix);
    EXPECT_THAT(guide, HasSubstr("`" + prefix + "`"));
  }
}

} // namespace
} // namespace quarry::promote
