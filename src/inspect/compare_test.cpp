#include "inspect/compare.hpp"

#include "tar/testing.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::inspect {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace tarball = tar::testing;

Entry entry(const std::string& text, bool executable = false) {
  return {text.size(), executable, {}, sha256(text), [text]() -> Result<content::Rope> {
            return content::Rope::literal(text);
          }};
}
Entry link(const std::string& target) { return {0, false, target, {}, {}}; }

Package a_wheel(const std::string& version, Entries entries = {}, const std::string& tags = "py3-none-any") {
  Package package;
  package.project = "x";
  package.version = version;
  package.tags = tags;
  package.file = "x-" + version + "-" + tags + ".whl";
  package.metadata.name = "x";
  package.metadata.version = version;
  package.entries = std::move(entries);
  return package;
}

/// "kind place" of every difference, "+" before those that are expected.
std::vector<std::string> differences(const std::vector<Package>& left, const std::vector<Package>& right,
                                     const std::string& table = {}) {
  auto allowed = parse_allowed({table, "t.tsv"});
  auto diff = compare(left, right, *allowed, {1, ::testing::TempDir()});
  if (!diff) return {render(diff.error())};
  std::vector<std::string> lines;
  for (const auto& package : diff->packages)
    for (const auto& d : package.differences)
      lines.push_back((d.allowed ? "+" : "") + std::string(to_string(d.kind)) + " " + d.place);
  for (const auto& finding : diff->findings) lines.push_back(finding.code + " " + finding.place);
  return lines;
}

TEST(Compare, EqualPackagesDoNotDiffer) {
  auto diff = compare({a_wheel("1", {{"a", entry("a")}})}, {a_wheel("1", {{"a", entry("a")}})}, {}, {});
  ASSERT_TRUE(diff);
  EXPECT_EQ(diff->unexpected(), 0u);
  EXPECT_GE(diff->equal(), 1u);
}

struct Row {
  const char* what;
  Entries left, right;
  std::vector<std::string> expected;
};

TEST(Compare, SaysHowFilesDiffer) {
  const std::vector<Row> rows{
      {"one side only", {{"a", entry("a")}}, {{"b", entry("a")}}, {"only-left a", "only-right b"}},
      {"bytes", {{"a", entry("a")}}, {{"a", entry("b")}}, {"content a"}},
      {"bit", {{"a", entry("a", true)}}, {{"a", entry("a")}}, {"mode a"}},
      {"bytes and bit", {{"a", entry("a", true)}}, {{"a", entry("b")}}, {"mode a", "content a"}},
      {"link", {{"a", link("b")}}, {{"a", link("c")}}, {"link a"}},
      {"link and file", {{"a", link("b")}}, {{"a", entry("c")}}, {"link a"}},
      {"equal links", {{"a", link("b")}}, {{"a", link("b")}}, {}},
      {"ELF magic without an ELF file",
       {{"a", entry("\x7f"
                    "ELF1")}},
       {{"a", entry("\x7f"
                    "ELF2")}},
       {"content a"}},
  };
  for (const auto& row : rows)
    EXPECT_EQ(differences({a_wheel("1", row.left)}, {a_wheel("1", row.right)}), row.expected) << row.what;
}

TEST(Compare, LooksIntoTarsWhateverTheirCompression) {
  auto plain = tarball::file("lib/a", "1") + tarball::symlink("lib/b", "a") + tarball::end();
  auto other = tarball::file("lib/a", "2") + tarball::symlink("lib/b", "c") + tarball::end();
  auto packed = codec::testing::compress(plain, codec::Compression::xz);
  EXPECT_THAT(differences({a_wheel("1", {{"p.tar", entry(plain)}})}, {a_wheel("1", {{"p.tar", entry(other)}})}),
              ElementsAre("content p.tar!lib/a", "link p.tar!lib/b"));
  EXPECT_THAT(differences({a_wheel("1", {{"p.tar", entry(other)}})}, {a_wheel("1", {{"p.tar.xz", entry(packed)}})}),
              ElementsAre("content p.tar!lib/a", "link p.tar!lib/b"));
  EXPECT_THAT(differences({a_wheel("1", {{"p.tar", entry(plain)}})}, {a_wheel("1", {{"p.tar.xz", entry(packed)}})}),
              ElementsAre("content p.tar"));
}

