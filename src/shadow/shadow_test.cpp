#include "shadow/keys.hpp"
#include "shadow/outputs.hpp"
#include "shadow/packages.hpp"
#include "shadow/page_offers.hpp"

#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include "wheel/wheel.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::shadow {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> places(const Section& section) {
  std::vector<std::string> found;
  for (const auto& each : section.differences) found.push_back((each.explained() ? "ok " : "") + each.place);
  return found;
}

Table table_of(const std::string& text) {
  auto table = Table::parse({text, "differences.tsv"});
  EXPECT_TRUE(table) << render(table.error());
  return table ? *table : Table();
}

class TwoRuns : public ::testing::Test {
protected:
  void put(const std::string& key, const std::string& text = "x") {
    EXPECT_TRUE(store_->put(key, content::Rope::literal(text), {}));
  }
  Side side(const std::string& directory) {
    auto found = look_at_run(store_, directory);
    EXPECT_TRUE(found) << render(found.error());
    return *found;
  }
  std::shared_ptr<store::ObjectStore> store_ = store::make_memory_store();
};

TEST_F(TwoRuns, KeysArePairedByWhatTheyHold) {
  for (const std::string run : {"a", "b"}) {
    put(run + "/base_lib_generic.tar.xz.sha256sum", "AB12  base_lib_generic.tar.xz\n");
    put(run + "/manifests/g/therock_manifest.json", run);
  }
  put("a/blas_lib_g.tar.xz.sha256sum", "00  x");
  put("b/blas_lib_g.tar.xz.sha256sum", "01  x");
  put("a/python/g/dist/demo-1.0-py3-none-any.whl");
  put("a/python/g/seals/1.json");
  put("b/python/g/demo-1.0-py3-none-any.whl");
  put("b/logs/g/index.html");
  put("b/python/.kpack_staging/demo-1.0-py3-none-any.whl");
  auto table = table_of("#keys\t**/seals/*!ours\tthe seal\n#keys\tlogs/**/*!ours\tnever: they have it\n");
  auto section = compare_keys({side("a"), side("b")}, table);
  ASSERT_TRUE(section);
  EXPECT_THAT(places(*section),
              ElementsAre("blas_lib_g.tar.xz.sha256sum!sha256", "manifests/g/therock_manifest.json!content",
                          "python/g/demo-1.0-py3-none-any.whl!place", "ok python/g/seals/1.json!ours",
                          "logs/g/index.html!theirs", "python/.kpack_staging/demo-1.0-py3-none-any.whl!theirs"));
  EXPECT_EQ(section->equal, 1U);
  EXPECT_EQ(section->unexplained(), 5U);
  EXPECT_EQ(look_at_run(store_, "c").error().code, "Q501");
}

TEST_F(TwoRuns, PagesAreReadAsInstallersReadThem) {
  for (const std::string run : {"4-linux", "5-linux"})
    for (const std::string file : {"a-1-py3-none-any.whl", "b+c-1-py3-none-any.whl", "d-1.tar.gz"})
      put(run + "/python/" + file);
  put("4-linux/python/index.html", "<a href='a-1-py3-none-any.whl#sha256=" + std::string(64, 'a') +
                                       "'>a</a><a href='b%2Bc-1-py3-none-any.whl'>b</a>"
                                       "<a href='e-1.tar.gz'>e</a><a href='../index.html'>up</a>");
  put("5-linux/python/index.html",
      "<a href='https://h/x/5-linux/python/a-1-py3-none-any.whl'>a</a><a href='b+c-1-py3-none-any.whl' "
      "data-yanked>b</a><a href='d-1.tar.gz'>d</a><a href='https://elsewhere.example/e-1.tar.gz'>e</a>");
  auto section =
      compare_pages({side("4-linux"), side("5-linux")}, table_of("#pages\t**/*!sha256!ours\tthey have no digest\n"));
  ASSERT_TRUE(section) << render(section.error());
  EXPECT_THAT(places(*section),
              ElementsAre("ok python/index.html!a-1-py3-none-any.whl!sha256!ours",
                          "python/index.html!b+c-1-py3-none-any.whl!yanked!theirs",
                          "python/index.html!e-1.tar.gz!leads", "python/index.html!d-1.tar.gz!theirs"));
}

TEST_F(TwoRuns, PackagesAreComparedInTheirDirectory) {
  auto root = path::join(::testing::TempDir(), "shadow-packages");
  ASSERT_TRUE(sys::remove_tree(root));
  auto make = [&](const std::string& run, const std::string& text) {
    wheel::WheelSpec spec;
    spec.metadata.name = "demo";
    spec.metadata.version = "1.0";
    spec.members.push_back({"demo.py", content::Rope::literal(text), false});
    ASSERT_TRUE(wheel::pack(spec, path::join(root, run + "/python/g"), {}));
  };
  make("a", "x = 1\n");
  make("b", "x = 2\n");
  auto opened = store::open_file_store(root);
  ASSERT_TRUE(opened);
  store_ = std::move(*opened);
  inspect::ReadOptions options{1, ::testing::TempDir()};
  auto section = compare_packages({side("a"), side("b")}, table_of(""), options);
  ASSERT_TRUE(section) << render(section.error());
  EXPECT_THAT(places(*section), ElementsAre("demo!demo.py!value:x", "demo!demo.py!source"));
  EXPECT_EQ(section->differences[0].where, "python/g");
  auto explained =
      compare_packages({side("a"), side("b")}, table_of("#packages\tdemo!*.py!source\tour own\n"), options);
  EXPECT_THAT(places(*explained), ElementsAre("demo!demo.py!value:x", "ok demo!demo.py!source"));
  auto by_package = compare_packages({side("a"), side("b")}, table_of("demo\tdemo.py\tanother day\n"), options);
  EXPECT_THAT(places(*by_package), ElementsAre("ok demo!demo.py!value:x", "ok demo!demo.py!source"));
  ASSERT_TRUE(sys::remove_tree(root));
}

