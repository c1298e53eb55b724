#include "registry/derivations.hpp"

#include "store/testing/faulty_store.hpp"
#include <gtest/gtest.h>

namespace quarry::registry {
namespace {

DerivationRecord record_of_two() {
  DerivationRecord record;
  record.candidate = SetDigest(sha256("set"));
  record.candidate_version = "7.2.0rc1";
  record.version = "7.2.0";
  record.files = {{"a-7.2.0.tar.gz", "a-7.2.0rc1.tar.gz", sha256("a"), sha256("A"), {"a-7.2.0/PKG-INFO"}},
                  {"b-1.whl", "b-1.whl", sha256("b"), sha256("b"), {}}};
  return record;
}

TEST(Derivations, AreReadAsTheyWereWritten) {
  auto store = store::make_memory_store();
  auto record = record_of_two();
  SetDigest made(sha256("made"));
  EXPECT_FALSE(load_derivation(*store, made).value());
  ASSERT_TRUE(put_derivation(*store, made, to_json(record)));
  ASSERT_TRUE(put_derivation(*store, made, to_json(record))) << "once more is nothing";
  auto read = load_derivation(*store, made).value();
  ASSERT_TRUE(read);
  EXPECT_EQ(to_json(*read), to_json(record));
  EXPECT_EQ(read->files[0].changed.front(), "a-7.2.0/PKG-INFO");

  record.release = ReleaseDigest(sha256("release"));
  ASSERT_TRUE(put_derivation(*store, made, to_json(record))) << "the same files, made of the candidate's release";
  EXPECT_TRUE(load_derivation(*store, made).value()->release.empty()) << "the first record stays";

  record.candidate = SetDigest(sha256("another set"));
  auto longer = put_derivation(*store, made, std::string(k_record_bytes_max + 1, 'x'));
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().code, "R007") << "nobody could read it again";
  auto other = put_derivation(*store, made, to_json(record));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, "R009");
  EXPECT_NE(other.error().hint.find("derivation.json"), std::string::npos);
}

TEST(Derivations, OfTwoJobsThatWriteAtTheSameMomentSucceedForBoth) {
  auto store = store::make_memory_store();
  SetDigest made(sha256("made"));
  auto ours = record_of_two(), theirs = record_of_two();
  theirs.release = ReleaseDigest(sha256("release"));
  store::testing::FaultyStore racing(*store);
  racing.after_call = [&](std::uint64_t call) {
    if (call != 1) return; // between our read and our write
    ASSERT_TRUE(put_derivation(*store, made, to_json(theirs)));
  };
  auto put = put_derivation(racing, made, to_json(ours));
  EXPECT_TRUE(put) << render(put.error());
  EXPECT_EQ(to_json(*load_derivation(*store, made).value()), to_json(theirs));
}

TEST(Derivations, AreRefusedWhenTheyAreNotWhole) {
  auto record = record_of_two();
  std::swap(record.files[0], record.files[1]);
  EXPECT_EQ(parse_derivation(to_json(record)).error().code, "R012");
  record.files.clear();
  EXPECT_EQ(parse_derivation(to_json(record)).error().code, "R012");
  record = record_of_two();
  record.candidate = {};
  EXPECT_EQ(parse_derivation(to_json(record)).error().code, "R012");
  EXPECT_EQ(parse_derivation("{\"schema\":\"quarry.derivation/2\"}").error().code, "B004");
  EXPECT_EQ(parse_derivation("[]").error().code.substr(0, 1), "B");
}

} // namespace
} // namespace quarry::registry
