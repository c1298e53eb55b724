#include "index/read_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::index {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

IndexPage html(std::string_view text) { return read_html_page({text, "page"}).value(); }

TEST(HtmlPage, ReadsWhatOtherGeneratorsWrite) {
  auto page = html("<!doctype html><HTML><head><!-- <a href=no>no</a> --><title>a</title></head><body>\n"
                   "<A class=x HREF='../f-1.0.tar.gz#md5=abc&sha256=DEF' data-requires-python='&gt;=3.8' "
                   "data-yanked>\n  f-1.0.tar.gz\n</A>\n"
                   "<script>if (a < b) document.write('<a href=\"evil\">evil</a>')</script>"
                   "<a name=top>not a link</a><a href=g-1-py3-none-any.whl data-core-metadata=true "
                   "data-dist-info-metadata=true>g-1-py3-none-any.<b>whl</b></a>"
                   "<a href=\"h-1.tar.gz#egg=h\">h-1.tar.gz</a>");
  ASSERT_EQ(page.files.size(), 3u);
  const auto &f = page.files[0], &g = page.files[1], &h = page.files[2];
  EXPECT_EQ(f.filename, "f-1.0.tar.gz");
  EXPECT_EQ(f.url, "../f-1.0.tar.gz");
  EXPECT_THAT(f.hashes, ElementsAre(Pair("md5", "abc"), Pair("sha256", "DEF")));
  EXPECT_FALSE(f.sha256());
  EXPECT_EQ(f.requires_python, ">=3.8");
  EXPECT_TRUE(f.yanked);
  EXPECT_EQ(f.yank_reason, "");
  EXPECT_EQ(g.filename, "g-1-py3-none-any.whl");
  EXPECT_EQ(g.core_metadata, "true");
  EXPECT_THAT(g.nulls, ElementsAre("legacy"));
  EXPECT_THAT(h.hashes, IsEmpty());
  EXPECT_FALSE(page.ours);
  EXPECT_FALSE(page.has_base);
}

TEST(HtmlPage, DecodesReferences) {
  auto page = html("<a href='a?x=1&amp;y=2' "
                   "data-requires-python='&lt;&#52;&#x2C;&quot;&apos;&unknown;&;&#xD800;&#99999999;'>&amp;lt;</a>");
  EXPECT_EQ(page.files.at(0).url, "a?x=1&y=2");
  EXPECT_EQ(page.files.at(0).requires_python, "<4,\"'&unknown;&;\xef\xbf\xbd&#99999999;");
  EXPECT_EQ(page.files.at(0).filename, "&lt;");
}

TEST(HtmlPage, TakesTheFirstOfTwoEqualAttributes) {
  EXPECT_EQ(html("<a href=one href=two>x</a>").files.at(0).url, "one");
}

TEST(HtmlPage, SeesBaseAndTheVersionOfTheInterface) {
  auto page = html("<base href='/x/'><meta name=\"pypi:repository-version\" content=\"1.1\">");
  EXPECT_TRUE(page.has_base);
  EXPECT_EQ(page.api_version, "1.1");
}

TEST(HtmlPage, SurvivesTruncationAnywhere) {
  std::string text =
      "<!-- c --><a href=\"x#sha256=00\" data-yanked='r&amp;r'>x&#65;</a><script>s</script><a b = c href = d>e</a>";
  for (std::size_t n = 0; n <= text.size(); ++n) EXPECT_LE(html(text.substr(0, n)).files.size(), 2u);
  EXPECT_EQ(html(text).files.size(), 2u);
  EXPECT_EQ(html(text).files[1].url, "d");
}

TEST(HtmlPage, RefusesWhatIsNotText) { EXPECT_EQ(read_html_page({"\xff\xfe", "page"}).error().code, "I020"); }

TEST(PageFile, KnowsTheNameThatAClientAsksFor) {
  PageFile file;
  file.url = "../../dist/rocm-7.12.0%2Blocal.tar.gz?sig=a/b";
  EXPECT_EQ(file.url_name(), "rocm-7.12.0+local.tar.gz");
}

TEST(JsonPage, ReadsFilesAndToleratesUnknownKeys) {
  auto page = read_json_page({R"({"meta":{"api-version":"1.1","_x":1},"name":"f","versions":["1.0"],"_private":{},
          "project-status":{"status":"active"},
          "files":[{"filename":"f-1.0.tar.gz","url":"u/f-1.0.tar.gz#x","hashes":{"sha256":"00","blake2b":"11"},
                    "size":7,"yanked":"bad","requires-python":">=3","core-metadata":true,"provenance":null},
                   {"filename":"g","url":"g","hashes":{},"yanked":true,"core-metadata":{"sha256":"aa"}}]})",
                              "page"});
  ASSERT_TRUE(page);
  const auto &f = page->files.at(0), &g = page->files.at(1);
  EXPECT_EQ(f.url, "u/f-1.0.tar.gz");
  EXPECT_THAT(f.hashes, ElementsAre(Pair("blake2b", "11"), Pair("sha256", "00")));
  EXPECT_EQ(f.size, 7u);
  EXPECT_EQ(f.yank_reason, "bad");
  EXPECT_EQ(f.core_metadata, "true");
  EXPECT_THAT(f.nulls, IsEmpty());
  EXPECT_TRUE(g.yanked);
  EXPECT_EQ(g.core_metadata, "sha256=aa");
  EXPECT_THAT(page->versions, ElementsAre("1.0"));
}

TEST(JsonPage, KeepsNullsVisible) {
  auto page = read_json_page(
      {R"({"files":[{"filename":"f","url":"f","size":null,"yanked":null,"upload-time":null,"core-metadata":null},
                   {"filename":"g","url":"g","hashes":{},"upload-time":"","size":"1"}]})",
       "page"});
  ASSERT_TRUE(page);
  EXPECT_THAT(page->files.at(0).nulls, ElementsAre("upload-time", "hashes", "size", "yanked", "core-metadata"));
  EXPECT_THAT(page->files.at(1).nulls, ElementsAre("upload-time", "size"));
}

TEST(JsonPage, RefusesOtherShapes) {
  for (const char* text : {"", "[]", "{}", "{\"files\":{}}", "{\"files\":[1]}", "{\"files\":[{\"filename\":\"f\"}]}",
                           "{\"files\":[{\"filename\":1,\"url\":\"x\"}]}", "{\"projects\":[{}]}", "{\"projects\":[1]}",
                           "{\"files\":[", "{\"files\":[{\"filename\":\"f\",\"url\":null}]}"}) {
    auto page = read_json_page({text, "page"});
    ASSERT_FALSE(page) << text;
    EXPECT_EQ(page.error().code, "I021");
  }
}

TEST(JsonPage, IsBounded) {
  EXPECT_EQ(read_json_page({std::string(k_json_page_bytes_max + 1, ' '), "page"}).error().code, "I021");
  std::string deep = "{\"files\":" + std::string(100'000, '[');
  EXPECT_EQ(read_json_page({deep, "page"}).error().code, "I021");
}

TEST(Page, IsReadByItsFirstCharacter) {
  EXPECT_THAT(read_page({" \n{\"projects\":[{\"name\":\"a\"}]}", "page"})->projects, ElementsAre("a"));
  EXPECT_EQ(read_page({"<a href=x>x</a>", "page"})->files.size(), 1u);
}

} // namespace
} // namespace quarry::index
