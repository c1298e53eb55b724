#include "sdk/thin.hpp"

#include "gpu/contents.hpp"
#include "gpu/gpu_forge_for_test.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::sdk {
namespace {

using namespace gpu::forge;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

content::Rope rope(std::string bytes) { return content::Rope::literal(std::move(bytes)); }

PackagePlan package(std::string family) {
  PackagePlan plan;
  plan.logical = "libraries", plan.family = std::move(family), plan.dist = "libs";
  auto bundles = linked({bundle({device("gfx942", code(k_gfx942)), device("gfx1030", code(k_gfx1030))})});
  plan.wheel.members = {{"libs/liba.so", rope(library({{".hip_fatbin", bundles, {}, {}}})), true},
                        {"libs/rocblas/library/Kernels_gfx942.hsaco", rope(code(k_gfx942)), false},
                        {"libs/__init__.py", rope("x = 1\n"), false}};
  plan.files = plan.wheel.members.size();
  for (const auto& member : plan.wheel.members) plan.input_bytes += member.data.size();
  return plan;
}

BuildRequest request(std::vector<std::string> targets, unsigned workers = 2) {
  BuildRequest asked;
  asked.workers = workers;
  asked.trees.spool_directory = testing::TempDir();
  asked.targets_of_family = [targets = std::move(targets)](const std::string&) -> Result<std::vector<std::string>> {
    return targets;
  };
  return asked;
}

std::vector<std::string> thin_codes(const Findings& findings) {
  std::vector<std::string> out;
  for (const auto& finding : findings) out.push_back(finding.code);
  return out;
}

TEST(ThinPackages, APackageOfAFamilyKeepsItsCodeAlone) {
  BuildPlan plan;
  plan.packages = {package("gfx103X"), package("")};
  auto before = plan.packages[0];
  ASSERT_TRUE(thin_packages(request({"gfx1030"}), plan));
  const auto& after = plan.packages[0];
  ASSERT_EQ(after.wheel.members.size(), 2u);
  EXPECT_EQ(after.files, 2u);
  EXPECT_EQ(after.input_bytes + 5000, before.input_bytes);
  EXPECT_EQ(after.wheel.members[0].data.size(), before.wheel.members[0].data.size());
  EXPECT_TRUE(after.wheel.members[0].executable);
  auto contents = gpu::read_contents(after.wheel.members[0].data, "x").value();
  ASSERT_EQ(contents.objects.size(), 1u);
  EXPECT_EQ(contents.objects[0].target.processor, "gfx1030");
  EXPECT_EQ(plan.packages[1].wheel.members.size(), 3u) << "a package of all families keeps everything";
  EXPECT_THAT(thin_codes(plan.findings), ElementsAre("S058"));
  EXPECT_THAT(plan.findings[0].message, HasSubstr("1 code object (5.00 kB) and 1 file (5.00 kB)"));
}

TEST(ThinPackages, NothingHappensWithoutNeed) {
  BuildPlan plan;
  plan.packages = {package("gfx103X")};
  ASSERT_TRUE(thin_packages(request({"gfx1030", "gfx942"}), plan));
  BuildRequest without;
  ASSERT_TRUE(thin_packages(without, plan));
  EXPECT_EQ(plan.packages[0].wheel.members.size(), 3u);
  EXPECT_THAT(plan.findings, IsEmpty());
}

TEST(ThinPackages, APackageWithoutCodeForItsFamilyIsAnError) {
  BuildPlan plan;
  plan.packages = {package("gfx120X")};
  ASSERT_TRUE(thin_packages(request({"gfx1201"}), plan));
  EXPECT_THAT(thin_codes(plan.findings), ElementsAre("G114", "S058"));
  EXPECT_TRUE(has_errors(plan.findings));
}

TEST(ThinPackages, ErrorsComeBack) {
  BuildPlan plan;
  plan.packages = {package("gfx103X")};
  auto unknown = request({});
  unknown.targets_of_family = [](const std::string&) -> Result<std::vector<std::string>> {
    return fail(ErrorKind::invalid_argument, "F003", "unknown");
  };
  EXPECT_EQ(thin_packages(unknown, plan).error().code, "F003");
  auto outside = device("gfx942", code(k_gfx942));
  outside.offset = 1ull << 63;
  plan.packages[0].wheel.members[0].data = rope(library({{".hip_fatbin", bundle({outside}), {}, {}}}));
  EXPECT_EQ(thin_packages(request({"gfx1030"}), plan).error().code, "G101");
}

} // namespace
} // namespace quarry::sdk
