#include "tar/member.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::tar {
namespace {

Header header_of(char type, std::string name, std::string link = "", std::uint64_t size = 0) {
  Header header;
  header.type = type, header.name = std::move(name), header.link = std::move(link), header.size = size;
  return header;
}

Pending with_path(std::string path) {
  Pending pending;
  pending.pax = PaxRecords{std::move(path), {}, {}};
  return pending;
}

TEST(MemberOf, TypesAndTheirPaths) {
  struct Case {
    char type;
    const char *name, *link;
    Type expected;
    const char* path;
  };
  for (const auto& one : {Case{'0', "./a/b", "", Type::file, "a/b"}, Case{'5', "a/", "", Type::directory, "a"},
                          Case{'2', "a/l", "../x", Type::symlink, "a/l"}, Case{'1', "h", "./a/b", Type::hardlink, "h"},
                          Case{'\0', "old", "", Type::file, "old"}, Case{'\0', "old/", "", Type::directory, "old"}}) {
    auto member = member_of(header_of(one.type, one.name, one.link), {});
    ASSERT_TRUE(member) << one.name << render(member.error());
    ASSERT_TRUE(*member);
    EXPECT_EQ((*member)->type, one.expected) << one.name;
    EXPECT_EQ((*member)->path, one.path);
  }
  auto hard = member_of(header_of('1', "h", "./a/b"), {});
  EXPECT_EQ((*hard)->link, "a/b"); // a checked path
  auto soft = member_of(header_of('2', "s", "../x"), {});
  EXPECT_EQ((*soft)->link, "../x"); // as stored
}

TEST(MemberOf, ExtensionsReplaceNamesAndSizes) {
  auto named = member_of(header_of('0', "short", "", 3), with_path("long/name"));
  ASSERT_TRUE(named);
  EXPECT_EQ((*named)->path, "long/name");
  EXPECT_EQ((*named)->size, 3u);
  Pending gnu;
  gnu.long_name = "long", gnu.long_link = "target";
  auto link = member_of(header_of('2', "l", "t"), gnu);
  ASSERT_TRUE(link);
  EXPECT_EQ((*link)->link, "target");
  Pending large;
  large.pax = PaxRecords{{}, {}, k_octal_size_end};
  EXPECT_EQ((*member_of(header_of('0', "a"), large))->size, k_octal_size_end);
}

TEST(MemberOf, TheArchivesOwnDirectoryIsNotAMember) {
  auto top = member_of(header_of('5', "./"), {});
  ASSERT_TRUE(top);
  EXPECT_FALSE(top->has_value());
}

TEST(MemberOf, WhatTwoReadersUnderstandDifferentlyIsRefused) {
  Pending two_sizes;
  two_sizes.pax = PaxRecords{{}, {}, 5};
  struct Case {
    Header header;
    Pending pending;
    const char* code;
  };
  for (const auto& one :
       {Case{header_of('0', "a", "", 3), two_sizes, "T006"}, Case{header_of('5', "a", "", 3), {}, "T005"},
        Case{header_of('0', "a", "b"), {}, "T005"}, Case{header_of('0', "a/"), {}, "T005"},
        Case{header_of('\0', "a/"), with_path("a"), "T005"}, Case{header_of('1', "a", "b/"), {}, "T005"},
        Case{header_of('0', "."), {}, "T010"}, Case{header_of('0', "../a"), {}, "T010"},
        Case{header_of('3', "a"), {}, "T009"}, Case{header_of('Z', "a"), {}, "T009"}}) {
    auto member = member_of(one.header, one.pending);
    ASSERT_FALSE(member) << one.header.type << one.header.name;
    EXPECT_EQ(member.error().code, one.code) << one.header.name;
  }
}

TEST(Extensions, AtMostOneOfEachKindSpeaksOfAMember) {
  Pending name;
  ASSERT_TRUE(add_extension('L', std::string("long\0", 5), name));
  EXPECT_EQ(name.long_name, "long");
  EXPECT_TRUE(check_extension(header_of('K', "x", "", 5), name));
  for (char type : {'L', 'x', 'g'}) EXPECT_FALSE(check_extension(header_of(type, "x", "", 5), name)) << type;
  Pending pax = with_path("a");
  for (char type : {'x', 'L', 'K', 'g'}) EXPECT_FALSE(check_extension(header_of(type, "x", "", 5), pax)) << type;
  EXPECT_FALSE(check_extension(header_of('x', "x", "", 0), {}));
  EXPECT_FALSE(check_extension(header_of('x', "x", "", (1u << 20) + 1), {}));
  Pending none;
  EXPECT_FALSE(add_extension('K', std::string("a\0b", 3), none));
  EXPECT_FALSE(add_extension('K', std::string(1, '\0'), none));
  EXPECT_FALSE(add_extension('x', "not a record", none));
  EXPECT_FALSE(none.any());
}

} // namespace
} // namespace quarry::tar
