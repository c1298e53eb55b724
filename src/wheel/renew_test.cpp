#include "wheel/renew.hpp"

#include "sys/file.hpp"
#include "sys/path.hpp"
#include "wheel/wheel.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::wheel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Renew : public testing::Test {
protected:
  void SetUp() override { directory_ = sys::make_temporary_directory(testing::TempDir(), "renew-").value(); }
  void TearDown() override { ASSERT_TRUE(sys::remove_tree(directory_)); }

  static WheelSpec candidate() {
    WheelSpec s;
    s.metadata.name = "torch";
    s.metadata.version = "2.9.0+rocm7.2.0rc1";
    s.metadata.requires_dist = {"rocm[libraries]==7.2.0rc1", "jinja2>=3"};
    s.metadata.license_files = {"LICENSE"};
    s.tags = {"cp312", "cp312", "linux_x86_64"};
    s.members = {{"torch/lib.so", content::Rope::literal(std::string(300'000, 'b') + "7.2.0rc1"), true},
                 {"torch/version.py", content::Rope::literal("__version__ = '2.9.0+rocm7.2.0rc1'\n"), false},
                 {"torch/_rocm_init.py", content::Rope::literal("check(check_version='7.2.0rc1')\n"), false},
                 {"torch/other.py", content::Rope::literal("x = '7.2.0rc1'\n"), false},
                 {"torch-2.9.0+rocm7.2.0rc1.data/scripts/run", content::Rope::literal("#!python\n"), true}};
    s.dist_info = {{"licenses/LICENSE", content::Rope::literal("MIT"), false}};
    return s;
  }
  NamedWheel build(const WheelSpec& spec) {
    auto built = pack(spec, directory_ + "/dist", {});
    EXPECT_TRUE(built) << render(built.error());
    return read(built->path);
  }
  static NamedWheel read(const std::string& path) {
    return {std::string(path::basename(path)), content::Rope::file(path).value()};
  }
  static dist::VersionChange change(const std::string& candidate = "7.2.0rc1") {
    return dist::VersionChange::create({candidate, "7.2.0"}).value();
  }
  std::string directory_;
};

TEST_F(Renew, ChangesNameMetadataAndModulesAndKeepsTheRest) {
  auto old = build(candidate());
  auto made = renew(old, change(), directory_ + "/new");
  ASSERT_TRUE(made) << render(made.error());
  EXPECT_EQ(made->file_name, "torch-2.9.0+rocm7.2.0-cp312-cp312-linux_x86_64.whl");
  EXPECT_THAT(made->changed,
              ElementsAre("torch/_rocm_init.py", "torch/version.py", "torch-2.9.0+rocm7.2.0.dist-info/METADATA",
                          "torch-2.9.0+rocm7.2.0.dist-info/RECORD"));
  auto report = verify(made->path).value();
  EXPECT_THAT(report.findings, IsEmpty()) << render(report.findings);
  EXPECT_EQ(report.metadata->version, "2.9.0+rocm7.2.0");
  EXPECT_THAT(report.metadata->requires_dist, ElementsAre("rocm[libraries]==7.2.0", "jinja2>=3"));
  auto derivation = compare_derived(made->path, directory_ + "/dist/" + old.file_name).value();
  EXPECT_THAT(derivation.changed,
              ElementsAre("torch-2.9.0+rocm7.2.0.dist-info/METADATA", "torch-2.9.0+rocm7.2.0.dist-info/RECORD",
                          "torch/_rocm_init.py", "torch/version.py"));
  EXPECT_THAT(derivation.added, IsEmpty());
  EXPECT_THAT(derivation.removed, IsEmpty());
  auto proven = prove_renewed({read(made->path), old}, change());
  EXPECT_TRUE(proven) << render(proven.error());
}

TEST_F(Renew, RefusesAWheelWhoseNameWouldStay) {
  auto spec = candidate();
  spec.metadata.version = "2.9.0";
  spec.members.pop_back();
  auto refused = renew(build(spec), change(), directory_ + "/new");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "W030");
}

TEST_F(Renew, ProvesNothingThatWasChangedOtherwise) {
  auto old = build(candidate());
  auto release = candidate();
  release.metadata.version = "2.9.0+rocm7.2.0";
  release.metadata.requires_dist = {"rocm[libraries]==7.2.0", "jinja2>=3"};
  release.members[1].data = content::Rope::literal("__version__ = '2.9.0+rocm7.2.0'\n");
  release.members[2].data = content::Rope::literal("check(check_version='7.2.0')\n");
  release.members[4].path = "torch-2.9.0+rocm7.2.0.data/scripts/run";
  auto honest = prove_renewed({build(release), old}, change());
  EXPECT_TRUE(honest) << "how new files are packed does not matter: " << render(honest.error());

  auto refused = [&](const char* what, WheelSpec spec) {
    auto proven = prove_renewed({build(spec), old}, change());
    ASSERT_FALSE(proven) << what;
    EXPECT_EQ(proven.error().code, "W031") << what;
  };
  auto other = release;
  other.members[0].data = content::Rope::literal(std::string(300'000, 'c') + "7.2.0rc1");
  refused("another library", other);
  other = release;
  other.members[0].executable = false;
  refused("another mode", other);
  other = release;
  other.metadata.requires_dist.push_back("evil");
  refused("another requirement", other);
  other = release;
  other.members.push_back({"torch/sitecustomize.py", content::Rope::literal("evil"), false});
  refused("one file more", other);
  other = release;
  other.members.erase(other.members.begin() + 3);
  refused("one file less", other);
  other = release;
  other.tags = {"cp313", "cp313", "linux_x86_64"};
  refused("another Python", other);
  EXPECT_EQ(prove_renewed({old, old}, change()).error().code, "W031") << "the candidate itself";
  EXPECT_EQ(prove_renewed({old, old}, change("7.2.0rc2")).error().code, "W030");
}

} // namespace
} // namespace quarry::wheel
