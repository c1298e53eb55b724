#include "artifact/catalogue.hpp"

#include "artifact/testing.hpp"
#include "artifact/verify.hpp"
#include <algorithm>

namespace quarry::artifact {
namespace {
using namespace testing; // NOLINT: the fixture of this room
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Name, HasThreeParts) {
  auto name = *parse_name("core-hip_lib_generic");
  EXPECT_EQ(name.name, "core-hip");
  EXPECT_EQ(name.component, "lib");
  EXPECT_EQ(name.target, "generic");
  EXPECT_EQ(name.text(), "core-hip_lib_generic");
  for (auto bad :
       {"", "a", "a_lib", "a_lib_", "_lib_x", "a__x", "a_lib_x_y", "a_lib_x y", "a_lib_x/y", ".a_lib_x", "a_lib_x\n"}) {
    auto refused = parse_name(bad);
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().code, "A001") << bad;
  }
  auto unknown = parse_name("a_bin_x");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, "A002");
}

TEST(Name, TargetsMayHaveAFeature) {
  EXPECT_EQ(parse_name("a_lib_gfx942:xnack+")->target_base(), "gfx942");
  EXPECT_EQ(parse_name("a_lib_gfx942:xnack+")->target_feature(), "xnack+");
  EXPECT_EQ(parse_name("a_lib_gfx942")->target_feature(), "");
  EXPECT_EQ(parse_name("a_lib_:xnack+")->target_base(), ":xnack+");
  EXPECT_EQ(parse_name("a_lib_:xnack+")->target_feature(), "");
}

TEST(Name, OfArchives) {
  EXPECT_EQ((*parse_archive_name("a_lib_x.tar.zst"))->compression, Compression::zstd);
  EXPECT_EQ((*parse_archive_name("a_lib_x.tar.xz"))->name.target, "x");
  for (auto other : {"a_lib_x.tar.gz", "a_lib_x", "a_lib_x.tar.zst.sha256sum", "index.html"})
    EXPECT_FALSE(parse_archive_name(other)) << other;
  EXPECT_FALSE(*parse_archive_name("ccache_logs.tar.zst"));
}

TEST(Manifest, ListsBaseDirectories) {
  EXPECT_THAT(*parse_manifest("a/b\nc\n", "m"), ElementsAre("a/b", "c"));
  EXPECT_THAT(*parse_manifest("a/b\r\n\r\nc/", "m"), ElementsAre("a/b", "c"));
  EXPECT_THAT(*parse_manifest("", "m"), IsEmpty());
  for (auto bad : {"/a", "..", "a/../b", "./a", ".", "a//b", "a\nb\na", "a\tb", "a\\b", "/"}) {
    auto refused = parse_manifest(bad, "m");
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().code, "A004");
  }
}

TEST(Manifest, FindsTheBaseOfAPath) {
  std::vector<std::string> bases{"a/b", "a", "c"};
  EXPECT_EQ(*base_of(bases, "a/b/x"), "a/b");
  EXPECT_EQ(*base_of(bases, "a/x"), "a");
  EXPECT_EQ(*base_of(bases, "c"), "c");
  EXPECT_EQ(base_of(bases, "cc/x"), nullptr);
  EXPECT_EQ(base_of(bases, "x"), nullptr);
}

TEST(Checksum, BareOrWithTheName) {
  std::string digest(64, 'a');
  for (const auto& text : {digest, digest + "\n", digest + "  f.tar.zst\n", digest + " *f.tar.zst",
                           digest + "  ./out/f.tar.zst\n", digest + "\r\n"})
    EXPECT_TRUE(parse_checksum({text, "f.tar.zst"})) << text;
  for (const auto& text :
       {std::string(), std::string("\n"), digest.substr(1), digest + "a", digest + "  other.tar.zst",
        digest + "\n" + digest, digest + " f.tar.zst", "g" + digest.substr(1), std::string(5000, 'a')}) {
    auto refused = parse_checksum({text, "f.tar.zst"});
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().code, "A011");
  }
}

