#include "s3/part_transfer.hpp"
#include "s3/upload.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::s3 {
namespace {

TEST(KnownParts, OnlyThoseThatJournalAndServerAgreeOn) {
  KnownParts journal{{1, {"a", 11, 8}}, {2, {"b", 22, 8}}, {3, {"c", 33, 8}}, {4, {"d", 44, 8}}};
  PartPage page;
  page.parts = {{1, 8, "a"}, {2, 8, "other"}, {3, 7, "c"}, {5, 8, "e"}}; // 4 was never stored, 5 was never noted
  auto known = known_parts(page, journal);
  ASSERT_EQ(known.size(), 1u);
  EXPECT_EQ(known.at(1).etag, "a");
  EXPECT_EQ(known.at(1).crc64nvme, 11u); // only the journal knows it
}

TEST(CompletionBody, HasThePartsInOrderAndEscapesETags) {
  EXPECT_EQ(
      completion_body({"a", "b&<"}),
      "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>&quot;a&quot;</ETag></Part><Part><PartNumber>2</"
      "PartNumber><ETag>&quot;b&amp;&lt;&quot;</ETag></Part></CompleteMultipartUpload>");
}

} // namespace
} // namespace quarry::s3
