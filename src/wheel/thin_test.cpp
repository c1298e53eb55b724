#include "wheel/thin.hpp"

#include "gpu/gpu_forge_for_test.hpp"
#include "gpu/thin.hpp"
#include "sys/file.hpp"
#include "sys/tree.hpp"
#include "wheel/rewrite.hpp"
#include "wheel/thin_member.hpp"
#include "wheel/wheel.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::wheel {
namespace {

using namespace gpu::forge;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

content::Rope rope(std::string bytes) { return content::Rope::literal(std::move(bytes)); }

class ThinWheel : public testing::Test {
protected:
  void SetUp() override { directory_ = sys::make_temporary_directory(testing::TempDir(), "thin-").value(); }
  void TearDown() override { ASSERT_TRUE(sys::remove_tree(directory_)); }

  static std::string three() {
    return bundle({device("gfx942", code(k_gfx942)), device("gfx1030", code(k_gfx1030, 7001)),
                   device("gfx1201", code(k_gfx1201, 9000))});
  }
  static std::string fat() { return library({{".hip_fatbin", linked({three(), compressed(three())}), {}, {}}}); }
  static WheelSpec spec() {
    WheelSpec s;
    s.metadata.name = "demo";
    s.metadata.version = "1.0";
    s.tags = {"py3", "none", "linux_x86_64"};
    s.members = {{"demo/__init__.py", rope("x = 1\n"), false},
                 {"demo/lib/a.so", rope(fat()), true},
                 {"demo/lib/b.so", rope(library({{".text", "code", {}, {}}})), false},
                 {"demo/lib/c.so", rope(fat()), false},
                 {"demo/lib/rocblas/library/Kernels_gfx942.hsaco", rope(code(k_gfx942)), false},
                 {"demo/lib/rocblas/library/Kernels_gfx1030.hsaco", rope(code(k_gfx1030)), false},
                 {"demo/lib/rocblas/library/Tensile_gfx942.dat", rope("tuning"), false},
                 {"demo/lib/rocblas/library/Tensile_fallback.dat", rope("tuning"), false},
                 {"demo/kernel.co", rope(code(k_gfx942)), false}};
    return s;
  }
  std::string build(const WheelSpec& s, codec::Profile profile = codec::Profile::release) {
    PackOptions options;
    options.profile = profile;
    auto built = pack(s, directory_ + "/dist", options);
    EXPECT_TRUE(built) << render(built.error());
    return built->path;
  }
  Result<ThinReport> thinned(const std::string& path, std::vector<std::string> devices, unsigned workers = 2,
                             const std::string& into = "thin") {
    ThinOptions options;
    options.devices = std::move(devices);
    options.workers = workers;
    options.spool_directory = directory_;
    return thin(path, options, directory_ + "/" + into);
  }
  void expect_refused(const std::string& path, const std::vector<std::string>& devices, const std::string& error) {
    auto refused = thinned(path, devices);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, error) << render(refused.error());
    EXPECT_TRUE(!sys::is_directory(directory_ + "/thin") || sys::list_tree(directory_ + "/thin")->empty());
  }
  std::string directory_;
};

// A program looks for the name; what the file really holds is `quarry gpu list`'s to say.
TEST_F(ThinWheel, AFileThatLiesAboutItsTargetIsNotDroppedSilently) {
  auto look = thin_member("x/lib/rocblas/library/Kernels_gfx1030.hsaco", rope(code(k_gfx942)),
                          {{"gfx1030"}, false, directory_}, content::Spool::create(directory_).value());
  ASSERT_TRUE(look) << render(look.error());
  EXPECT_FALSE(look->dropped);
  EXPECT_THAT(look->left, ElementsAre("the file is for gfx1030 by its path, and its code is for gfx942 (G107)"));
}