class CatalogueTest : public Directory {
protected:
  std::vector<std::string> codes(const Findings& findings) {
    std::vector<std::string> list;
    for (const auto& f : findings) list.push_back(f.code + (f.severity == Severity::error ? "!" : ""));
    return list;
  }
};

TEST_F(CatalogueTest, ListsExplodedArtifactsAndArchivesSorted) {
  explode("rand_lib_generic");
  explode("blas_lib_gfx942:xnack+");
  good("prim_dev_generic");
  archive("base_run_generic.tar.xz", manifest() + tarball::end(), false);
  write(from_ + "/index.html", "");
  ASSERT_TRUE(sys::make_directories(from_ + "/logs"));
  auto catalogue = *open_catalogue(from_);
  ASSERT_EQ(catalogue.artifacts.size(), 2u);
  EXPECT_EQ(catalogue.artifacts[0].name.text(), "blas_lib_gfx942:xnack+");
  EXPECT_EQ(catalogue.artifacts[1].directory, from_ + "/rand_lib_generic");
  EXPECT_THAT(catalogue.artifacts[1].bases, ElementsAre("math/stage"));
  ASSERT_EQ(catalogue.archives.size(), 2u);
  EXPECT_EQ(catalogue.archives[0].file, "base_run_generic.tar.xz");
  EXPECT_FALSE(catalogue.archives[0].checksum);
  EXPECT_TRUE(catalogue.archives[1].checksum);
  EXPECT_THAT(catalogue.findings, IsEmpty());
}

TEST_F(CatalogueTest, DefectsAreFindings) {
  ASSERT_TRUE(sys::make_directories(from_ + "/none_lib_generic"));
  write(from_ + "/bad_lib_generic/artifact_manifest.txt", "../x\n");
  write(from_ + "/gone_lib_generic/artifact_manifest.txt", "\nnot/there/\n");
  write(from_ + "/odd_bin_generic/stage/lib/a.so", std::string(2048, 'x'));
  write(from_ + "/ccache_logs.tar.zst", "");
  good("sum_lib_generic");
  write(from_ + "/sum_lib_generic.tar.zst.sha256sum", "rubbish\n");
  write(from_ + "/lost_lib_generic.tar.zst.sha256sum", std::string(64, '0') + "\n");
  auto catalogue = *open_catalogue(from_);
  EXPECT_THAT(codes(catalogue.findings),
              ::testing::UnorderedElementsAre("A001", "A002", "A003!", "A004!", "A005!", "A011!", "A033!"));
  auto missing = std::find_if(catalogue.findings.begin(), catalogue.findings.end(),
                              [](const Finding& f) { return f.code == "A005"; });
  EXPECT_EQ(missing->place, from_ + "/gone_lib_generic/artifact_manifest.txt:2");
  auto odd = std::find_if(catalogue.findings.begin(), catalogue.findings.end(),
                          [](const Finding& f) { return f.code == "A002"; });
  EXPECT_THAT(odd->message, ::testing::HasSubstr("its 2.05 kB are left alone"));
  ASSERT_EQ(catalogue.artifacts.size(), 1u); // the one whose base directory is missing still counts
  EXPECT_EQ(catalogue.artifacts[0].name.name, "gone");
  EXPECT_THAT(catalogue.archives, IsEmpty());
}

TEST_F(CatalogueTest, ALinkThatLeadsNowhereIsTold) {
  explode("blas_lib_generic");
  for (const auto* name : {"rand_lib_gfx803", "fft_lib_gfx803.tar.zst", "other"})
    ASSERT_EQ(::symlink("/nonexistent/gone", (from_ + "/" + name).c_str()), 0);
  auto catalogue = *open_catalogue(from_);
  EXPECT_THAT(codes(catalogue.findings), ::testing::UnorderedElementsAre("A053!", "A053!", "A053"));
  for (const auto& finding : catalogue.findings)
    EXPECT_THAT(finding.message, ::testing::HasSubstr("is a link to /nonexistent/gone, which cannot be reached"));
  EXPECT_EQ(catalogue.artifacts.size(), 1u);
  auto source = *source_of_path(from_);
  ASSERT_EQ(source.items.size(), 3u) << "verify and pack look at them";
  EXPECT_EQ(verify(source.items, {.allow_unverified = true})->at(2).error->code, "A053");
  EXPECT_EQ(pack(source, out_, {}).error().code, "A053");
}

