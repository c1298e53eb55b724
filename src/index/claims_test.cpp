#include "index/claims.hpp"

#include "index/trees.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::index {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr const char* k_claimed_wheel = "rocm_sdk_core-7.2.0-py3-none-linux_x86_64.whl";

std::vector<std::string> codes(const Findings& findings) {
  std::vector<std::string> out;
  for (const auto& finding : findings) out.push_back(finding.code);
  return out;
}

PageFile link_to(const std::string& filename) {
  PageFile file;
  file.filename = file.url = filename;
  file.hashes = {{"sha256", std::string(64, 'a')}};
  return file;
}

IndexPage page_with(std::vector<PageFile> files) {
  IndexPage page;
  page.files = std::move(files);
  return page;
}

Findings judged(const IndexPage& page, Claims& claims) {
  return judge_page(*files_site("/nowhere"), {"simple/rocm-sdk-core", "p", "rocm-sdk-core"}, page, claims);
}

TEST(JudgePage, ASoundPageGivesClaimsAndNoFindings) {
  Claims claims;
  EXPECT_THAT(judged(page_with({link_to(k_claimed_wheel)}), claims), IsEmpty());
  ASSERT_EQ(claims.size(), 1u);
  EXPECT_EQ(claims.begin()->second[0].place, std::string("p: ") + k_claimed_wheel);
}

TEST(JudgePage, EachDefectOfALinkIsFound) {
  struct Case {
    const char* what;
    std::function<void(PageFile&)> spoil;
    const char *code, *message;
  };
  const Case cases[] = {
      {"hash", [](PageFile& f) { f.hashes.clear(); }, "I011", "no hash"},
      {"untested", [](PageFile& f) { f.hashes.clear(), f.untested = true; }, "I011", "nobody has read"},
      {"md5", [](PageFile& f) { f.hashes = {{"md5", "00"}}; }, "I011", "no sha256 that can be read"},
      {"null", [](PageFile& f) { f.nulls = {"yanked"}; }, "I016", "uv rejects the page"},
      {"legacy", [](PageFile& f) { f.nulls = {"legacy"}; }, "I016", "pip 22.3 and 23.0"},
      {"query", [](PageFile& f) { f.url += "?v=1"; }, "I016", "a query in a link"},
      {"python", [](PageFile& f) { f.requires_python = "three"; }, "I016", "cannot be read, so uv drops the file"},
      {"name", [](PageFile& f) { f.url = "other.whl"; }, "I017", "the link ends in"},
  };
  for (const auto& one : cases) {
    auto file = link_to(k_claimed_wheel);
    one.spoil(file);
    Claims claims;
    auto findings = judged(page_with({file}), claims);
    ASSERT_THAT(codes(findings), ElementsAre(one.code)) << one.what;
    EXPECT_THAT(findings[0].message, HasSubstr(one.message));
  }
}

TEST(JudgePage, FilesOfOthersRepeatsAndForeignLinksAreFound) {
  Claims claims;
  auto elsewhere = link_to(k_claimed_wheel);
  elsewhere.url = std::string("https://files.example.com/") + k_claimed_wheel;
  auto sdist = link_to("rocm_sdk_core-7.2.0.tar.gz");
  sdist.core_metadata = "true";
  auto findings = judged(
      page_with({link_to(k_claimed_wheel), link_to(k_claimed_wheel), link_to("rocm-7.2.0.tar.gz"), sdist}), claims);
  EXPECT_THAT(codes(findings), ElementsAre("I017", "I017", "I014"));
  EXPECT_THAT(findings[0].message, HasSubstr("listed twice"));
  EXPECT_THAT(findings[1].message, HasSubstr("belongs to rocm"));
  claims.clear();
  findings = judged(page_with({elsewhere}), claims);
  ASSERT_THAT(codes(findings), ElementsAre("I010"));
  EXPECT_EQ(findings[0].severity, Severity::note);
  EXPECT_THAT(claims, IsEmpty());
}