TEST(Compare, FailsOnATarThatIsBroken) {
  auto diff = compare({a_wheel("1", {{"p.tar", entry("no tar")}})}, {a_wheel("1", {{"p.tar", entry("none either")}})},
                      {}, {1, ::testing::TempDir()});
  ASSERT_FALSE(diff);
  EXPECT_THAT(diff.error().code, ::testing::StartsWith("T"));
}

TEST(Compare, ComparesMetadataByField) {
  auto left = a_wheel("1"), right = a_wheel("2");
  left.metadata.requires_dist = {"b", "a"};
  right.metadata.requires_dist = {"a", "c"};
  left.entry_points = {{"console_scripts", "s", "m", "f"}};
  right.entry_points = {{"console_scripts", "s", "m", "g"}, {"group", "p", "m", ""}};
  right.wheel.generator = "other";
  EXPECT_THAT(differences({left}, {right}),
              ElementsAre("only-right entry:group:p", "metadata metadata:Requires-Dist", "metadata metadata:Version",
                          "metadata script:s", "only-right wheel:Generator"));
  auto diff = compare({left}, {right}, {}, {});
  EXPECT_EQ(diff->packages[0].differences[1].message, "b | c");
}

/// "kind place" of every part, and of every difference without parts.
std::vector<std::string> parts(const Package& left, const Package& right) {
  auto diff = compare({left}, {right}, {}, {1, ::testing::TempDir()}, Detail::parts);
  if (!diff) return {render(diff.error())};
  std::vector<std::string> lines;
  for (const auto& d : diff->packages[0].differences) {
    if (d.parts.empty()) lines.push_back(std::string(to_string(d.kind)) + " " + d.place);
    for (const auto& part : d.parts) lines.push_back(std::string(to_string(part.kind)) + " " + part.place);
  }
  return lines;
}

TEST(Compare, KnowsLinksThatLeadNowhere) {
  auto pack = [](const std::string& more) {
    auto tar = tarball::file("x/lib/d/a", "1") + more + tarball::end();
    return a_wheel("1", {{"p.tar", entry(tar)}});
  };
  EXPECT_THAT(parts(pack(""), pack(tarball::symlink("x/lib/gone", "b") + tarball::symlink("x/lib/here", "d/a") +
                                   tarball::symlink("x/lib/many", "d") + tarball::symlink("x/lib/other", "../../y/b"))),
              ElementsAre("only-right p.tar!x/lib/gone!dangling", "only-right p.tar!x/lib/here",
                          "only-right p.tar!x/lib/many", "only-right p.tar!x/lib/other"));
}

/// An ELF file with a SONAME and nothing else: header, PT_LOAD, PT_DYNAMIC, four dynamic entries, the names.
std::string library_with_soname(const std::string& soname) {
  constexpr std::uint64_t k_dynamic = 64 + 2 * 56, k_names = k_dynamic + 4 * 16;
  const std::uint64_t names_size = soname.size() + 2, size = k_names + names_size;
  std::string out;
  auto put = [&](std::initializer_list<std::pair<std::uint64_t, int>> values) {
    for (auto [value, bytes] : values)
      for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  };
  out = std::string("\177ELF\2\1\1", 7) + std::string(9, '\0');
  put({{3, 2}, {62, 2}, {1, 4}, {0, 8}, {64, 8}, {0, 8}, {0, 4}, {64, 2}, {56, 2}, {2, 2}, {64, 2}, {0, 2}, {0, 2}});
  put({{1, 4}, {4, 4}, {0, 8}, {0, 8}, {0, 8}, {size, 8}, {size, 8}, {4096, 8}});
  put({{2, 4}, {4, 4}, {k_dynamic, 8}, {k_dynamic, 8}, {k_dynamic, 8}, {64, 8}, {64, 8}, {8, 8}});
  put({{5, 8}, {k_names, 8}, {10, 8}, {names_size, 8}, {14, 8}, {1, 8}, {0, 8}, {0, 8}});
  return out + '\0' + soname + '\0';
}