TEST_F(CatalogueTest, WhatIsNotReadIsAFindingWithItsBytes) {
  explode("blas_lib_generic");
  for (const auto* name : {"fft_lib_generic.tar.gz", "miopen_lib_generic.tar", "rand_lib_gfx1031.tgz",
                           "solver_lib_generic", "sum_bin_generic.zip", "extra/deep/file", "sources.tar.gz",
                           "x-dist-linux-gfx942-7.1.tar.gz", "logs/build.log", "fft_lib_generic.tar.gz.sha256sum"})
    write(from_ + "/" + name, std::string(2048, 'x'));
  ASSERT_TRUE(sys::make_directories(from_ + "/empty/deep"));
  auto catalogue = *open_catalogue(from_);
  EXPECT_THAT(codes(catalogue.findings),
              ::testing::UnorderedElementsAre("A054", "A054", "A054", "A054", "A002", "A001", "A028"));
  for (const auto& finding : catalogue.findings) {
    auto bytes = finding.code == "A028" ? "is left alone" : "its 2.05 kB are left alone";
    EXPECT_THAT(finding.message, ::testing::HasSubstr(bytes));
  }
  EXPECT_EQ(source_of_path(from_, Twins::archive_made)->findings.size(), 5u) << "a build's other directories";
}

TEST_F(CatalogueTest, APlaceThatHoldsOnlyWhatIsNotReadSaysSo) {
  write(from_ + "/fft_lib_generic.tar.gz", "x");
  auto refused = select(*source_of_path(from_), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "A021");
  EXPECT_THAT(refused.error().details, ElementsAre(::testing::HasSubstr("A054 fft_lib_generic.tar.gz is named like")));
}

TEST_F(CatalogueTest, OneArtifactTwiceIsAnError) {
  explode("a_lib_generic");
  good("a_lib_generic");
  good("b_lib_generic");
  archive("b_lib_generic.tar.xz", manifest() + tarball::end());
  auto catalogue = *open_catalogue(from_);
  EXPECT_THAT(codes(catalogue.findings), ElementsAre("A006!", "A006!", "A006!", "A006!"));
  EXPECT_THAT(catalogue.artifacts, IsEmpty());
  EXPECT_THAT(catalogue.archives, IsEmpty());
  EXPECT_THAT(catalogue.findings[0].message, ::testing::AllOf(::testing::HasSubstr("a_lib_generic.tar.zst"),
                                                              ::testing::HasSubstr("a_lib_generic and")));
}

TEST_F(CatalogueTest, AnAnnouncedArchiveThatIsGoneIsAbsent) {
  good("a_lib_generic");
  explode("b_lib_generic");
  for (const auto* file : {"b_lib_generic.tar.zst", "c_lib_generic.tar.zst", "notes.txt"})
    write(from_ + "/" + file + ".sha256sum", checksum_line(sha256("x"), file));
  auto source = *source_of_path(from_);
  ASSERT_EQ(source.items.size(), 3u) << "b stands there unpacked, and notes.txt is no archive";
  EXPECT_FALSE(source.items[0].absent || source.items[1].absent);
  EXPECT_TRUE(source.items[2].absent);
  EXPECT_EQ(source.items[2].defect->code, "A033");
}

