#include "run/location.hpp"

#include <gtest/gtest.h>

namespace quarry::run {
namespace {

struct Case {
  Era era;
  std::string_view kind, group, name, key; // key below the prefix; empty: this era has no such place
};

const Case k_cases[] = {
    {Era::quarry, "run", "", "", "42-linux"},
    {Era::quarry, "artifact", "", "blas_lib_gfx94X-dcgpu.tar.zst", "42-linux/blas_lib_gfx94X-dcgpu.tar.zst"},
    {Era::quarry, "artifact", "", "", "42-linux"},
    {Era::quarry, "log", "", "", "42-linux/logs"},
    {Era::quarry, "log", "gfx94X-dcgpu", "build.log", "42-linux/logs/gfx94X-dcgpu/build.log"},
    {Era::quarry, "log", "", "packaging/deb/x.log", "42-linux/logs/packaging/deb/x.log"},
    {Era::quarry, "manifest", "gfx94X-dcgpu", "therock_manifest.json",
     "42-linux/manifests/gfx94X-dcgpu/therock_manifest.json"},
    {Era::quarry, "tarball", "", "therock-dist-linux-gfx110X-all-7.12.0.tar.gz",
     "42-linux/tarballs/therock-dist-linux-gfx110X-all-7.12.0.tar.gz"},
    {Era::quarry, "python", "gfx94X-dcgpu", "", "42-linux/python/gfx94X-dcgpu"},
    {Era::quarry, "python", "", "", "42-linux/python"},
    {Era::quarry, "python-dist", "gfx94X-dcgpu", "rocm-7.12.0.tar.gz",
     "42-linux/python/gfx94X-dcgpu/dist/rocm-7.12.0.tar.gz"},
    {Era::quarry, "python-index", "gfx94X-dcgpu", "", "42-linux/python/gfx94X-dcgpu/simple"},
    {Era::quarry, "python-index", "gfx94X-dcgpu", "rocm", "42-linux/python/gfx94X-dcgpu/simple/rocm"},
    {Era::quarry, "pytorch", "gfx94X-dcgpu", "dist/torch.whl", "42-linux/pytorch/gfx94X-dcgpu/dist/torch.whl"},
    {Era::quarry, "jax", "", "", "42-linux/jax"},
    {Era::quarry, "python-deps", "", "", "python-deps/simple"},
    {Era::quarry, "python-deps", "", "numpy", "python-deps/simple/numpy"},

    {Era::feb, "run", "", "", "42-linux"},
    {Era::feb, "artifact", "", "blas_lib_gfx94X-dcgpu.tar.xz.sha256sum",
     "42-linux/blas_lib_gfx94X-dcgpu.tar.xz.sha256sum"},
    {Era::feb, "log", "gfx94X-dcgpu", "ninja_logs.tar.gz", "42-linux/logs/gfx94X-dcgpu/ninja_logs.tar.gz"},
    {Era::feb, "manifest", "gfx94X-dcgpu", "therock_manifest.json",
     "42-linux/manifests/gfx94X-dcgpu/therock_manifest.json"},
    {Era::feb, "tarball", "", "x.tar.gz", ""},
    {Era::feb, "python", "gfx94X-dcgpu", "", "42-linux/python/gfx94X-dcgpu"},
    {Era::feb, "python-dist", "gfx94X-dcgpu", "rocm-7.12.0.tar.gz", "42-linux/python/gfx94X-dcgpu/rocm-7.12.0.tar.gz"},
    {Era::feb, "python-index", "gfx94X-dcgpu", "", "42-linux/python/gfx94X-dcgpu/index.html"},
    {Era::feb, "python-index", "gfx94X-dcgpu", "rocm", ""},
    {Era::feb, "pytorch", "gfx94X-dcgpu", "", ""},
    {Era::feb, "jax", "gfx94X-dcgpu", "", ""},
    {Era::feb, "python-deps", "", "", ""},

    {Era::aug, "artifact", "", "blas_lib_gfx942.tar.zst", "42-linux/blas_lib_gfx942.tar.zst"},
    {Era::aug, "log", "", "math-libs/gfx94X-dcgpu/build.log", "42-linux/logs/math-libs/gfx94X-dcgpu/build.log"},
    {Era::aug, "manifest", "", "therock_manifest.json", "42-linux/manifests/therock_manifest.json"},
    {Era::aug, "tarball", "", "x.tar.gz", "42-linux/tarballs/x.tar.gz"},
    {Era::aug, "python", "multi-arch-release", "", "42-linux/python"},
    {Era::aug, "python", "gfx94X-dcgpu", "", "42-linux/python/gfx94X-dcgpu"},
    {Era::aug, "python-index", "gfx94X-dcgpu", "", "42-linux/python/gfx94X-dcgpu/index.html"},
    {Era::aug, "pytorch", "gfx94X-dcgpu", "torch.whl", "42-linux/python/gfx94X-dcgpu/torch.whl"},
    {Era::aug, "python", "", "gfx94X-dcgpu", "42-linux/python/gfx94X-dcgpu"},
    {Era::aug, "python-dist", "", "rocm-10.1.0.tar.gz", "42-linux/python/rocm-10.1.0.tar.gz"},
    {Era::aug, "python-index", "", "", "42-linux/python/index.html"},
    {Era::aug, "pytorch", "", "torch.whl", "42-linux/python/torch.whl"},
    {Era::aug, "jax", "", "", "42-linux/python"},
    {Era::aug, "python-deps", "", "", ""},
};

Result<Located> locate_case(const Case& c) {
  return locate({}, {.run = {"", "42", Platform::linux},
                     .output = *parse_output(c.kind),
                     .group = std::string(c.group),
                     .name = std::string(c.name),
                     .era = c.era,
                     .bucket = ""});
}

TEST(Location, KnowsEveryKindInEveryEra) {
  for (const auto& c : k_cases) {
    auto located = locate_case(c);
    auto row = std::string(to_string(c.era)) + " " + std::string(c.kind) + " " + std::string(c.name);
    ASSERT_EQ(located.has_value(), !c.key.empty()) << row;
    if (!located) {
      EXPECT_EQ(located.error().code, "L026") << row;
      continue;
    }
    EXPECT_EQ(located->location.key, c.key) << row;
    EXPECT_EQ(located->prefix, "42-linux") << row;
    EXPECT_EQ(located->location.bucket, "therock-ci-artifacts") << row;
  }
}

TEST(Location, EveryKindHasAName) {
  for (const auto& name : output_names()) EXPECT_TRUE(parse_output(name)) << name;
  EXPECT_EQ(*parse_output("python-deps"), Output::python_deps);
  EXPECT_EQ(*parse_output("run"), Output::run);
  EXPECT_EQ(*parse_output("jax"), Output::jax);
  EXPECT_EQ(parse_output("wheel").error().code, "L024");
}

TEST(Location, WritesTheSamePlaceInEveryForm) {
  Location place{"b", "ROCm-x/42-linux/python/g/torch-2.10.0+rocm7.12~1@a:b.whl"};
  EXPECT_EQ(place.s3_uri(), "s3://b/ROCm-x/42-linux/python/g/torch-2.10.0+rocm7.12~1@a:b.whl");
  EXPECT_EQ(place.https_url(), std::string("https://") +
                                   "b.s3.amazonaws.com/ROCm-x/42-linux/python/g/torch-2.10.0%2Brocm7.12~1%40a%3Ab.whl");
  EXPECT_EQ(place.local_path(""), place.key);
  EXPECT_EQ(place.local_path("/srv/out"), "/srv/out/" + place.key);
  EXPECT_EQ(place.local_path("/"), "/" + place.key);
}

TEST(Location, PutsForksBelowARepositoryName) {
  auto located = *locate({"ROCm/TheRock", true, "", {}}, {.run = {"", "7", Platform::windows},
                                                          .output = Output::log,
                                                          .group = "g",
                                                          .name = "",
                                                          .era = Era::feb,
                                                          .bucket = ""});
  EXPECT_EQ(located.external_repo, "ROCm-TheRock/");
  EXPECT_EQ(located.prefix, "ROCm-TheRock/7-windows");
  EXPECT_EQ(located.location.key, "ROCm-TheRock/7-windows/logs/g");
}

TEST(Location, FebruarysTarballsLieInTheReleaseBucket) {
  Wanted wanted{.run = {"", "7", Platform::linux},
                .output = Output::tarball,
                .group = "",
                .name = "x.tar.gz",
                .era = Era::feb,
                .bucket = ""};
  auto nightly = *locate({"ROCm/TheRock", false, "nightly", {}}, wanted);
  EXPECT_EQ(nightly.location.s3_uri(), "s3://therock-nightly-tarball/x.tar.gz");
  auto candidate = *locate({"ROCm/TheRock", false, "prerelease", {}}, wanted);
  EXPECT_EQ(candidate.location.s3_uri(), "s3://therock-prerelease-tarball/v3/tarball/x.tar.gz");
  EXPECT_EQ(locate({"ROCm/TheRock", false, "ci", {}}, wanted).error().code, "L026");
}

TEST(Location, RefusesPartsThatLeadElsewhere) {
  for (auto bad : {"../x", "a//b", "/a", "a/", ".hidden", "a b", "a\\b", "a%2Fb"}) {
    auto located = locate({}, {.run = {"", "42", Platform::linux},
                               .output = Output::log,
                               .group = "",
                               .name = bad,
                               .era = Era::aug,
                               .bucket = ""});
    ASSERT_FALSE(located) << bad;
    EXPECT_EQ(located.error().code, "L020") << bad;
  }
  for (auto bad : {"dist", "..", "a/b"})
    EXPECT_FALSE(locate({}, {.run = {"", "42", Platform::linux},
                             .output = Output::log,
                             .group = bad,
                             .name = "",
                             .era = Era::aug,
                             .bucket = ""}))
        << bad;
  EXPECT_FALSE(locate({}, {.run = {"", "42-linux", Platform::linux},
                           .output = Output::run,
                           .group = "",
                           .name = "",
                           .era = Era::aug,
                           .bucket = ""}));
  EXPECT_FALSE(locate({}, {.run = {"", "42", Platform::read("macos")},
                           .output = Output::run,
                           .group = "",
                           .name = "",
                           .era = Era::aug,
                           .bucket = ""}));
}

} // namespace
} // namespace quarry::run
