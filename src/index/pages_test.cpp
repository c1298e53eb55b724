#include "index/pages.hpp"

#include "index/listing.hpp"

#include "base/json.hpp"
#include "index/check.hpp"
#include "index/read_page.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace quarry::index {
namespace {

using registry::FileRecord;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

FileRecord wheel(const std::string& version, const std::string& name = "rocm_sdk_core") {
  FileRecord file;
  file.filename = name + "-" + version + "-py3-none-any.whl";
  file.project = "rocm-sdk-core";
  file.version = version;
  file.size = 1234;
  file.sha256 = sha256(std::string_view(file.filename));
  file.metadata_sha256 = sha256(std::string_view("metadata of " + file.filename));
  file.requires_python = ">=3.10,<4";
  file.upload_time = "2026-11-21T09:30:00.123456Z";
  file.key = "dist/" + file.filename;
  return file;
}

FileRecord sdist() {
  FileRecord file = wheel("7.12.0");
  file.filename = "rocm-7.12.0.tar.gz";
  file.project = "rocm";
  file.metadata_sha256.reset();
  file.requires_python.clear();
  file.key = "dist/" + file.filename;
  return file;
}

std::vector<FileRecord> sample() {
  auto local = wheel("7.12.0+rocm.1"), yanked = wheel("7.10.0"), odd = wheel("7.2", "ROCm_SDK.core");
  yanked.yanked = "<script>alert(\"&\")</script>";
  odd.requires_python = "!=3.11.*,>=\"3\"";
  return {local, wheel("7.12.0.dev1"), sdist(), yanked, odd, wheel("7.12.0")};
}

const Page& page(const std::vector<Page>& pages, std::string_view key) {
  auto it = std::ranges::find(pages, key, &Page::key);
  EXPECT_NE(it, pages.end()) << key;
  return *it;
}

TEST(Pages, ComeLeavesFirstWithTheirTypes) {
  auto pages = all_pages(sample(), {});
  std::vector<std::string> keys;
  for (const auto& p : pages) keys.push_back(p.key);
  EXPECT_THAT(keys, ElementsAre("simple/rocm/index.html", "simple-json/rocm/index.html",
                                "simple/rocm-sdk-core/index.html", "simple-json/rocm-sdk-core/index.html",
                                "simple/index.html", "simple-json/index.html", "index.html"));
  for (const auto& p : pages) EXPECT_EQ(p.content_type, p.key.starts_with("simple-json") ? k_json_type : k_html_type);
}

TEST(Pages, DoNotDependOnTheOrderOfTheFiles) {
  auto files = sample();
  auto expected = all_pages(files, {});
  for (int turn = 0; turn < 6; ++turn) {
    std::ranges::rotate(files, files.begin() + 1);
    auto pages = all_pages(files, {});
    for (std::size_t i = 0; i < pages.size(); ++i) EXPECT_EQ(pages[i].bytes, expected[i].bytes);
  }
}

TEST(Pages, ProjectPageInBothForms) {
  auto pages = all_pages({wheel("7.12.0+rocm.1")}, {});
  std::string sha = wheel("7.12.0+rocm.1").sha256.hex(), metadata = wheel("7.12.0+rocm.1").metadata_sha256->hex();
  const auto& html = page(pages, "simple/rocm-sdk-core/index.html").bytes;
  EXPECT_THAT(html,
              ::testing::StartsWith("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
                                    "name=\"pypi:repository-version\" content=\"1.4\">\n"
                                    "<meta name=\"generator\" content=\"quarry\">\n"));
  EXPECT_THAT(html, HasSubstr("<title>Links for rocm-sdk-core</title>\n"));
  EXPECT_THAT(html, HasSubstr("<h1>Links for rocm-sdk-core</h1>\n"));
  EXPECT_THAT(html,
              HasSubstr("<tr><td><a href=\"../../dist/rocm_sdk_core-7.12.0%2Brocm.1-py3-none-any.whl#sha256=" + sha +
                        "\" data-requires-python=\"&gt;=3.10,&lt;4\" data-core-metadata=\"sha256=" + metadata +
                        "\" data-size=\"1234\" data-upload-time=\"2026-11-21T09:30:00.123456Z\">"
                        "rocm_sdk_core-7.12.0+rocm.1-py3-none-any.whl</a><td class=\"n\">1.23 kB<td "
                        "class=\"n\">2026-11-21<td><code>" +
                        sha.substr(0, 12) + "</code>\n</table>\n</body>\n</html>\n"));
  EXPECT_EQ(page(pages, "simple-json/rocm-sdk-core/index.html").bytes,
            "{\"files\":[{\"core-metadata\":{\"sha256\":\"" + metadata +
                "\"},\"filename\":\"rocm_sdk_core-7.12.0+rocm.1-py3-none-any.whl\",\"hashes\":{\"sha256\":\"" + sha +
                "\"},\"requires-python\":\">=3.10,<4\",\"size\":1234,\"upload-time\":\"2026-11-21T09:30:00.123456Z\","
                "\"url\":\"../../dist/rocm_sdk_core-7.12.0%2Brocm.1-py3-none-any.whl\",\"yanked\":false}],"
                "\"meta\":{\"api-version\":\"1.4\"},\"name\":\"rocm-sdk-core\",\"versions\":[\"7.12.0+rocm.1\"]}\n");
}

TEST(Pages, SortByVersionThenName) {
  auto json =
      json::parse({page(all_pages(sample(), {}), "simple-json/rocm-sdk-core/index.html").bytes, "page"}).value();
  EXPECT_EQ(json["versions"], (std::vector<std::string>{"7.2", "7.10.0", "7.12.0.dev1", "7.12.0", "7.12.0+rocm.1"}));
}

TEST(Pages, LinksLeadFromWhereThePagesAre) {
  auto pages = all_pages({sdist()}, {.directory = "channels/stable"});
  EXPECT_THAT(page(pages, "index.html").bytes, HasSubstr("href=\"../../dist/rocm-7.12.0.tar.gz#"));
  EXPECT_THAT(page(pages, "simple/rocm/index.html").bytes, HasSubstr("href=\"../../../../dist/rocm-7.12.0.tar.gz#"));
}

TEST(Pages, AnSdistNeverOffersMetadata) {
  auto file = sdist();
  file.metadata_sha256 = sha256(std::string_view("x"));
  for (const auto& p : all_pages({file}, {})) EXPECT_THAT(p.bytes, Not(HasSubstr("core-metadata")));
}

TEST(Pages, SayTheSameInBothForms) {
  auto pages = all_pages(sample(), {});
  for (const char* project : {"rocm", "rocm-sdk-core"}) {
    auto html = read_html_page({page(pages, fmt::format("simple/{}/index.html", project)).bytes, "html"}).value();
    auto json = read_json_page({page(pages, fmt::format("simple-json/{}/index.html", project)).bytes, "json"}).value();
    EXPECT_EQ(html.files, json.files);
    EXPECT_EQ(json.name, project);
    EXPECT_EQ(html.api_version, json.api_version);
    EXPECT_THAT(compare_pages(html, json, project), IsEmpty());
    EXPECT_TRUE(html.ours);
  }
  auto flat = read_html_page({page(pages, "index.html").bytes, "flat"}).value();
  EXPECT_EQ(flat.files.size(), sample().size());
  auto html_root = read_html_page({page(pages, "simple/index.html").bytes, "root"}).value();
  auto json_root = read_json_page({page(pages, "simple-json/index.html").bytes, "root"}).value();
  EXPECT_THAT(json_root.projects, ElementsAre("rocm", "rocm-sdk-core"));
  EXPECT_EQ(html_root.files.at(1).url, "rocm-sdk-core/");
  EXPECT_EQ(html_root.files.at(1).filename, "rocm-sdk-core");
}

TEST(Pages, WhatPeopleWroteIsEscaped) {
  for (const auto& p : all_pages(sample(), {})) {
    bool html = p.content_type == k_html_type;
    EXPECT_FALSE(html && p.bytes.find("<script") != std::string::npos) << p.key;
  }
  auto file = wheel("1.0");
  file.yanked = "line\nbreak \"quoted\" \\ \x01";
  auto json = read_json_page({project_json("rocm-sdk-core", {{file, "x.whl"}}), "page"});
  ASSERT_TRUE(json);
  EXPECT_EQ(json->files.at(0).yank_reason, file.yanked);
  EXPECT_EQ(read_html_page({find_links_page("<b>&", {{file, "x.whl"}}), "page"})->files.at(0).yank_reason, file.yanked);
}

TEST(Pages, SayHowToInstall) {
  auto line = [](const std::string& bytes) {
    auto begin = bytes.find("<pre>") + 5;
    return bytes.substr(begin, bytes.find("</pre>") - begin);
  };
  auto pages = all_pages(sample(), {.directory = {}, .install = "\"rocm[libraries]\" --pre"});
  const std::string address = "pip install --index-url <i>ADDRESS_OF_THIS_PAGE</i>";
  EXPECT_EQ(line(page(pages, "index.html").bytes), address + "/simple/ &quot;rocm[libraries]&quot; --pre");
  EXPECT_EQ(line(page(pages, "simple/index.html").bytes), address + " PROJECT");
  EXPECT_EQ(line(page(pages, "simple/rocm/index.html").bytes),
            "pip install --index-url <i>ADDRESS_ONE_LEVEL_UP</i> rocm");
  EXPECT_EQ(line(find_links_page("t", {{wheel("1"), "x.whl"}})), address + "/simple/ rocm-sdk-core");
  EXPECT_EQ(line(overview_page({.title = "t", .directory = {}}, {"a", "b"})), address + "/simple/ PROJECT");
}

TEST(Pages, FitAPhoneAndStandAlone) {
  auto pages = all_pages(sample(), {});
  pages.push_back({"overview", overview_page({.title = "t", .directory = {}}, {"a"}), k_html_type});
  pages.push_back({"listing", listing_page("t", {{"a", false, 1}}, Parent::none), k_html_type});
  for (const auto& p : pages) {
    if (p.content_type != k_html_type) continue;
    EXPECT_THAT(p.bytes, HasSubstr("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">")) << p.key;
    for (auto other : {"src=", "<link", "@import", "url(", "<script"})
      EXPECT_THAT(p.bytes, Not(HasSubstr(other))) << p.key;
    auto style = p.bytes.substr(p.bytes.find("<style>"), p.bytes.find("</style>") - p.bytes.find("<style>"));
    EXPECT_LE(std::ranges::count(style, '\n'), 25) << p.key;
    EXPECT_THAT(p.bytes, HasSubstr("<h1>")) << p.key;
  }
}

TEST(Pages, AYankedFileSaysWhyInSight) {
  auto file = wheel("1.0");
  file.yanked = "broken <import>";
  auto html = find_links_page("t", {{file, "x.whl"}});
  EXPECT_THAT(html, HasSubstr("</a> <b>yanked</b>: broken &lt;import&gt;<td"));
  EXPECT_EQ(read_html_page({html, "t"})->files.at(0).filename, file.filename);
}

TEST(Listing, AChecksumFileIsALinkInTheRowOfItsFile) {
  auto html = listing_page(
      "logs", {{"a.log.sha256sum", false, 64}, {"a.log", false, 3}, {"b.sha256sum", false, 64}, {"d", true, 0}},
      Parent::none);
  std::vector<std::string> links;
  const auto read = read_html_page({html, "t"});
  for (const auto& file : read->files) links.push_back(file.url);
  EXPECT_THAT(links, ElementsAre("d/", "a.log", "a.log.sha256sum", "b.sha256sum"));
  EXPECT_EQ(read_html_page({listing_page("t", {}, Parent::linked), "t"})->files.at(0).url, "../");
}

TEST(Pages, HoldNoNullAndNoLegacyAttribute) {
  FileRecord bare = wheel("1.0");
  bare.upload_time.clear();
  bare.requires_python.clear();
  bare.metadata_sha256.reset();
  for (const auto& p : all_pages({bare}, {})) {
    EXPECT_THAT(p.bytes, Not(HasSubstr("null")));
    EXPECT_THAT(p.bytes, Not(HasSubstr("dist-info-metadata")));
    EXPECT_THAT(p.bytes, Not(HasSubstr("upload-time")));
    EXPECT_THAT(p.bytes, Not(HasSubstr("<base")));
  }
}

TEST(Pages, AnEmptyIndexHasItsRoots) {
  auto pages = all_pages({}, {});
  EXPECT_EQ(page(pages, "simple-json/index.html").bytes, "{\"meta\":{\"api-version\":\"1.4\"},\"projects\":[]}\n");
  EXPECT_THAT(read_html_page({page(pages, "index.html").bytes, "page"})->files, IsEmpty());
}

} // namespace
} // namespace quarry::index
