#include "registry/record_text.hpp"

#include "registry/revocations.hpp"
#include "registry/testing/samples.hpp"
#include "store/testing/faulty_store.hpp"
#include <gmock/gmock.h>

namespace quarry::registry {
namespace {

using testing::digest_named;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Releases, KeepWhatTheyHoldAndWhatALaterVersionAdds) {
  ReleaseRecord record;
  record.name = "7.2.0";
  record.sets = {digest_named<SetDigest>("a"), digest_named<SetDigest>("b")};
  std::sort(record.sets.begin(), record.sets.end());
  record.expect.platforms = {Platform::linux};
  record.expect.families = {"gfx94X-dcgpu"};
  record.notes = "# Notes\n";
  record.unknown = R"({"later":1})";
  auto read = parse_release({to_json(record), "a release"});
  ASSERT_TRUE(read) << render(read.error());
  EXPECT_EQ(to_json(*read), to_json(record));
  EXPECT_THAT(read->expect.families, ElementsAre("gfx94X-dcgpu"));
}

TEST(Releases, WithoutSetsOrOutOfOrderAreRefused) {
  ReleaseRecord record;
  EXPECT_EQ(parse_release({to_json(record), "a release"}).error().code, "R012");
  record.sets = {digest_named<SetDigest>("a"), digest_named<SetDigest>("a")};
  EXPECT_THAT(parse_release({to_json(record), "a release"}).error().message, HasSubstr("named twice"));
  EXPECT_EQ(parse_release({R"({"schema":"quarry.release/2"})", "a release"}).error().code, "B004");
}

TEST(Releases, ThatExpectSomethingOnNoPlatformAreNotWritten) {
  auto store = store::make_memory_store();
  ReleaseRecord record;
  record.name = "7.2.0";
  record.sets = {digest_named<SetDigest>("rocm")};
  record.expect.families = {"gfx94X-dcgpu"};
  EXPECT_EQ(put_release(*store, record).error().code, "R012");
  EXPECT_EQ(find_release(*store, "7.2.0").error().code, "R010") << "not R021: no record is in the way";
}

TEST(Revocations, CountByTheirNameWhateverTheyHold) {
  auto store = store::make_memory_store();
  WaiverRecord waiver;
  waiver.channel = "stable";
  waiver.reason = "why";
  waiver.approver = "ann";
  waiver.created = waiver.expires = *Timestamp::parse("2026-11-20T10:00:00Z");
  auto digest = *put_waiver(*store, waiver);
  EXPECT_EQ(revoke(*store, {digest_named<WaiverDigest>("x"), "ann", "why", waiver.created}).error().code, "R010");
  EXPECT_TRUE(*revoke(*store, {digest, "ann", "why", waiver.created}));
  EXPECT_FALSE(*revoke(*store, {digest, "eve", "again", waiver.created}));
  EXPECT_EQ(load_revocations(*store)->at(digest).who, "ann");
  EXPECT_THAT(*list_revoked(*store), ElementsAre(digest));
  EXPECT_THAT(*waiver_keys(*store), ElementsAre(waiver_key(digest), revocation_key(digest)));
  ASSERT_TRUE(store->put(revocation_key(digest), content::Rope::literal("junk"), {}));
  EXPECT_THAT(*list_revoked(*store), ElementsAre(digest));
  EXPECT_EQ(load_revocations(*store)->at(digest).who, "");
}

TEST(Releases, ANameIsEnoughIfOneReleaseHasIt) {
  auto store = store::make_memory_store();
  auto made = [&](const std::string& name, const std::string& notes = {}) {
    ReleaseRecord record;
    record.name = name;
    record.sets = {digest_named<SetDigest>("rocm")};
    record.notes = notes;
    return *put_release(*store, record);
  };
  auto first = made("7.2.0"), dated = made("20261123");
  EXPECT_EQ(*find_release(*store, "7.2.0"), first);
  EXPECT_EQ(*find_release(*store, first.hex().substr(0, 12)), first);
  EXPECT_EQ(*find_release(*store, "20261123"), dated);
  EXPECT_EQ(find_release(*store, "7.2").error().code, "R010");
  EXPECT_EQ(find_release(*store, "20261124").error().code, "R010");
  auto second = made("7.2.0", "other notes");
  auto both = find_release(*store, "7.2.0");
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().code, "R024");
  EXPECT_THAT(both.error().details,
              ::testing::UnorderedElementsAre("release:" + first.hex(), "release:" + second.hex()));
  ASSERT_TRUE(store->put("releases/" + std::string(64, '0') + ".json", content::Rope::literal("junk"), {}));
  Findings skipped;
  EXPECT_EQ(list_releases(*store, skipped)->size(), 3u);
  ASSERT_EQ(skipped.size(), 1u);
  EXPECT_EQ(skipped[0].code, "R021");
}

