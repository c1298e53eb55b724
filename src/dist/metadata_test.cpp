#include "dist/metadata.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::dist {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

const std::string k_head = "Metadata-Version: 2.4\nName: rocm-sdk-core\nVersion: 7.12.0\n";

Metadata parsed(std::string_view text) {
  auto metadata = Metadata::parse(text);
  if (metadata) return *metadata;
  ADD_FAILURE() << metadata.error().message;
  return {};
}

TEST(Metadata, ReadsEveryFieldThatDecidesAnInstallation) {
  auto m =
      parsed(k_head + "Summary: ROCm\nRequires-Python: >=3.10\nRequires-Dist: a>=1\nRequires-Dist: b; extra == 'x'\n"
                      "Provides-Extra: x\nClassifier: A :: B\nLicense-Expression: MIT\nLicense-File: LICENSE\n"
                      "Project-URL: Source, https://example.org/a,b\nKeywords: gpu, hpc\nDynamic: Requires-Dist\n"
                      "Platform: any\nDescription-Content-Type: text/markdown\n\n# Title\n\nbody\n");
  EXPECT_EQ(m.name, "rocm-sdk-core");
  EXPECT_EQ(m.version, "7.12.0");
  EXPECT_EQ(m.metadata_version, "2.4");
  EXPECT_EQ(m.requires_python, ">=3.10");
  EXPECT_THAT(m.requires_dist, ElementsAre("a>=1", "b; extra == 'x'"));
  EXPECT_THAT(m.provides_extra, ElementsAre("x"));
  EXPECT_EQ(m.license_expression, "MIT");
  EXPECT_THAT(m.license_files, ElementsAre("LICENSE"));
  EXPECT_THAT(m.project_urls, ElementsAre(Pair("Source", "https://example.org/a,b")));
  EXPECT_THAT(m.keywords, ElementsAre("gpu", "hpc"));
  EXPECT_THAT(m.dynamic, ElementsAre("Requires-Dist"));
  EXPECT_THAT(m.other, ElementsAre(Pair("Platform", "any")));
  EXPECT_EQ(m.description_content_type, "text/markdown");
  EXPECT_EQ(m.description, "# Title\n\nbody\n");
}

TEST(Metadata, AcceptsWhatHonestToolsWrite) {
  EXPECT_EQ(parsed("metadata-version:2.1\nNAME:   Foo.Bar\nversion:\t1.0\n").name, "Foo.Bar");
  EXPECT_EQ(parsed("Metadata-Version: 2.1\r\nName: foo\r\nVersion: 1\r\n\r\ntext\r\n").description, "text\r\n");
  EXPECT_EQ(parsed(k_head + "\n").description, "");
  EXPECT_EQ(parsed("Metadata-Version: 2.1\nName: foo\nVersion: 1").version, "1");
  auto folded =
      parsed(k_head + "License: first\n        \n        \f second\nDescription: one\n        two\n       |three\n");
  EXPECT_THAT(folded.other, ElementsAre(Pair("License", "first\n        \n        \f second")));
  EXPECT_EQ(folded.description, "one\ntwo\nthree");
  EXPECT_EQ(parsed(k_head + "\nbody with a lone \r in it\n").description, "body with a lone \r in it\n");
}

struct Refusal {
  const char* title;
  std::string text;
};

class MetadataRefusal : public testing::TestWithParam<Refusal> {};

TEST_P(MetadataRefusal, IsCorrupt) {
  auto metadata = Metadata::parse(GetParam().text);
  ASSERT_FALSE(metadata) << GetParam().title;
  EXPECT_EQ(metadata.error().code, "M006");
  EXPECT_EQ(metadata.error().kind, ErrorKind::corrupt);
}

