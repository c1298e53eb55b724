#include "inspect/device_verdict.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace quarry::inspect {
namespace {

DeviceFile code_file(std::string path, const std::vector<std::string>& targets,
                     gpu::Container container = gpu::Container::bundle) {
  DeviceFile out{path, 1000, {}, gpu::target_of_path(path)};
  for (const auto& target : targets) {
    auto parsed = *gpu::parse_target(target);
    out.contents.objects.push_back({container, parsed, 0, 100, parsed, true});
  }
  return out;
}

/// "missing gfx942 -; extra …": verdict, target, file, bytes if there are any.
std::string verdicts(const std::vector<DeviceFile>& files, const std::vector<std::string>& asked) {
  std::string out;
  for (const auto& one : judge({files, files.size()}, {"the-family", asked}).verdicts)
    out +=
        fmt::format("{}{} {} {} {}", out.empty() ? "" : "; ", to_string(one.verdict), one.target, one.file, one.bytes);
  return out;
}

TEST(DeviceVerdict, WhatWasAskedForAndIsThereIsFine) {
  EXPECT_EQ(verdicts({code_file("a.so", {"gfx942", "gfx950"}), code_file("b.so", {"gfx942", "gfx950"})},
                     {"gfx942", "gfx950"}),
            "");
  EXPECT_EQ(verdicts({}, {}), "");
}

TEST(DeviceVerdict, Missing) {
  EXPECT_EQ(verdicts({code_file("a.so", {"gfx942"})}, {"gfx942", "gfx950"}), "missing gfx950  0");
  EXPECT_EQ(verdicts({}, {"gfx942"}), "missing gfx942  0");
}

TEST(DeviceVerdict, FilesOfKernelsThatAreNotReadCountByTheirPath) {
  EXPECT_EQ(verdicts({code_file("lib/aotriton.images/amd-gfx950/k.aks2", {})}, {"gfx950"}), "");
  EXPECT_EQ(verdicts({code_file("lib/aotriton.images/amd-gfx90a_mod0/k.aks2", {})}, {"gfx90a"}), "");
  EXPECT_EQ(verdicts({code_file("lib/aotriton.images/amd-gfx11xx/k.aks2", {})}, {"gfx1100"}), "");
  EXPECT_EQ(verdicts({code_file("share/miopen/db/gfx942.kdb", {})}, {"gfx942", "gfx950"}), "missing gfx950  0");
  EXPECT_EQ(verdicts({code_file("cuda.so", {"sm_90"}), code_file("share/miopen/db/gfx942.kdb", {})}, {"gfx942"}), "");
}

TEST(DeviceVerdict, PathsDoNotCountWhereCodeIsRead) {
  auto so = code_file("a.so", {"gfx942"});
  EXPECT_EQ(verdicts({so, code_file("lib/aotriton.images/amd-gfx950/k.aks2", {})}, {"gfx942", "gfx950"}),
            "missing gfx950  0");
  EXPECT_EQ(verdicts({so, code_file("lib/rocblas/library/T_gfx950.dat", {})}, {"gfx942", "gfx950"}),
            "missing gfx950  0");
}

TEST(DeviceVerdict, FilesWithoutCodeInAFormatThatIsReadDoNotCount) {
  for (std::string path : {"lib/rocblas/library/K_gfx950.co", ".kpack/blas_gfx950.kpack", "lib/libMIOpenCKx_gfx950.so",
                           "lib/hipblaslt/library/gfx950/README", "lib/aotriton.images/amd-gfx950/__signature__"})
    EXPECT_EQ(verdicts({code_file(path, {})}, {"gfx950"}), "missing gfx950  0") << path;
}

TEST(DeviceVerdict, GenericTargetsAndVariantsCount) {
  EXPECT_EQ(verdicts({code_file("a.so", {"gfx11-generic", "gfx90a:xnack+", "gfx90a:xnack-"})},
                     {"gfx1100", "gfx1151", "gfx90a"}),
            "");
  EXPECT_EQ(verdicts({code_file("a.so", {"gfx9-generic"})}, {"gfx908"}),
            "missing gfx908  0; extra gfx9-generic a.so 100");
}

TEST(DeviceVerdict, ExtraWithItsBytes) {
  EXPECT_EQ(verdicts({code_file("a.so", {"gfx942", "gfx942", "gfx1030", "gfx1030"})}, {"gfx942"}),
            "extra gfx1030 a.so 200");
  auto judgement =
      judge({{code_file("a.so", {"gfx942", "gfx1030", "gfx906:xnack-"})}, 1}, {"gfx94X-dcgpu", {"gfx942"}});
  ASSERT_EQ(judgement.findings.size(), 1u);
  EXPECT_EQ(judgement.findings[0].code, "G104");
  EXPECT_EQ(judgement.findings[0].severity, Severity::warning);
  EXPECT_EQ(judgement.findings[0].message, "it holds code for 2 targets that gfx94X-dcgpu did not ask for (200 B)");
}

TEST(DeviceVerdict, Uneven) {
  EXPECT_EQ(verdicts({code_file("a.so", {"gfx942", "gfx950"}), code_file("b.so", {"gfx942"})}, {}),
            "uneven gfx950 b.so 0");
  EXPECT_EQ(verdicts({code_file("a.so", {"gfx1100", "gfx1101"}), code_file("b.so", {"gfx11-generic"})},
                     {"gfx1100", "gfx1101"}),
            "");
}

TEST(DeviceVerdict, TargetsThatTheSameLibrariesLackAreOneFinding) {
  auto judgement = judge({{code_file("a.so", {"gfx908", "gfx90a", "gfx942"}), code_file("b.so", {"gfx942", "gfx1030"}),
                           code_file("c.so", {"gfx942"})},
                          3},
                         {});
  std::vector<std::string> said;
  for (const auto& finding : judgement.findings)
    said.push_back(finding.code + " " + finding.place + ": " + finding.message);
  EXPECT_EQ(said, (std::vector<std::string>{
                      "G105 gfx908, gfx90a: 2 of 3 libraries have no code for these targets: b.so, c.so",
                      "G105 gfx1030: 2 of 3 libraries have no code for it: a.so, c.so"}));
  EXPECT_EQ(judgement.verdicts.size(), 6u);
}

TEST(DeviceVerdict, FilesOfOneTargetAreOneLibrary) {
  std::vector<DeviceFile> files{code_file("a.so", {"gfx942", "gfx950"})};
  for (std::string target : {"gfx942", "gfx950"})
    for (std::string name : {"one", "two"})
      files.push_back(code_file(fmt::format("lib/rocblas/library/{}_{}.co", name, target), {target}));
  files.push_back(code_file("lib/rocblas/library/three_gfx942.co", {"gfx942"}));
  EXPECT_EQ(verdicts(files, {"gfx942", "gfx950"}), "");
  files.resize(3);
  EXPECT_EQ(verdicts(files, {"gfx942", "gfx950"}), "uneven gfx950 lib/rocblas/library/* 0");
}

TEST(DeviceVerdict, FeatureMix) {
  EXPECT_EQ(verdicts({code_file("a.so", {"gfx90a"}), code_file("b.so", {"gfx90a:xnack+", "gfx90a:xnack-"})}, {}),
            "feature mix gfx90a b.so 0");
  EXPECT_EQ(verdicts({code_file("a.so", {"gfx90a:sramecc+:xnack-"}), code_file("b.so", {"gfx90a:xnack-"})}, {}),
            "feature mix gfx90a a.so 0");
  EXPECT_EQ(verdicts({code_file("a.so", {"gfx90a:xnack+"}), code_file("b.so", {"gfx90a:xnack-"})}, {}), "");
  auto severity = [](const std::vector<DeviceFile>& files) { return judge({files, 1}, {}).findings.at(0).severity; };
  EXPECT_EQ(severity({code_file("a.so", {"gfx90a", "gfx90a:xnack+"})}), Severity::error);
  EXPECT_EQ(severity({code_file("a.so", {"gfx90a"}), code_file("b.so", {"gfx90a:xnack+"})}), Severity::warning);
}

TEST(DeviceVerdict, LabelLie) {
  auto lying = code_file("a.so", {"gfx942", "gfx942"});
  lying.contents.objects[1].elf_target = gpu::parse_target("gfx1030");
  lying.contents.objects[1].label_agrees = false;
  EXPECT_EQ(verdicts({lying}, {}), "label lie gfx942 a.so 100");
  EXPECT_EQ(judge({{lying}, 1}, {}).findings.at(0).message,
            "1 code object is labelled gfx942, but the header of the code says gfx1030");
}

TEST(DeviceVerdict, AFileInThePlaceOfAnotherTarget) {
  EXPECT_EQ(verdicts({code_file("rocblas/library/k_gfx942.co", {"gfx950"}, gpu::Container::elf)}, {}),
            "label lie gfx950 rocblas/library/k_gfx942.co 100");
  EXPECT_EQ(verdicts({code_file("rocblas/library/k_gfx90a-xnack+.co", {"gfx90a:xnack-"})}, {}),
            "label lie gfx90a:xnack- rocblas/library/k_gfx90a-xnack+.co 100");
  EXPECT_EQ(verdicts({code_file("rocblas/library/k_gfx90a.co", {"gfx90a:xnack-"})}, {}), "");
}

TEST(DeviceVerdict, Unconverted) {
  auto embedded = code_file("a.so", {"gfx942"}), split = code_file("b.so", {}),
       archive = code_file("c.kpack", {"gfx942"}, gpu::Container::kpack);
  embedded.contents.embedded = true;
  split.contents.split = true;
  EXPECT_EQ(verdicts({embedded}, {}), "");
  EXPECT_EQ(verdicts({embedded, split}, {}), "unconverted  a.so 100");
  EXPECT_EQ(verdicts({embedded, archive}, {}), "unconverted  a.so 100");
  EXPECT_EQ(verdicts({split, archive}, {}), "");
}

TEST(DeviceVerdict, SumsByTarget) {
  auto sums =
      judge({{code_file("a.so", {"gfx1030", "gfx942", "gfx942"}), code_file("b.so", {"gfx942"})}, 2}, {"f", {"gfx942"}})
          .targets;
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[0].target, "gfx942");
  EXPECT_EQ(sums[0].count, 3u);
  EXPECT_EQ(sums[0].bytes, 300u);
  EXPECT_EQ(sums[0].files, 2u);
  EXPECT_TRUE(sums[0].asked);
  EXPECT_FALSE(sums[1].asked);
}

TEST(DeviceVerdict, TargetsAreOrderedAsPeopleDo) {
  std::vector<std::string> sorted{
      "amdgcnspirv",   "gfx9-generic", "gfx10-3-generic", "gfx11-generic", "gfx900", "gfx908", "gfx90a",
      "gfx90a:xnack+", "gfx942",       "gfx1030",         "gfx1200",       "gfxx",   "sm_90"};
  for (std::size_t i = 0; i < sorted.size(); ++i)
    for (std::size_t j = 0; j < sorted.size(); ++j)
      EXPECT_EQ(target_less(sorted[i], sorted[j]), i < j) << sorted[i] << " " << sorted[j];
}

} // namespace
} // namespace quarry::inspect