TEST_F(CatalogueTest, AFetchedArtifactMayStandBesideItsArchive) {
  good("a_lib_generic");
  out_ = from_;
  ASSERT_EQ(run()->failures(), 0u);
  auto catalogue = *open_catalogue(from_);
  EXPECT_THAT(catalogue.findings, IsEmpty());
  EXPECT_EQ(catalogue.artifacts.size(), 1u);
  EXPECT_THAT(catalogue.archives, IsEmpty());
  good("a_lib_generic", "other text"); // the archive changed: now nobody knows
  EXPECT_TRUE(has_errors(open_catalogue(from_)->findings));
}

TEST_F(CatalogueTest, AMissingDirectoryIsNotFoundAndAnEmptyOneIsFine) {
  auto missing = open_catalogue(root_ + "/nowhere");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::not_found);
  EXPECT_THAT(open_catalogue(from_)->artifacts, IsEmpty());
}

class SelectionTest : public Directory {
protected:
  void SetUp() override {
    Directory::SetUp();
    for (auto name : {"amd-llvm_lib_generic", "blas_lib_gfx94X-dcgpu", "blas_dev_gfx94X-dcgpu", "blas_lib_gfx1201",
                      "rand_lib_gfx1201:xnack-"})
      good(name);
    source_ = *source_of_path(from_);
  }
  std::vector<std::string> chosen(const SelectionOptions& options) {
    std::vector<std::string> names;
    auto items = select(source_, options);
    if (!items) return {items.error().code};
    for (const auto& item : *items) names.push_back(item.name.text());
    return names;
  }
  Source source_;
};

TEST_F(SelectionTest, ByExpressions) {
  EXPECT_EQ(chosen({}).size(), 5u);
  EXPECT_THAT(chosen({.include = {"blas"}, .exclude = {"_dev_"}}),
              ElementsAre("blas_lib_gfx1201", "blas_lib_gfx94X-dcgpu"));
  EXPECT_THAT(chosen({.include = {"^amd", "gfx\\d{4}:"}}),
              ElementsAre("amd-llvm_lib_generic", "rand_lib_gfx1201:xnack-"));
  EXPECT_THAT(chosen({.include = {"gfx1201$"}}), ElementsAre("blas_lib_gfx1201"));
  EXPECT_THAT(chosen({.include = {"dcgpu\\.tar\\.zst$"}, .exclude = {"lib"}}), ElementsAre("blas_dev_gfx94X-dcgpu"));
  EXPECT_THAT(chosen({.include = {"nothing"}}), ElementsAre("A021"));
  for (auto bad : {"(", "[a", "(?=x)", "", "a{2,1}"})
    EXPECT_THAT(chosen({.include = {bad}}), ElementsAre("A020")) << bad;
  EXPECT_THAT(chosen({.exclude = {std::string(501, 'a')}}), ElementsAre("A020"));
}

TEST_F(SelectionTest, ByTargetAlwaysWithTheGenericOnes) {
  EXPECT_THAT(chosen({.group = "gfx94X-dcgpu"}),
              ElementsAre("amd-llvm_lib_generic", "blas_dev_gfx94X-dcgpu", "blas_lib_gfx94X-dcgpu"));
  EXPECT_THAT(chosen({.targets = {"gfx1201"}}),
              ElementsAre("amd-llvm_lib_generic", "blas_lib_gfx1201", "rand_lib_gfx1201:xnack-"));
  for (auto variant : {"gfx1201:xnack-", "gfx1201:xnack+"})
    EXPECT_THAT(chosen({.targets = {variant}}),
                ElementsAre("amd-llvm_lib_generic", "blas_lib_gfx1201", "rand_lib_gfx1201:xnack-"))
        << variant;
  EXPECT_THAT(chosen({.group = "generic"}), ElementsAre("amd-llvm_lib_generic"));
}

