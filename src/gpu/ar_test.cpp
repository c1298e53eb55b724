#include "gpu/ar.hpp"

#include "gpu/gpu_forge_for_test.hpp"
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace quarry::gpu {
namespace {
using namespace forge;
using testing::HasSubstr;
using testing::IsEmpty;

using Members = std::vector<std::pair<std::string, std::string>>; // name, bytes

std::string archive(const Members& members) {
  std::string out(k_ar_magic);
  for (const auto& [name, bytes] : members) {
    out += fmt::format("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", name, 0, 0, 0, "644", bytes.size());
    out += bytes;
    if (out.size() % 2 != 0) out += '\n';
  }
  return out;
}

std::string object() {
  return library({{".hip_fatbin",
                   linked({bundle({device("gfx942", code(k_gfx942)), device("gfx1030", code(k_gfx1030, 7001))})}),
                   {},
                   {}}});
}

std::string listed(const Contents& contents) {
  std::string out;
  for (const auto& one : contents.objects) out += fmt::format("{}@{:#x} ", one.target.str(), one.offset);
  return out;
}

Result<Contents> read(const std::string& bytes) { return read_contents(content::Rope::literal(bytes), "x.a"); }

Result<Thinned> thinned(const std::string& bytes) {
  return thin(content::Rope::literal(bytes), "x.a",
              {{"gfx1030"}, testing::TempDir(), content::Spool::create(testing::TempDir()).value()});
}

TEST(StaticLibrary, CodeOfAllMembersIsListedAtItsPlace) {
  auto one = object();
  auto alone = read(one).value();
  auto bytes = archive(
      {{"/", "symbols"}, {"//", "a_long_name_of_an_object.o/\n"}, {"a.o/", one}, {"b.txt/", "text"}, {"/0", one}});
  auto contents = read(bytes);
  ASSERT_TRUE(contents);
  EXPECT_THAT(contents->findings, IsEmpty());
  ASSERT_EQ(contents->objects.size(), 4u);
  EXPECT_EQ(contents->containers, 2u);
  auto members = ar_members(content::Rope::literal(bytes)).value();
  ASSERT_EQ(members.size(), 3u);
  EXPECT_EQ(contents->objects[0].offset, members[0].begin + alone.objects[0].offset);
  EXPECT_EQ(contents->objects[3].offset, members[2].begin + alone.objects[1].offset);
  EXPECT_EQ(members[0].name, "a.o");
}

TEST(StaticLibrary, MembersAreThinnedInTheirPlaces) {
  auto one = object();
  auto before =
      archive({{"/", "symbols"}, {"a.o/", one}, {"b.txt/", "text!"}, {"#1/20", "name of twenty bytes" + one}});
  auto done = thinned(before);
  ASSERT_TRUE(done) << render(done.error());
  EXPECT_TRUE(done->changed);
  EXPECT_THAT(done->left, IsEmpty());
  auto after = done->file.read_all(1u << 30).value();
  ASSERT_EQ(after.size(), before.size());
  EXPECT_EQ(done->after.objects.size(), 2u);
  EXPECT_EQ(listed(done->after), listed(read(after).value()));
  auto alone = thinned(one)->file.read_all(1u << 30).value();
  auto members = ar_members(content::Rope::literal(before)).value();
  ASSERT_EQ(members.size(), 3u);
  EXPECT_EQ(members[2].name, "name of twenty bytes");
  auto expected = before;
  for (auto i : {0u, 2u}) expected.replace(members[i].begin, members[i].size, alone);
  EXPECT_EQ(after, expected);
}

TEST(StaticLibrary, WhatIsWantedOrWouldGetShorterStays) {
  auto wanted = thinned(
      archive({{"a.o/", library({{".hip_fatbin", linked({bundle({device("gfx1030", code(k_gfx1030))})}), {}, {}}})}}));
  ASSERT_TRUE(wanted);
  EXPECT_FALSE(wanted->changed);
  auto packed = thinned(archive(
      {{"a.hipfb/", compressed(bundle({device("gfx942", code(k_gfx942)), device("gfx1030", code(k_gfx1030))}))}}));
  ASSERT_TRUE(packed);
  EXPECT_FALSE(packed->changed);
  ASSERT_EQ(packed->left.size(), 1u);
  EXPECT_THAT(packed->left[0], HasSubstr("a.hipfb: without the code it would get shorter"));
  EXPECT_EQ(packed->after.objects.size(), 2u);
}

TEST(StaticLibrary, DamageIsAFinding) {
  auto good = archive({{"a.o/", object()}});
  auto cut = good.substr(0, good.size() - 1);
  auto text = good;
  text.replace(8 + 48, 10, "12x       ");
  auto end = good;
  end[8 + 58] = 'x';
  auto huge = good;
  huge.replace(8 + 48, 10, "9999999999");
  auto name = archive({{"#1/999999999", "x"}});
  for (const auto& bytes : {cut, text, end, huge, name, good + "x"}) {
    auto contents = read(bytes);
    ASSERT_TRUE(contents);
    ASSERT_FALSE(contents->findings.empty());
    EXPECT_EQ(contents->findings[0].code, "G101");
    auto done = thinned(bytes);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, "G101");
  }
  // Archives inside archives are not followed, so that depth is bounded.
  auto nested = read(archive({{"a.a/", good}}));
  ASSERT_TRUE(nested);
  EXPECT_THAT(nested->objects, IsEmpty());
  EXPECT_THAT(nested->findings, IsEmpty());
}

} // namespace
} // namespace quarry::gpu