TEST_F(ThinWheel, RemovesCodeAndFilesAndKeepsTheRest) {
  auto old = build(spec());
  auto report = thinned(old, {"gfx1030"});
  ASSERT_TRUE(report) << render(report.error());
  EXPECT_FALSE(report->copied);
  EXPECT_THAT(report->changed, ElementsAre("demo/lib/a.so", "demo/lib/c.so"));
  EXPECT_THAT(report->dropped, ElementsAre("demo/kernel.co", "demo/lib/rocblas/library/Kernels_gfx942.hsaco",
                                           "demo/lib/rocblas/library/Tensile_gfx942.dat"));
  EXPECT_EQ(report->dropped_bytes, 10006u);
  EXPECT_EQ(report->installed_size + 10006u, report->original_installed_size);
  EXPECT_LT(report->size, report->original_size);
  EXPECT_THAT(report->findings, IsEmpty()) << render(report->findings);
  ASSERT_EQ(report->targets.size(), 3u);
  EXPECT_EQ(report->targets[0].target, "gfx1030");
  EXPECT_EQ(report->targets[0].objects, 5u);
  EXPECT_EQ(report->targets[0].removed_objects, 0u);
  EXPECT_EQ(report->targets[2].target, "gfx942");
  EXPECT_EQ(report->targets[2].objects, 5u);
  EXPECT_EQ(report->targets[2].removed_objects, 5u);
  auto verified = verify(report->path).value();
  EXPECT_THAT(verified.findings, IsEmpty()) << render(verified.findings);
  EXPECT_EQ(verified.sha256, report->sha256);
  EXPECT_EQ(verified.size, report->size);
  auto derivation = compare_derived(report->path, old).value();
  EXPECT_THAT(derivation.changed, ElementsAre("demo-1.0.dist-info/RECORD", "demo/lib/a.so", "demo/lib/c.so"));
  EXPECT_THAT(derivation.removed, ElementsAre("demo/kernel.co", "demo/lib/rocblas/library/Kernels_gfx942.hsaco",
                                              "demo/lib/rocblas/library/Tensile_gfx942.dat"));
  EXPECT_THAT(derivation.added, IsEmpty());
}

TEST_F(ThinWheel, MakesTheSameBytesWithAnyNumberOfWorkers) {
  auto old = build(spec());
  auto one = thinned(old, {"gfx1030"}, 1, "one").value(), two = thinned(old, {"gfx1030"}, 2, "two").value();
  EXPECT_EQ(one.sha256, two.sha256);
  auto stored = thinned(build(spec(), codec::Profile::stored), {"gfx1030"}, 2, "three").value();
  EXPECT_THAT(compare_derived(stored.path, one.path)->findings, IsEmpty());
}

// While a member is inflated, code of other targets is not kept. It may only look like code: here `.rodata` holds a
// bundle, which stays, and a bundle of code whose padding is not zero stays, too.
TEST_F(ThinWheel, ThinsLargeCodeAsItThinsTheWholeFile) {
  auto large = bundle({device("gfx942", code(k_gfx942, 50000)), device("gfx1030", code(k_gfx1030, 70001)),
                       device("gfx1201", code(k_gfx1201, 90000))});
  auto padded = large;
  padded[4096 + 53248 + 70001] = 'x'; // behind the code for gfx1030
  WheelSpec s = spec();
  s.members = {
      {"demo/a.so", rope(library({{".hip_fatbin", linked({large, large}), {}, {}}})), true},
      {"demo/b.so", rope(library({{".rodata", large, {}, {}}, {".hip_fatbin", large, {}, {}}})), false},
      {"demo/c.so", rope(library({{".hip_fatbin", linked({padded, large}), {}, {}}})), false},
      {"demo/d.so", rope(library({{".rodata", large, {}, {}}})), false},
      {"demo/e.so",
       rope(library({{".hip_fatbin", bundle({device("gfx1030", code(k_gfx1030, 4096) + large)}), {}, {}}})), false},
  };
  auto old = build(s);
  auto done = thinned(old, {"gfx1030"});
  ASSERT_TRUE(done) << render(done.error());
  Findings findings;
  auto zip = zip::Reader::open(content::Rope::file(done->path).value(), "x", findings);
  ASSERT_TRUE(zip);
  for (const auto& member : s.members) {
    auto whole = gpu::thin(member.data, "x", {{"gfx1030"}, directory_, content::Spool::create(directory_).value()});
    ASSERT_TRUE(whole) << render(whole.error());
    auto expected = whole->file.read_all(1u << 30).value();
    EXPECT_TRUE(zip->read_all(*zip->find(member.path), 1u << 30).value() == expected) << member.path;
    EXPECT_EQ(whole->changed, member.path != "demo/d.so" && member.path != "demo/e.so") << member.path;
  }
  EXPECT_THAT(verify(done->path)->findings, IsEmpty());
}