TEST_F(SelectionTest, AGroupThatNobodyBuiltIsAnError) {
  EXPECT_THAT(chosen({.group = "gfx103X-dgpu"}), ElementsAre("A022"));
  EXPECT_THAT(chosen({.group = "gfx94x-dcgpu"}), ElementsAre("A022"));
  EXPECT_THAT(chosen({.group = "gfx94X-dcgpu", .targets = {"gfx1200"}}), ElementsAre("A022"));
  auto refused = select(source_, {.group = "gfx103X-dgpu"});
  EXPECT_EQ(traits(refused.error().kind).exit_code, 3);
  EXPECT_THAT(refused.error().hint, ::testing::HasSubstr("gfx94X-dcgpu"));
}

TEST(Source, OfARunTellsWhatIsNotRead) {
  std::shared_ptr<store::ObjectStore> store = store::make_memory_store();
  ASSERT_TRUE(store->put("42-linux/a_lib_generic.tar.gz", content::Rope::literal("12345"), {}));
  auto source = *source_of_run(store, *run::Layout::create({"", "42", Platform::linux}));
  ASSERT_EQ(source.findings.size(), 1u);
  EXPECT_EQ(source.findings[0].code, "A054");
  EXPECT_THAT(source.findings[0].message, ::testing::HasSubstr("its 5 B are left alone"));
}

TEST(Source, OfARunLooksAtItsRootOnly) {
  std::shared_ptr<store::ObjectStore> store = store::make_memory_store();
  auto packed = codec::testing::compress(manifest() + tarball::end(), Compression::zstd);
  for (auto key : {"42-linux/a_lib_generic.tar.zst", "42-linux/logs/b_lib_generic.tar.zst",
                   "421-linux/c_lib_generic.tar.zst", "42-linux/tarballs/d_lib_generic.tar.xz", "42-linux/index.html"})
    ASSERT_TRUE(store->put(key, content::Rope::literal(packed), {}));
  ASSERT_TRUE(store->put("42-linux/a_lib_generic.tar.zst.sha256sum", content::Rope::literal(sha256(packed).hex()), {}));
  auto source = *source_of_run(store, *run::Layout::create({"", "42", Platform::linux}));
  ASSERT_EQ(source.items.size(), 1u);
  EXPECT_EQ(source.items[0].name.name, "a");
  EXPECT_FALSE(source.items[0].checksum) << "nothing is asked for before it is chosen";
  ASSERT_TRUE(look_up(source.items, 2));
  EXPECT_EQ(*source.items[0].checksum, sha256(packed));
  EXPECT_EQ(source.items[0].open()->size(), packed.size());
}

TEST(Source, WhatIsAnnouncedAndNotThereIsAbsent) {
  std::shared_ptr<store::ObjectStore> store = store::make_memory_store();
  for (auto key : {"42-linux/a_lib_generic.tar.zst.sha256sum", "42-linux/b_lib_generic.tar.xz.sha256sum",
                   "42-linux/b_lib_generic.tar.zst", "42-linux/b_lib_generic.tar.zst.sha256sum"})
    ASSERT_TRUE(store->put(key, content::Rope::literal(std::string(64, '0')), {}));
  auto source = *source_of_run(store, *run::Layout::create({"", "42", Platform::linux}));
  ASSERT_EQ(source.items.size(), 2u) << "b is there in its other form";
  EXPECT_TRUE(source.items[0].absent);
  EXPECT_EQ(source.items[0].defect->code, "A033");
  EXPECT_FALSE(source.items[1].absent);
}

TEST(Source, AChecksumFileThatIsNoneIsADefectOfItsArchive) {
  std::shared_ptr<store::ObjectStore> store = store::make_memory_store();
  ASSERT_TRUE(store->put("42-linux/a_lib_generic.tar.zst", content::Rope::literal("x"), {}));
  ASSERT_TRUE(store->put("42-linux/a_lib_generic.tar.zst.sha256sum", content::Rope::literal("<html>"), {}));
  auto source = *source_of_run(store, *run::Layout::create({"", "42", Platform::linux}));
  ASSERT_TRUE(look_up(source.items, 1));
  EXPECT_EQ(source.items[0].defect->code, "A011");
}

} // namespace
} // namespace quarry::artifact