INSTANTIATE_TEST_SUITE_P(
    WhatReadersDisagreeOn, MetadataRefusal,
    testing::Values(
        Refusal{"empty", ""}, Refusal{"no name", "Metadata-Version: 2.1\nVersion: 1\n"},
        Refusal{"no version", "Metadata-Version: 2.1\nName: a\n"},
        Refusal{"no metadata version", "Name: a\nVersion: 1\n"},
        Refusal{"unknown major", "Metadata-Version: 3.0\nName: a\nVersion: 1\n"},
        Refusal{"name twice", k_head + "name: other\n"}, Refusal{"version twice", k_head + "Version: 7.12.0\n"},
        Refusal{"requires-python twice", k_head + "Requires-Python: >=3\nRequires-Python: >=4\n"},
        Refusal{"summary twice", k_head + "Summary: a\nSummary: b\n"},
        Refusal{"no empty line before the body", k_head + "This is the description.\n"},
        Refusal{"body line with a colon after a blank", k_head + "Requires Dist: x\n"},
        Refusal{"NUL in a header", k_head + std::string("Summary: a\0b\n", 13)},
        Refusal{"NUL in the body", k_head + std::string("\na\0b\n", 5)},
        Refusal{"not UTF-8", k_head + "Summary: \xff\n"}, Refusal{"not UTF-8 in the body", k_head + "\n\xc0\xaf\n"},
        Refusal{"a carriage return hides a header", k_head + "Summary: a\rRequires-Dist: evil\n"},
        Refusal{"a carriage return ends the headers", k_head + "\r\rRequires-Dist: evil\n"},
        Refusal{"starts with a continuation", " x\n" + k_head}, Refusal{"nameless header", k_head + ": x\n"},
        Refusal{"blank before the colon", k_head + "Requires-Dist : evil\n"},
        Refusal{"From line", "From me\n" + k_head}, Refusal{"byte order mark", "\xef\xbb\xbf" + k_head},
        Refusal{"empty line first", "\n" + k_head},
        Refusal{"folded name", "Metadata-Version: 2.1\nName: a\n b\nVersion: 1\n"},
        Refusal{"folded requirement", k_head + "Requires-Dist: a\n >=1\n"},
        Refusal{"encoded requirement", k_head + "Requires-Dist: =?utf-8?q?evil?=\n"},
        Refusal{"control character in a requirement", k_head + "Requires-Dist: a\x0b\n"},
        Refusal{"name with a blank after it", "Metadata-Version: 2.1\nName: a \nVersion: 1\n"},
        Refusal{"bad name", "Metadata-Version: 2.1\nName: ../a\nVersion: 1\n"},
        Refusal{"bad version", "Metadata-Version: 2.1\nName: a\nVersion: one\n"},
        Refusal{"two descriptions", k_head + "Description: a\n\nb\n"},
        Refusal{"multipart", k_head + "Content-Type: multipart/mixed; boundary=x\n\n--x\n"}));

