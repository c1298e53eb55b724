// Tarballs of whole SDKs as a source of artifacts.
#include "artifact/testing.hpp"
#include "artifact/verify.hpp"

namespace quarry::artifact {
namespace {

using ::testing::ElementsAre;

TEST(TarballName, HasAProductAPlatformAGroupAndAVersion) {
  struct Row {
    std::string_view file, name, group;
  };
  constexpr Row k_rows[] = {
      {"therock-dist-linux-gfx94X-dcgpu-7.10.0a20251120.tar.gz", "therock-dist-linux-gfx94X-dcgpu-7.10.0a20251120",
       "gfx94X-dcgpu"},
      {"x-dist-windows-multiarch-tests-7.10.0.dev0+ab12.tar.zst", "x-dist-windows-multiarch-tests-7.10.0.dev0+ab12",
       "multiarch-tests"},
  };
  for (const auto& row : k_rows) {
    auto parsed = parse_tarball_name(row.file);
    ASSERT_TRUE(parsed) << row.file;
    EXPECT_EQ(parsed->name.text(), row.name);
    EXPECT_EQ(parsed->name.target, row.group);
    EXPECT_TRUE(parsed->name.whole_sdk());
  }
  for (auto file : {"rocm-7.2.0.tar.gz", "blas_lib_generic.tar.zst", "x-dist-linux-7.0.tar.gz",
                    "-dist-linux-a-1.tar.gz", "x-dist-linux-a-1.tar", "x-dist-linux-a-1.zip"})
    EXPECT_FALSE(parse_tarball_name(file)) << file;
}

class Tarball : public testing::Directory {
protected:
  const std::string name_ = "x-dist-linux-gfx942-1.0";
  void make(const std::string& stream, bool checksum, std::string file = {}) {
    if (file.empty()) file = name_ + ".tar.gz";
    auto packed = codec::testing::compress(stream, codec::Compression::gzip);
    write(from_ + "/" + file, packed);
    if (checksum) write(from_ + "/" + file + ".sha256sum", checksum_line(sha256(packed), file));
  }
  std::string sdk() {
    namespace tarball = testing::tarball;
    return tarball::directory("./") + tarball::file("./bin/tool") + tarball::file("./lib/libx.so.1") +
           tarball::symlink("./lib/libx.so", "libx.so.1") + tarball::end();
  }
};

TEST_F(Tarball, IsUnpackedBelowItsName) {
  make(sdk(), true);
  auto report = run();
  ASSERT_TRUE(report) << render(report.error());
  ASSERT_EQ(report->failures(), 0u) << render(*report->artifacts[0].error);
  EXPECT_TRUE(report->artifacts[0].verified);
  EXPECT_THAT(visible(),
              ElementsAre(name_ + "/bin/tool", name_ + "/lib/libx.so -> libx.so.1", name_ + "/lib/libx.so.1"));
}

TEST_F(Tarball, IsMergedAsItIsWhenFlat) {
  make(sdk(), true);
  auto report = run({.form = FetchForm::flat});
  ASSERT_TRUE(report) << render(report.error());
  EXPECT_THAT(visible(), ElementsAre("bin/tool", "lib/libx.so -> libx.so.1", "lib/libx.so.1"));
}

TEST_F(Tarball, AndAnArtifactOwningOnePathAreRefusedByName) {
  make(sdk(), true);
  archive("x_run_gfx942.tar.zst",
          testing::manifest() + testing::tarball::file("math/stage/bin/tool", "other") + testing::tarball::end());
  auto report = run({.form = FetchForm::flat});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "A015");
  EXPECT_THAT(report.error().message, ::testing::HasSubstr("x_run_gfx942"));
  EXPECT_THAT(report.error().message, ::testing::HasSubstr(name_));
}

TEST_F(Tarball, NeedsAChecksumFileUnlessAllowed) {
  make(sdk(), false);
  EXPECT_EQ(run()->artifacts[0].error->code, "A010");
  EXPECT_EQ(run({.allow_unverified = true})->failures(), 0u);
}

TEST_F(Tarball, IsRefusedWhenDamagedOrHostile) {
  make(sdk(), true);
  auto path = from_ + "/" + name_ + ".tar.gz";
  auto bytes = *sys::read_file(path);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write(path, bytes);
  EXPECT_EQ(run()->artifacts[0].error->code, "A012");
  make(testing::tarball::symlink("lib/out", "../../etc") + testing::tarball::end(), true);
  EXPECT_EQ(run()->artifacts[0].error->code, "T010");
  EXPECT_THAT(visible(), ::testing::IsEmpty());
}

TEST_F(Tarball, IsVerifiedWithoutWriting) {
  make(sdk(), true);
  auto source = source_of_path(from_);
  auto verdicts = verify(source->items, {});
  ASSERT_TRUE(verdicts);
  EXPECT_EQ(exit_code_of(*verdicts), 0);
  EXPECT_EQ((*verdicts)[0].files, 3u);
}

TEST_F(Tarball, MayHaveAnyNameWhenItIsTheOneAskedFor) {
  make(sdk(), true, "rocm.tar.gz");
  EXPECT_TRUE(source_of_path(from_)->items.empty());
  auto source = source_of_path(from_ + "/rocm.tar.gz");
  ASSERT_TRUE(source) << render(source.error());
  EXPECT_EQ(source->items.at(0).name.text(), "rocm");
}

TEST_F(Tarball, IsSelectedByItsGroup) {
  make(sdk(), true);
  EXPECT_TRUE(select(*source_of_path(from_), {.group = "gfx942"}));
  EXPECT_EQ(select(*source_of_path(from_), {.group = "gfx90a"}).error().code, "A022");
}

TEST_F(Tarball, OfARunStandsBelowTarballs) {
  auto opened = store::open_file_store(root_ + "/store");
  ASSERT_TRUE(opened);
  std::shared_ptr<store::ObjectStore> store = std::move(*opened);
  write(root_ + "/store/7-linux/tarballs/" + name_ + ".tar.gz",
        codec::testing::compress(sdk(), codec::Compression::gzip));
  write(root_ + "/store/7-linux/tarballs/index.html", "page");
  auto layout = run::Layout::parse("7-linux/");
  ASSERT_TRUE(layout);
  EXPECT_TRUE(source_of_run(store, *layout)->items.empty());
  auto tarballs = source_of_run(store, *layout, RunPart::tarballs);
  ASSERT_TRUE(tarballs) << render(tarballs.error());
  ASSERT_EQ(tarballs->items.size(), 1u);
  EXPECT_EQ(tarballs->items[0].name.text(), name_);
}

TEST_F(Tarball, IsNoArtifactOfACatalogue) {
  make(sdk(), true);
  auto catalogue = open_catalogue(from_);
  ASSERT_TRUE(catalogue);
  EXPECT_TRUE(catalogue->archives.empty());
  ASSERT_EQ(catalogue->findings.size(), 1u);
  EXPECT_EQ(catalogue->findings[0].code, "A028");
}

} // namespace
} // namespace quarry::artifact
