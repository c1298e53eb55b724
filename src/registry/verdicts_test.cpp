#include "registry/verdicts.hpp"

#include "registry/testing/samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::registry {
namespace {

using ::testing::ElementsAre;

TEST(Verdicts, AreReadAsTheyAreWritten) {
  VerdictDocument said;
  said.verdict = k_held;
  said.policy = std::string(64, 'a');
  VerdictCell cell;
  cell.cell.family = "gfx942";
  cell.set = digest_named<SetDigest>("rocm");
  cell.verdict = k_ready;
  cell.waived = true;
  cell.waivers = {digest_named<WaiverDigest>("waiver")};
  cell.files = {"a.whl", "b.whl"};
  cell.evidence = {digest_named<EvidenceDigest>("evidence")};
  said.cells = {cell};
  said.read = {"evidence/x.json"};
  said.channel = "stable";
  said.after = digest_named<LedgerDigest>("move");
  auto text = to_json(said);
  auto read = read_verdict({text});
  ASSERT_TRUE(read) << render(read.error());
  ASSERT_EQ(read->cells.size(), 1U);
  EXPECT_TRUE(read->cells[0].ready() && read->cells[0].waived);
  EXPECT_EQ(read->cells[0].set, cell.set);
  EXPECT_EQ(read->after, said.after);
  EXPECT_EQ(to_json(*read), text);
}

TEST(Verdicts, OfOlderProgramsHaveEmptyFields) {
  auto read =
      read_verdict({R"({"schema":"quarry.verdict/1","verdict":"ready","policy":"p","cells":[{"cell":{"family":"",
    "framework":"","platform":"linux","python":"3.12"},"set":"","verdict":"held","waived":false,"waivers":[],"files":["a"],
    "evidence":[]}],"read":[],"after":"","later":1})"});
  ASSERT_TRUE(read) << render(read.error());
  EXPECT_THAT(read->cells.at(0).files, ElementsAre("a"));
  EXPECT_TRUE(read->cells[0].set.empty() && read->after.empty() && read->channel.empty() && !read->cells[0].ready());
  EXPECT_EQ(read->unknown, R"({"later":1})");
}

TEST(Verdicts, WithAFieldOfAnotherTypeSayNothing) {
  for (const std::string text :
       {R"("read":[7])", R"("cells":{})", R"("cells":[{"verdict":"ready","waived":"yes"}])", R"("after":"x")"}) {
    auto read = read_verdict({R"({"schema":"quarry.verdict/1",)" + text + "}"});
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, "R012") << text;
  }
  EXPECT_EQ(read_verdict({R"({"schema":"quarry.gate/1"})"}).error().code, "B004");
}

} // namespace
} // namespace quarry::registry