TEST_F(TwoRuns, EachPartOfADifferenceIsExplainedByItself) {
  auto root = path::join(::testing::TempDir(), "shadow-parts");
  ASSERT_TRUE(sys::remove_tree(root));
  for (const std::string run : {"a", "b"}) {
    wheel::WheelSpec spec;
    spec.metadata.name = "demo";
    spec.metadata.version = "1.0";
    spec.metadata.requires_dist =
        run == "a" ? std::vector<std::string>{"x", "y==1"} : std::vector<std::string>{"y==2", "z"};
    ASSERT_TRUE(wheel::pack(spec, path::join(root, run + "/python/g"), {}));
  }
  auto opened = store::open_file_store(root);
  ASSERT_TRUE(opened);
  store_ = std::move(*opened);
  auto table = table_of("#packages\tdemo!metadata:Requires-Dist:*!ours\twe need more\n");
  auto section = compare_packages({side("a"), side("b")}, table, {1, ::testing::TempDir()});
  ASSERT_TRUE(section) << render(section.error());
  EXPECT_THAT(places(*section), ElementsAre("ok demo!metadata:Requires-Dist:x!ours", "demo!metadata:Requires-Dist:y",
                                            "demo!metadata:Requires-Dist:z!theirs"));
  std::vector<std::string> values; // each with the side that has it
  for (const auto& each : section->differences)
    values.push_back(each.kind + "|" + each.ours + "|" + each.theirs + "|" + each.what);
  EXPECT_THAT(values, ElementsAre("only-left|x||", "metadata|||y==1 | y==2", "only-right||z|"));
  ASSERT_TRUE(sys::remove_tree(root));
}

Outputs outputs_of(const std::string& text, const std::string& run) {
  Outputs outputs;
  auto read = read_outputs({text, "outputs"}, run, outputs);
  EXPECT_TRUE(read) << render(read.error());
  return outputs;
}

TEST(OutputsOfJobs, AreComparedWithoutThePlaceOfTheirRun) {
  auto ours = outputs_of("page=file:///srv/42-linux/python/index.html\nset=1\nlist<<END\na=b\nc\nEND\n", "42-linux");
  auto theirs = outputs_of(
      "page=https://b.s3.amazonaws.com/7-linux/python/index.html\nlist=a=b\nold=https://b/7-linuxx\n", "7-linux");
  EXPECT_EQ(ours.at("page"), "{run}/python/index.html");
  EXPECT_EQ(ours.at("list"), "a=b\nc");
  EXPECT_EQ(theirs.at("old"), "https://b/7-linuxx");
  auto section = compare_outputs({ours, theirs}, table_of("#outputs\tset!ours\tthe seal\n"));
  EXPECT_THAT(places(section), ElementsAre("list", "ok set!ours", "old!theirs"));
  EXPECT_EQ(section.equal, 1U);
}

TEST(OutputsOfJobs, ThatAreNotOutputs) {
  Outputs outputs;
  EXPECT_EQ(read_outputs({"a=1\nnonsense\n", "f"}, "", outputs).error().message, "f:2: the line is not NAME=VALUE");
  EXPECT_THAT(read_outputs({"a<<END\nb\n", "f"}, "", outputs).error().message, HasSubstr("END"));
  EXPECT_THAT(read_outputs({"a=2\n", "g"}, "", outputs).error().message, HasSubstr("another value"));
}

TEST(Verdicts, OfBothSides) {
  Outputs nothing, yes{{"upload", "true"}}, no{{"upload", "false"}};
  EXPECT_THAT(places(compare_verdicts({nothing, nothing}, "", table_of(""))), IsEmpty());
  EXPECT_EQ(compare_verdicts({nothing, yes}, "ready", table_of("")).equal, 1U);
  EXPECT_EQ(compare_verdicts({no, no}, "", table_of("")).equal, 1U);
  EXPECT_THAT(places(compare_verdicts({yes, yes}, "held", table_of(""))), ElementsAre("upload"));
  EXPECT_THAT(places(compare_verdicts({nothing, no}, "ready", table_of("#verdicts\tupload\tfewer suites\n"))),
              ElementsAre("ok upload"));
  EXPECT_THAT(places(compare_verdicts({nothing, nothing}, "ready", table_of(""))), ElementsAre("upload"));
}

TEST(TableOfDifferences, KnowsItsTopics) {
  EXPECT_EQ(Table::parse({"#keys\tx\n", "t"}).error().message,
            "t:1: the line is not #keys, PLACE and REASON with tabs between");
  EXPECT_EQ(Table::parse({"demo\tx\n", "t"}).error().code, "Q001");
  auto table = table_of("# a comment\n#matrix\tx\ty\n#pages\t*\twhy\n");
  EXPECT_EQ(table.reason(Topic::pages, "x"), "why");
  EXPECT_EQ(table.reason(Topic::keys, "x"), "");
}

} // namespace
} // namespace quarry::shadow
