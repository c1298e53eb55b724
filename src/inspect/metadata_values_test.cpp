#include "inspect/metadata_values.hpp"

#include "sys/file.hpp"
#include <gmock/gmock.h>

namespace quarry::inspect {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(MetadataValues, IdentifiersOfSpdx) {
  auto text = sys::read_file(QUARRY_SOURCE_DIR "/data/metadata-values.toml").value();
  auto values = parse_metadata_values({text, "metadata-values.toml"});
  ASSERT_TRUE(values) << render(values.error());
  EXPECT_GT(values->licenses.size(), 600u);
  EXPECT_GT(values->classifiers.size(), 800u);
  for (const auto* listed : {"MIT", "mit OR (apache-2.0 with llvm-exception)", "GPL-2.0+",
                             "LicenseRef-AMD-EULA AND NCSA", "(MIT)AND(BSD-3-Clause)"})
    EXPECT_THAT(unlisted_licenses(listed, *values), IsEmpty()) << listed;
  EXPECT_THAT(unlisted_licenses("Apache 2.0 OR MIT AND BSD", *values), ElementsAre("Apache", "2.0", "BSD"));
  EXPECT_THAT(unlisted_licenses("LLVM-exception", *values), ElementsAre("LLVM-exception"));
  EXPECT_THAT(unlisted_licenses("Apache-2.0 WITH MIT", *values), ElementsAre("MIT"));
  EXPECT_THAT(unlisted_licenses("Apache-2.0 WITH LicenseRef-x", *values), ElementsAre("LicenseRef-x"));
}

TEST(MetadataValues, AMalformedTable) {
  const std::string head = "schema = \"quarry.metadata-values/1\"\nspdx = \"1\"\ntrove_classifiers = \"2\"\n";
  EXPECT_TRUE(parse_metadata_values({head + "licenses = [\"MIT\"]\nclassifiers = [\"A :: B\"]\n", "f"}));
  for (const auto& text : {head, head + "licenses = [\"MIT\"]\n", head + "licenses = [\"MIT\"]\nclassifier = [\"A\"]\n",
                           std::string("licenses = [\"MIT\"]\n"), std::string("x")})
    EXPECT_EQ(parse_metadata_values({text, "f"}).error().code, "Q014") << text;
}

} // namespace
} // namespace quarry::inspect