TEST(Compare, FilesOfOneSideAreOpenedForTheirPartsAlone) {
  int opened = 0;
  auto library = entry("not an ELF file");
  library.open = [&]() -> Result<content::Rope> {
    ++opened;
    return content::Rope::literal("not an ELF file");
  };
  auto left = a_wheel("1", {{"x/lib/a.so", library}});
  for (auto [detail, expected] : {std::pair{Detail::files, 0}, {Detail::parts, 1}}) {
    ASSERT_TRUE(compare({left}, {a_wheel("1")}, {}, {1, ::testing::TempDir()}, detail));
    EXPECT_EQ(opened, expected);
  }
}

TEST(Compare, ALinkThatLeadsNowhereStandsForTheLibraryOfThatSoname) {
  auto pack = [](const std::string& target) {
    auto tar = tarball::symlink("x/lib/a.so", target) + tarball::symlink("x/lib/more", "../../lib/b.so") +
               tarball::file("x/lib/text", "b.so.1") + tarball::end();
    auto library = library_with_soname("b.so.1");
    return a_wheel("1", {{"p.tar", entry(tar)}, {"lib/b.so", entry(library)}, {"lib/c.so", entry("no library")}});
  };
  const std::vector<std::pair<std::string, std::string>> rows{
      {"../../lib/b.so", "only-right p.tar!x/lib/a.so!dangling"},
      {"more", "only-right p.tar!x/lib/a.so!dangling"},
      {"text", "link p.tar!x/lib/a.so"},
      {"../../lib/c.so", "link p.tar!x/lib/a.so"},
      {"../../lib/none.so", "link p.tar!x/lib/a.so"},
  };
  for (const auto& [ours, expected] : rows)
    EXPECT_THAT(parts(pack(ours), pack("b.so.1")), ElementsAre(expected)) << ours;
  EXPECT_THAT(parts(pack("../../lib/b.so"), pack("b.so.2")), ElementsAre("link p.tar!x/lib/a.so"));
  EXPECT_THAT(parts(pack("b.so.1"), pack("more")), ElementsAre("only-left p.tar!x/lib/a.so!dangling"));
}

TEST(Compare, TellsRequirementsApart) {
  auto left = a_wheel("1"), right = a_wheel("1");
  left.metadata.requires_dist = {"Same == 1 ; extra == 'e'", "a==1", "b==1; sys_platform == \"linux\"", "c",
                                 "not one @"};
  right.metadata.requires_dist = {"same==1; extra == \"e\"", "a==2", "b==1", "d; extra == \"e\"", "c; extra == \"e\""};
  left.metadata.dynamic = {"Requires-Dist"};
  right.metadata.dynamic = {"requires-dist"};
  left.metadata.provides_extra = {"e"};
  right.metadata.provides_extra = {"e", "f"};
  EXPECT_THAT(parts(left, right),
              ElementsAre("only-right metadata:Provides-Extra:f", "metadata metadata:Requires-Dist:a",
                          "metadata metadata:Requires-Dist:b!marker:sys_platform == \"linux\"|",
                          "only-left metadata:Requires-Dist:c", "only-left metadata:Requires-Dist:not one @",
                          "only-right metadata:Requires-Dist:c; extra == \"e\"",
                          "only-right metadata:Requires-Dist:d; extra == \"e\""));
  right.metadata.requires_dist.clear();
  EXPECT_THAT(parts(left, right), ::testing::Contains("only-left metadata:Requires-Dist:a"));
}