TEST(Metadata, WorkAndMemoryStayInProportionToABomb) {
  std::string folds = k_head + "Summary: a\n", headers = k_head;
  for (int i = 0; i < 200'000; ++i) folds += " x\n";
  for (int i = 0; i < 99'000; ++i) headers += "A: x\n";
  EXPECT_EQ(parsed(folds).summary.size(), 1 + 200'000u * 3);
  EXPECT_EQ(parsed(headers).other.size(), 99'000u);
  for (int i = 0; i < 2'000; ++i) headers += "A: x\n";
  EXPECT_FALSE(Metadata::parse(headers));
  EXPECT_FALSE(Metadata::parse(k_head + "\n" + std::string(k_metadata_bytes_max, 'x')));
}

TEST(Metadata, RendersWhatItReads) {
  auto m =
      parsed(k_head +
             "Summary: ROCm\nRequires-Python: >=3.10\nRequires-Dist: a>=1\nProvides-Extra: x\nLicense-Expression: MIT\n"
             "License-File: LICENSE\nProject-URL: Source, https://example.org\nKeywords: gpu,hpc\nPlatform: any\n"
             "Description-Content-Type: text/markdown\n\n# Title\n");
  auto text = m.render();
  EXPECT_EQ(
      text,
      "Metadata-Version: 2.4\nName: rocm-sdk-core\nVersion: 7.12.0\nSummary: ROCm\nLicense-Expression: MIT\n"
      "License-File: LICENSE\nProject-URL: Source, https://example.org\nKeywords: gpu,hpc\nRequires-Python: >=3.10\n"
      "Provides-Extra: x\nRequires-Dist: a>=1\nPlatform: any\nDescription-Content-Type: text/markdown\n\n# Title\n");
  EXPECT_EQ(parsed(text).render(), text);
}

TEST(Metadata, AValueCannotStartAHeaderOfItsOwn) {
  Metadata m;
  m.name = "a";
  m.version = "1";
  m.summary = "x\nRequires-Dist: evil\r\nName: b";
  auto again = parsed(m.render());
  EXPECT_EQ(again.name, "a");
  EXPECT_TRUE(again.requires_dist.empty());
}

TEST(WheelInfo, ReadsAndRenders) {
  auto info = WheelInfo::parse("Wheel-Version: 1.0\r\nGenerator: a 1\r\nGenerator: b 2\r\nRoot-Is-Purelib: "
                               "False\r\nTag: py3-none-any\r\nTag: py2-none-any\r\nBuild: 3x\r\n\r\n");
  ASSERT_TRUE(info);
  EXPECT_FALSE(info->root_is_purelib);
  EXPECT_EQ(info->generator, "a 1, b 2");
  EXPECT_EQ(info->build, "3x");
  EXPECT_THAT(info->tags, ElementsAre("py3-none-any", "py2-none-any"));
  EXPECT_EQ(info->render(), "Wheel-Version: 1.0\nGenerator: a 1, b 2\nRoot-Is-Purelib: false\nTag: py3-none-any\nTag: "
                            "py2-none-any\nBuild: 3x\n");
}

TEST(WheelInfo, RefusesWhatIsMissingTwiceOrHidden) {
  for (const char* text :
       {"", "Root-Is-Purelib: true\n", "Wheel-Version: 1.0\n", "Wheel-Version: one\nRoot-Is-Purelib: true\n",
        "Wheel-Version: 1.0\nRoot-Is-Purelib: maybe\n",
        "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nRoot-Is-Purelib: false\n",
        "Wheel-Version: 1.0\nWheel-Version: 2.0\nRoot-Is-Purelib: true\n",
        "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n\nTag: a-b-c\n",
        "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: a\n b\n", "Wheel-Version: 1.0\rRoot-Is-Purelib: true\n"}) {
    auto info = WheelInfo::parse(text);
    ASSERT_FALSE(info) << text;
    EXPECT_EQ(info.error().code, "M007");
  }
}

TEST(Record, ReadsTheDialectOfPythonsCsvModule) {
  auto rows = parse_record("a.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\r\n\"with, "
                           "comma\",md5=abc,12\n\"two \"\" quotes\",,\nin\"side,,\n\"line\nbreak\",,7");
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 5u);
  EXPECT_EQ((*rows)[0].path, "a.py");
  EXPECT_EQ((*rows)[0].sha256, sha256(std::string_view()));
  EXPECT_EQ((*rows)[0].size, 0u);
  EXPECT_EQ((*rows)[1].path, "with, comma");
  EXPECT_EQ((*rows)[1].algorithm, "md5");
  EXPECT_EQ((*rows)[1].raw_digest, "abc");
  EXPECT_FALSE((*rows)[1].sha256);
  EXPECT_EQ((*rows)[2].path, "two \" quotes");
  EXPECT_FALSE((*rows)[2].size);
  EXPECT_EQ((*rows)[3].path, "in\"side");
  EXPECT_EQ((*rows)[4].path, "line\nbreak");
}

TEST(Record, KeepsDuplicatesAndWronglyEncodedDigestsForTheVerifier) {
  auto rows = parse_record("a,sha256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=,0\na,,\n");
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ((*rows)[0].algorithm, "sha256");
  EXPECT_FALSE((*rows)[0].sha256);
}

TEST(Record, RefusesMalformedRows) {
  for (const std::string& text :
       {std::string("a,b\n"), std::string("a,,,\n"), std::string("\n"), std::string("a,,\n\n"), std::string(",,\n"),
        std::string("\"a,,\n"), std::string("\"a\"b,,\n"), std::string("a,,\rb,,\n"), std::string("a\0,,\n", 5),
        std::string("\xff,,\n"), std::string("a,sha256,1\n"), std::string("a,,x\n"), std::string("a,,-1\n"),
        std::string("a,,99999999999999999999\n"), std::string("a,, 1\n")}) {
    auto rows = parse_record(text);
    ASSERT_FALSE(rows) << text;
    EXPECT_EQ(rows.error().code, "M008");
  }
}

TEST(Record, RendersWhatItReads) {
  std::string text =
      "a.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n\"x, \"\"y\"\"\",md5=abc,12\nd.dist-info/RECORD,,\n";
  EXPECT_EQ(render_record(parse_record(text).value()), text);
}

TEST(EntryPoints, ReadsGroupsCommentsAndUniformIndentation) {
  auto points = parse_entry_points("# comment\n[console_scripts]\nrocm-sdk = rocm_sdk.__main__:main\nold = a.b : c.d "
                                   "[extra]\n\n[plugins]\nx = module\ny = https://free.text/\n");
  ASSERT_TRUE(points);
  EXPECT_THAT(*points,
              ElementsAre(EntryPoint{"console_scripts", "rocm-sdk", "rocm_sdk.__main__", "main"},
                          EntryPoint{"console_scripts", "old", "a.b", "c.d"}, EntryPoint{"plugins", "x", "module", ""},
                          EntryPoint{"plugins", "y", "https://free.text/", ""}));
}

TEST(EntryPoints, ReadsAFileThatIsIndentedAsAWhole) {
  auto points = parse_entry_points("\n    [g]\n    a = b:c\n\n    [h]\n    a = b:c\n");
  ASSERT_TRUE(points);
  EXPECT_EQ(points->size(), 2u);
}

TEST(EntryPoints, RefusesWhatReadersDisagreeOnAndDangerousScripts) {
  for (const std::string& text : {std::string("a = b:c\n"),
                                  std::string("[console_scripts]\na = b\n"),
                                  std::string("[console_scripts]\na\n"),
                                  std::string("[console_scripts]\na = b:c\n  d = e:f\n"),
                                  std::string("[g]\na = b\na = c\n"),
                                  std::string("[g]\na = b\n[g]\nc = d\n"),
                                  std::string("[g\na = b\n"),
                                  std::string("[]\na = b\n"),
                                  std::string("[DEFAULT]\na = b\n"),
                                  std::string("[g]\n;a = b\n"),
                                  std::string("[g]\n; only words\na = b\n"),
                                  std::string("[g]\n = b\n"),
                                  std::string("[console_scripts]\n../../x = b:c\n"),
                                  std::string("[gui_scripts]\na\\b = b:c\n"),
                                  std::string("[console_scripts]\npython = b:c\n"),
                                  std::string("[console_scripts]\npython3.12 = b:c\n"),
                                  std::string("[gui_scripts]\npythonw = b:c\n"),
                                  std::string("[console_scripts]\n.. = b:c\n"),
                                  std::string("[console_scripts]\na = b:c()\n"),
                                  std::string("[console_scripts]\na = import os;x:y\n"),
                                  std::string("[g]\ra = b\n"),
                                  std::string("[g]\na\0 = b\n", 10),
                                  std::string("[g]\na = \xff\n"),
                                  std::string("[g]\na = b\xe2\x80\xa8[console_scripts]\n"),
                                  std::string("[g]\na = b\x0b[console_scripts]\n")}) {
    auto points = parse_entry_points(text);
    ASSERT_FALSE(points) << text;
    EXPECT_EQ(points.error().code, "M009");
  }
}

TEST(EntryPoints, RendersSortedByGroup) {
  std::vector<EntryPoint> points{
      {"plugins", "p", "m", ""}, {"console_scripts", "b", "m", "f"}, {"console_scripts", "a", "m", "g"}};
  auto text = render_entry_points(points);
  EXPECT_EQ(text, "[console_scripts]\na = m:g\nb = m:f\n\n[plugins]\np = m\n");
  EXPECT_EQ(parse_entry_points(text)->size(), 3u);
}

} // namespace
} // namespace quarry::dist