TEST_F(ThinWheel, WithoutAnythingToRemoveTheWheelIsCopied) {
  auto s = spec();
  s.members.resize(1);
  for (bool code : {false, true}) {
    auto path = code ? thinned(build(spec()), {"gfx1030"}, 1, "once")->path : build(s);
    auto report = thinned(path, {"gfx1030"}).value();
    EXPECT_TRUE(report.copied);
    EXPECT_EQ(sys::read_file(report.path, 1u << 30).value(), sys::read_file(path, 1u << 30).value());
    EXPECT_EQ(report.size, report.original_size);
  }
}

// Otherwise a wheel with CUDA code besides would lose all code for AMD's GPUs without a word.
TEST(Unserved, CodeOfAnotherMakerServesNoDevice) {
  EXPECT_THAT(unserved({"gfx906"}, {"sm_80", "compute_90", "gfx942"}), ElementsAre("gfx906"));
  EXPECT_THAT(unserved({"gfx906"}, {"sm_80", "gfx9-generic"}), IsEmpty());
  EXPECT_THAT(unserved({"gfx906"}, {"amdgcnspirv"}), IsEmpty()) << "may run on any";
}

TEST_F(ThinWheel, LooseFilesCanStay) {
  auto s = spec();
  s.members.push_back({"demo/lib/libdevice_conv_operations_gfx942.a", rope("!<arch>\n"), false});
  ThinOptions options;
  options.devices = {"gfx1030", "gfx1201", "gfx906"};
  options.spool_directory = directory_;
  options.keep_loose_files = true;
  auto report = thin(build(s), options, directory_ + "/thin").value();
  EXPECT_THAT(report.dropped, IsEmpty());
  EXPECT_THAT(report.missing, ElementsAre("gfx906"));
  ASSERT_EQ(report.findings.size(), 4u) << render(report.findings); // .hsaco, .dat, .co and .a, each once
  for (const auto& finding : report.findings) EXPECT_EQ(finding.code, "G115");
  auto without = thinned(build(s), {"gfx1030"}).value();
  for (const auto& name : without.dropped) EXPECT_FALSE(name.ends_with(".a"));
}

TEST_F(ThinWheel, RefusesWhatCannotBeMeant) {
  auto old = build(spec());
  expect_refused(old, {"gfx906"}, "G114");
  auto same = thinned(old, {"gfx1030"}, 1, "dist");
  ASSERT_FALSE(same);
  EXPECT_EQ(same.error().code, "W025");
  EXPECT_TRUE(sys::exists(old));
}

TEST_F(ThinWheel, RefusesDamage) {
  auto s = spec();
  auto broken = device("gfx942", code(k_gfx942));
  broken.offset = 1ull << 63;
  s.members.push_back({"demo/lib/d.so", rope(library({{".hip_fatbin", bundle({broken}), {}, {}}})), false});
  expect_refused(build(s), {"gfx1030"}, "G101");
  auto old = build(spec());
  auto bytes = sys::read_file(old, 1u << 30).value();
  ASSERT_TRUE(sys::write_file(old, bytes.substr(0, bytes.size() - 5)));
  expect_refused(old, {"gfx1030"}, "W010");
  // A library that is not the one in RECORD would become one that is.
  auto stored = build(spec(), codec::Profile::stored);
  bytes = sys::read_file(stored, 1u << 30).value();
  auto row = bytes.rfind("demo/lib/a.so,sha256=");
  ASSERT_NE(row, bytes.npos);
  Findings findings;
  auto zip = zip::Reader::open(rope(bytes), "x", findings);
  const auto* record = zip->find("demo-1.0.dist-info/RECORD");
  auto text = zip->read_all(*record, 1u << 20).value();
  auto at = text.find("demo/lib/a.so,sha256=") + 21;
  text[at] = text[at] == 'A' ? 'B' : 'A';
  auto crc = crc32(0, std::as_bytes(std::span(text)));
  std::string new_crc, old_crc;
  put(new_crc, crc), put(old_crc, record->crc);
  bytes.replace(record->data_offset, text.size(), text);
  for (auto found = bytes.find(old_crc); found != bytes.npos; found = bytes.find(old_crc, found + 1))
    bytes.replace(found, 4, new_crc);
  ASSERT_TRUE(sys::write_file(stored, bytes));
  expect_refused(stored, {"gfx1030"}, "W010");
}

} // namespace
} // namespace quarry::wheel
