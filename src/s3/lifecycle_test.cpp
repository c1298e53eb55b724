#include "s3/lifecycle.hpp"

#include <gtest/gtest.h>

namespace quarry::s3 {
namespace {

constexpr const char* k_document = R"(<?xml version="1.0" encoding="UTF-8"?>
<LifecycleConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
<Rule><ID>runs</ID><Filter><Prefix>ci/</Prefix></Filter><Status>Enabled</Status><Expiration><Days>30</Days></Expiration></Rule>
<Rule><ID>old form</ID><Prefix>old/</Prefix><Status>Enabled</Status><Expiration><Date>2027-01-01T00:00:00Z</Date></Expiration></Rule>
<Rule><ID>all</ID><Filter/><Status>Enabled</Status><Expiration><Days>1</Days></Expiration></Rule>
<Rule><ID>off</ID><Filter><Prefix/></Filter><Status>Disabled</Status><Expiration><Days>1</Days></Expiration></Rule>
<Rule><ID>uploads</ID><Filter/><Status>Enabled</Status><AbortIncompleteMultipartUpload><DaysAfterInitiation>7</DaysAfterInitiation></AbortIncompleteMultipartUpload></Rule>
<Rule><ID>versions</ID><Filter/><Status>Enabled</Status><NoncurrentVersionExpiration><NoncurrentDays>9</NoncurrentDays></NoncurrentVersionExpiration></Rule>
<Rule><ID>markers</ID><Filter/><Status>Enabled</Status><Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration></Rule>
<Rule><ID>tagged</ID><Filter><And><Prefix>ci/</Prefix><Tag><Key>a</Key><Value>b</Value></Tag></And></Filter><Status>Enabled</Status><Expiration><Days>2</Days></Expiration></Rule>
<Rule><ID>large</ID><Filter><And><Prefix>big/</Prefix><ObjectSizeGreaterThan>9</ObjectSizeGreaterThan></And></Filter><Status>Enabled</Status><Expiration><Days>2</Days></Expiration></Rule>
</LifecycleConfiguration>)";

std::string shown(const std::vector<ExpiryRule>& rules) {
  std::string all;
  for (const auto& rule : rules)
    all += rule.id + ":" + rule.prefix + ":" + rule.when + (rule.tagged ? ":tagged\n" : "\n");
  return all;
}

TEST(Lifecycle, KeepsTheRulesThatDeleteObjects) {
  auto rules = parse_lifecycle(k_document);
  ASSERT_TRUE(rules) << render(rules.error());
  EXPECT_EQ(shown(*rules), "runs:ci/:after 30 days\nold form:old/:on 2027-01-01\nall::after 1 day\n"
                           "tagged:ci/:after 2 days:tagged\nlarge:big/:after 2 days\n");
  EXPECT_TRUE(parse_lifecycle("<LifecycleConfiguration/>").value().empty());
  EXPECT_EQ(parse_lifecycle("<ListBucketResult/>").error().code, "K020");
  EXPECT_EQ(parse_lifecycle("<html>").error().code, "K020");
}

TEST(Lifecycle, TellsWhichRulesCoverAStore) {
  std::vector<ExpiryRule> rules{{"a", "", "", false},
                                {"b", "ci", "", false},
                                {"c", "ci/runs/4", "", false},
                                {"d", "ci/runsold/", "", false},
                                {"e", "other/", "", false}};
  EXPECT_EQ(shown(rules_below(rules, "ci/runs")), "a::\nb::\nc:4:\n");
  EXPECT_EQ(shown(rules_below(rules, "")), "a::\nb:ci:\nc:ci/runs/4:\nd:ci/runsold/:\ne:other/:\n");
}

} // namespace
} // namespace quarry::s3