TEST(Releases, ARecordThatCannotBeReadMayHaveTheName) {
  auto store = store::make_memory_store();
  ReleaseRecord record;
  record.name = "7.2.0";
  record.sets = {digest_named<SetDigest>("rocm")};
  auto first = *put_release(*store, record);
  record.notes = "other notes";
  auto second = *put_release(*store, record);
  EXPECT_EQ(find_release(*store, "7.2.0").error().code, "R024");
  ASSERT_TRUE(store->put("releases/" + second.hex() + ".json", content::Rope::literal("{}"), {}));
  auto one = find_release(*store, "7.2.0");
  ASSERT_FALSE(one) << "the other release must not get its place";
  EXPECT_EQ(one.error().code, "R021");
  EXPECT_THAT(one.error().details, ::testing::ElementsAre(HasSubstr(second.short_hex())));
  EXPECT_EQ(*find_release(*store, first.hex()), first);
}

TEST(Releases, OneThatIsRemovedWhileTheyAreListedIsLeftOut) {
  auto store = store::make_memory_store();
  ReleaseRecord record;
  record.sets = {digest_named<SetDigest>("rocm")};
  auto digest = *put_release(*store, record);
  store::testing::FaultyStore faulty(*store);
  faulty.after_call = [&](std::uint64_t call) {
    if (call != 1) return; // 1 is the listing
    EXPECT_TRUE(store->remove("releases/" + digest.hex() + ".json"));
  };
  Findings skipped;
  EXPECT_THAT(*list_releases(faulty, skipped), ::testing::IsEmpty());
  EXPECT_THAT(skipped, ::testing::IsEmpty());
  ASSERT_TRUE(store->put("releases/" + digest.hex() + ".json",
                         content::Rope::literal(std::string(k_record_bytes_max + 1, ' ')), {}));
  EXPECT_THAT(*list_releases(*store, skipped), ::testing::IsEmpty());
  ASSERT_EQ(skipped.size(), 1u) << "one object of junk does not hide the other releases";
}

TEST(Releases, NamesMeanOneRelease) {
  for (const auto* good : {"7.2.0", "beef", "nightly 20261123"}) EXPECT_TRUE(check_release_name(good)) << good;
  for (const auto* bad : {"", "  ", "0e66efc9", "DEADBEEF01", "20261123"})
    EXPECT_EQ(check_release_name(bad).error().code, "R025") << bad;
}

TEST(Groups, OneGroupOfARunIsAnIndexWhereAllAreNot) {
  auto store = store::make_memory_store();
  for (const std::string group : {"gfx94X-dcgpu", "gfx110X-all"}) {
    SetRecord set;
    set.origin = {"42", Platform::linux, group, "", "", "", "", ""};
    set.directory = "42-linux/python/" + group;
    set.files = {testing::file_record({"rocm-7.2.0.tar.gz", "rocm", "7.2.0", group}, set.directory)};
    ASSERT_TRUE(seal(*store, *put_set(*store, set), *Timestamp::parse("2026-11-20T10:00:00Z")));
  }
  auto all = resolve_run(*store, "42-linux");
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().code, "R018");
  EXPECT_THAT(all.error().hint, HasSubstr("run:42-linux@gfx110X-all"));
  auto one = resolve_group(*store, {"42-linux", "gfx94X-dcgpu"});
  ASSERT_TRUE(one) << render(one.error());
  EXPECT_EQ(one->source, "run:42-linux@gfx94X-dcgpu");
  EXPECT_EQ(one->sets.size(), 1u);
  EXPECT_EQ(resolve_group(*store, {"42-linux", "gfx1151"}).error().code, "R013");
  // One channel cannot show both, and says why.
  auto other = *resolve_group(*store, {"42-linux", "gfx110X-all"});
  EXPECT_EQ(check_extension({}, {one->sets.front(), other.sets.front()}).error().code, "R023");
  auto both = extend_view(*make_view(one->sets), other.sets);
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().code, "R023");
}

} // namespace
} // namespace quarry::registry