TEST(Compare, KnowsScriptsWithoutAProgramAndOtherSpellings) {
  auto left = a_wheel("1", {{"x/bin/there", entry("")}}), right = a_wheel("1", {{"x/bin/there", entry("")}});
  left.entry_points = {{"console_scripts", "a++", "m", "a_pp"}, {"console_scripts", "b", "m", "b"}};
  right.entry_points = {{"console_scripts", "a++", "m", "app"},
                        {"console_scripts", "b", "m", "c"},
                        {"console_scripts", "gone", "m", "g"},
                        {"console_scripts", "there", "m", "t"}};
  EXPECT_THAT(parts(left, right), ElementsAre("metadata script:a++!spelling", "metadata script:b",
                                              "only-right script:gone!no-program", "only-right script:there"));
}

TEST(Compare, SaysBothValuesOfAFieldOfOneWord) {
  auto left = a_wheel("1"), right = a_wheel("1");
  left.wheel.root_is_purelib = false;
  right.wheel.root_is_purelib = true;
  left.metadata.requires_python = ">=3.10";
  EXPECT_THAT(parts(left, right),
              ElementsAre("only-left metadata:Requires-Python", "metadata wheel:Root-Is-Purelib:false|true"));
}

TEST(Compare, KnowsJsonThatSaysTheSame) {
  auto same = [](const std::string& a, const std::string& b) {
    return parts(a_wheel("1", {{"a.json", entry(a)}}), a_wheel("1", {{"a.json", entry(b)}}));
  };
  EXPECT_THAT(same(R"({"a": [{"x": 1}, {"y": 2}], "b": 1})", R"({"b":1,"a":[{"y":2},{"x":1}]})"),
              ElementsAre("content a.json!form"));
  EXPECT_THAT(same(R"({"a": [1]})", R"({"a": [1, 1]})"), ElementsAre("content a.json"));
  EXPECT_THAT(same("{\"a\": 1}", "{\"a\": 1"), ElementsAre("content a.json"));
}

TEST(Compare, PairsByVersionThenByTagsThenTheOnlyOnes) {
  auto a1 = a_wheel("1", {}, "py3-none-a"), b1 = a_wheel("1", {}, "py3-none-b"), a2 = a_wheel("2", {}, "py3-none-a");
  EXPECT_THAT(differences({a1, b1}, {b1, a1}), IsEmpty());
  EXPECT_THAT(differences({a1, b1}, {b1, a2}), ElementsAre("metadata metadata:Version"));
  EXPECT_THAT(differences({a1}, {b1}), IsEmpty()); // tags are compared as the lines of WHEEL
  EXPECT_THAT(differences({a1, b1}, {a1}), ElementsAre("only-left "));
  auto sdist = a_wheel("1");
  sdist.kind = dist::DistributionKind::sdist;
  EXPECT_THAT(differences({a1}, {sdist}), ElementsAre("only-left ", "only-right "));
}

TEST(Compare, KnowsWhatIsExpected) {
  auto left = a_wheel("1", {{"lib/a", entry("1")}, {"lib/b/c", entry("1")}}),
       right = a_wheel("2", {{"lib/b/c", entry("2")}});
  const std::string table = "# reasons\n\nx\tmetadata:Version\tlater\nx\tlib/**\trebuilt\n";
  EXPECT_THAT(differences({left}, {right}, table),
              ElementsAre("+only-left lib/a", "+content lib/b/c", "+metadata metadata:Version"));
  EXPECT_THAT(differences({left}, {right}, "y\tlib/**\tother package\nx\tlib/*\tone level\n"),
              ElementsAre("+only-left lib/a", "content lib/b/c", "metadata metadata:Version", "Q003 t.tsv:1"));
}

TEST(Allowed, NamesTheLineThatIsMalformed) {
  for (auto text : {"x\ty\n", "x y z\n", "x\ty\t \n", "\ty\tz\n", "x\ty\tz\tw\n"}) {
    auto parsed = parse_allowed({std::string("# c\n") + text, "t.tsv"});
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, "Q001");
    EXPECT_THAT(parsed.error().message, HasSubstr("t.tsv:2:"));
  }
}

} // namespace
} // namespace quarry::inspect
