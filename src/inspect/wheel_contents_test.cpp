#include "inspect/wheel_contents.hpp"

#include "gpu/gpu_forge_for_test.hpp"
#include "sys/file.hpp"
#include <elf.h>
#include <filesystem>
#include <gmock/gmock.h>

namespace quarry::inspect {
namespace {
namespace code = gpu::forge;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class WheelContentsTest : public ::testing::Test {
protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "wheel_contents_" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_ + "/spool");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::string packed(const std::vector<std::pair<std::string, std::string>>& members,
                     codec::Profile profile = codec::Profile::ci) {
    wheel::WheelSpec spec;
    spec.metadata.name = "x";
    spec.metadata.version = "1";
    for (const auto& [path, bytes] : members) spec.members.push_back({path, content::Rope::literal(bytes), false});
    auto built = wheel::pack(spec, root_, {profile, 1, {}, {}});
    EXPECT_TRUE(built) << (built ? "" : render(built.error()));
    return built ? built->path : std::string();
  }
  WheelContents look(const std::string& path) {
    auto found = look_into_wheel(path, {2, root_ + "/spool", {}});
    EXPECT_TRUE(found) << (found ? "" : render(found.error()));
    return found ? std::move(*found) : WheelContents();
  }
  std::string root_;
};

std::vector<std::string> members_of(const WheelContents& wheel) {
  std::vector<std::string> out;
  for (const auto& file : wheel.files) out.push_back(file.member + " -> " + file.installed);
  return out;
}
std::string a_library() { return code::library({{".text", std::string(9000, 't'), {}, {}}}); }

TEST_F(WheelContentsTest, FilesAndWhereTheyAreInstalled) {
  for (auto profile : {codec::Profile::ci, codec::Profile::stored}) {
    auto wheel = look(packed({{"x/liba.so", a_library()},
                              {"x/a.py", "import x\n"},
                              {"x/short", "\177EL"},
                              {"x-1.data/platlib/x/libb.so", a_library()},
                              {"x-1.data/scripts/tool", a_library()},
                              {"x-1.data/data/lib/libc.so", a_library()},
                              {"x-1.data/headers/libd.so", a_library()},
                              {"x/rocblas/library/k_gfx942.dat", "tuning"}},
                             profile));
    EXPECT_THAT(members_of(wheel), ElementsAre("x-1.data/data/lib/libc.so -> ../../../lib/libc.so",
                                               "x-1.data/headers/libd.so -> ../../../include/libd.so",
                                               "x-1.data/platlib/x/libb.so -> x/libb.so",
                                               "x-1.data/scripts/tool -> ../../../bin/tool", "x/liba.so -> x/liba.so",
                                               "x/rocblas/library/k_gfx942.dat -> x/rocblas/library/k_gfx942.dat"));
    EXPECT_EQ(wheel.file, "x-1-py3-none-any.whl");
    EXPECT_THAT(wheel.installed, Contains("../../../bin/tool"));
    EXPECT_THAT(wheel.installed, Contains("x/a.py"));
    EXPECT_THAT(wheel.report.findings, IsEmpty());
    ASSERT_TRUE(wheel.files.at(4).elf);
    EXPECT_EQ(wheel.files[4].elf->facts.machine, EM_X86_64);
  }
}

TEST_F(WheelContentsTest, DeviceCodeIsNotForTheHost) {
  auto wheel = look(packed({{"x/k.hsaco", code::code(code::k_gfx942)}}));
  ASSERT_THAT(members_of(wheel), ElementsAre("x/k.hsaco -> x/k.hsaco"));
  EXPECT_FALSE(wheel.files[0].elf);
  ASSERT_EQ(wheel.files[0].device.contents.objects.size(), 1u);
  EXPECT_EQ(wheel.files[0].device.contents.objects[0].target.str(), "gfx942");
}

TEST_F(WheelContentsTest, DamagedFilesAreFindings) {
  auto cut = a_library();
  cut.resize(cut.size() - 100); // the section header table is at the end
  auto wheel = look(packed(
      {{"x/cut.so", cut}, {"x/not.dll", std::string("MZ") + std::string(500, 'z')}, {"x/letter.txt", "MZ is a sign"}}));
  ASSERT_THAT(members_of(wheel), ElementsAre("x/cut.so -> x/cut.so", "x/not.dll -> x/not.dll"));
  EXPECT_EQ(wheel.files[0].findings.at(0).code, "E001");
  EXPECT_EQ(wheel.files[0].findings[0].severity, Severity::error);
  EXPECT_FALSE(wheel.files[0].elf);
  EXPECT_EQ(wheel.files[1].findings.at(0).code, "J001");
  for (const auto& file : wheel.files) { // the place names the file
    EXPECT_THAT(file.findings[0].message, ::testing::StartsWith("it is "));
    EXPECT_THAT(file.device.contents.findings, IsEmpty());
  }
}

TEST_F(WheelContentsTest, ABigEndianLibraryIsANote) {
  auto other = a_library();
  other[EI_DATA] = ELFDATA2MSB;
  auto wheel = look(packed({{"x/s390.so", other}}));
  ASSERT_EQ(wheel.files.size(), 1u);
  EXPECT_EQ(wheel.files[0].findings.at(0).code, "E011");
  EXPECT_EQ(wheel.files[0].findings[0].severity, Severity::note);
}

TEST_F(WheelContentsTest, TablesInTheMiddleAreReadFromTheWholeFile) {
  // The section headers are 20 MB behind the beginning and 20 MB before the end: the sketch of the member lacks them.
  auto library = code::library({{".text", std::string(20u << 20, 't'), {}, {}}}) + std::string(20u << 20, 'e');
  for (auto profile : {codec::Profile::ci, codec::Profile::stored}) {
    auto wheel = look(packed({{"x/liba.so", library}}, profile));
    ASSERT_EQ(wheel.files.size(), 1u);
    EXPECT_TRUE(wheel.files[0].elf);
    EXPECT_EQ(wheel.files[0].device.size, library.size());
  }
}

TEST_F(WheelContentsTest, WhatIsNotAWheel) {
  ASSERT_TRUE(sys::write_file(root_ + "/x.txt", "text"));
  EXPECT_EQ(look_into_wheel(root_ + "/x.txt", {}).error().code, "W022");
  EXPECT_EQ(look_into_wheel(root_ + "/none-1-py3-none-any.whl", {}).error().kind, ErrorKind::not_found);
  ASSERT_TRUE(sys::write_file(root_ + "/y-1-py3-none-any.whl", "no zip"));
  auto broken = look_into_wheel(root_ + "/y-1-py3-none-any.whl", {});
  ASSERT_TRUE(broken);
  EXPECT_TRUE(broken->report.container_broken && broken->report.unread);
  EXPECT_THAT(broken->files, IsEmpty());
}

TEST_F(WheelContentsTest, TextAndNamesOfLibraries) {
  auto large = std::string(k_searched_text_max, ' ') + "/home/runner/";
  auto wheel = look(packed({{"x/a.pc", "prefix=/home/runner/work"},
                            {"x/b.pc", "prefix=/usr"},
                            {"x/large.py", large},
                            {"x/libempty.so", ""},
                            {"x/liblink.so.1", "liblink.so.1.2"},
                            {"x/libscript.so", "INPUT(liblink.so.1)"},
                            {"x/.netrc", "machine x"}}));
  ASSERT_THAT(wheel.leaks, ::testing::SizeIs(2));
  EXPECT_THAT(wheel.leaks.at("x/a.pc").build_paths, ElementsAre("/home/runner/"));
  EXPECT_THAT(wheel.leaks.at("x/.netrc").secrets, ::testing::SizeIs(1));
  EXPECT_THAT(wheel.not_libraries,
              ElementsAre(std::pair{"x/libempty.so", "is empty"}, std::pair{"x/liblink.so.1", "begins with text"}));
}
} // namespace
} // namespace quarry::inspect
