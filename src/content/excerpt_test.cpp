#include "content/excerpt.hpp"

#include <gtest/gtest.h>
#include <string>

namespace quarry::content {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string read_of(const Excerpt& excerpt, std::uint64_t at, std::size_t count) {
  std::string out(count, '\0');
  auto read = excerpt.read(at, std::as_writable_bytes(std::span(out)));
  return read ? out : read.error().code;
}

TEST(Excerpt, ReadsLikeTheFileWhereBytesWereKept) {
  auto spool = Spool::create(testing::TempDir()).value();
  ASSERT_TRUE(spool->append(bytes_of("of another file")));
  Excerpt excerpt(spool);
  ASSERT_TRUE(excerpt.append(bytes_of("abcd")));
  ASSERT_TRUE(excerpt.append(bytes_of("ef")));
  excerpt.skip(3);
  excerpt.skip(1);
  ASSERT_TRUE(spool->append(bytes_of("between")));
  ASSERT_TRUE(excerpt.append(bytes_of("klm")));
  ASSERT_TRUE(spool->append(bytes_of("between")));
  ASSERT_TRUE(excerpt.append(bytes_of("no")));
  EXPECT_EQ(excerpt.size(), 15u);
  EXPECT_EQ(read_of(excerpt, 0, 6), "abcdef");
  EXPECT_EQ(read_of(excerpt, 3, 3), "def");
  EXPECT_EQ(read_of(excerpt, 10, 5), "klmno"); // in two places of the spool
  EXPECT_EQ(read_of(excerpt, 15, 0), "");
  EXPECT_FALSE(excerpt.missed());
  ASSERT_EQ(excerpt.skipped().size(), 1u);
  EXPECT_EQ(excerpt.skipped()[0].begin, 6u);
  EXPECT_EQ(excerpt.skipped()[0].end, 10u);
}

TEST(Excerpt, RefusesAndRemembersReadsOfWhatWasSkipped) {
  for (auto [at, count] : {std::pair<std::uint64_t, std::size_t>{0, 1}, {2, 2}, {4, 2}, {5, 1}}) {
    Excerpt excerpt(Spool::create(testing::TempDir()).value());
    excerpt.skip(3);
    ASSERT_TRUE(excerpt.append(bytes_of("de")));
    excerpt.skip(2);
    EXPECT_EQ(excerpt.skipped().size(), 2u);
    EXPECT_EQ(read_of(excerpt, 3, 2), "de");
    EXPECT_FALSE(excerpt.missed());
    EXPECT_EQ(read_of(excerpt, at, count), "D019") << at;
    EXPECT_TRUE(excerpt.missed());
  }
}

} // namespace
} // namespace quarry::content