FileFacts sound() {
  FileFacts facts;
  facts.exists = facts.read = true;
  facts.size = 100;
  facts.sha256 = sha256("bytes");
  facts.metadata = "Metadata-Version: 2.1\n";
  facts.sidecar = facts.metadata;
  return facts;
}

Claim true_claim() {
  Claim claim{"p", link_to(k_claimed_wheel)};
  claim.file.size = 100;
  claim.file.hashes = {{"sha256", sha256("bytes").hex()}};
  claim.file.core_metadata = "sha256=" + sha256("Metadata-Version: 2.1\n").hex();
  return claim;
}

TEST(JudgeClaim, ATrueClaimHasNoFindings) {
  auto judgement = judge_claim(true_claim(), "f", sound());
  EXPECT_THAT(judgement.findings, IsEmpty());
  EXPECT_FALSE(judgement.altered);
}

TEST(JudgeClaim, EachFalseClaimIsFoundAndTellsWhetherBytesWereAltered) {
  struct Case {
    const char* what;
    std::function<void(Claim&, FileFacts&)> spoil;
    const char* code;
    bool altered;
  };
  const Case cases[] = {
      {"absent", [](Claim&, FileFacts& f) { f.exists = false; }, "I010", false},
      {"size", [](Claim& c, FileFacts&) { c.file.size = 99; }, "I013", true},
      {"bytes", [](Claim&, FileFacts& f) { f.sha256 = sha256("others"); }, "I012", true},
      {"python", [](Claim& c, FileFacts&) { c.file.requires_python = ">=3.9"; }, "I019", false},
      {"not offered", [](Claim& c, FileFacts&) { c.file.core_metadata = ""; }, "I014", false},
      {"no sidecar", [](Claim&, FileFacts& f) { f.sidecar.reset(); }, "I014", false},
      {"its hash", [](Claim& c, FileFacts&) { c.file.core_metadata = "sha256=00"; }, "I014", true},
      {"its copy", [](Claim&, FileFacts& f) { f.metadata += "Name: x\n"; }, "I014", true},
  };
  for (const auto& one : cases) {
    auto claim = true_claim();
    auto facts = sound();
    one.spoil(claim, facts);
    auto judgement = judge_claim(claim, "f", facts);
    EXPECT_THAT(codes(judgement.findings), ElementsAre(one.code)) << one.what;
    EXPECT_EQ(judgement.altered, one.altered) << one.what;
  }
}

TEST(JudgeClaim, WhatWasNotReadIsNotCompared) {
  auto facts = sound();
  facts.read = false;
  facts.sha256 = {};
  facts.metadata.clear();
  EXPECT_THAT(judge_claim(true_claim(), "f", facts).findings, IsEmpty());
}

TEST(CompareTrees, ProjectsInOneFormOnly) {
  auto site = files_site("/nowhere");
  auto up = link_to("rocm-1.0.tar.gz");
  up.url = "../../rocm-1.0.tar.gz";
  Pages html{{"rocm", page_with({up})}, {"only-html", {}}};
  Pages json{{"rocm", page_with({up})}, {"only-json", {}}};
  auto findings = compare_trees(*site, html, json);
  std::vector<std::pair<std::string, std::string>> found;
  for (const auto& finding : findings) found.emplace_back(finding.code, finding.place);
  EXPECT_THAT(found,
              testing::UnorderedElementsAre(Pair("I015", "simple/only-html"), Pair("I015", "simple-json/only-json")));
  EXPECT_THAT(compare_trees(*site, html, {}), IsEmpty()); // a place may have one form only
}

TEST(CompareTrees, LinksAreComparedByWhereTheyLead) {
  auto site = files_site("/nowhere");
  Pages html{{"rocm", page_with({link_to("rocm-1.0.tar.gz")})}};
  auto findings = compare_trees(*site, html, html); // the same text, read in simple/rocm and in simple-json/rocm
  ASSERT_THAT(codes(findings), ElementsAre("I015"));
  EXPECT_THAT(findings[0].message, HasSubstr("/nowhere/simple-json/rocm/rocm-1.0.tar.gz"));
}

} // namespace
} // namespace quarry::index
