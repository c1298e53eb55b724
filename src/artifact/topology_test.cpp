#include "artifact/topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::artifact {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* k_text = R"(
[metadata]
version = "2.0"
[build_stages.first]
description = "what all need"
artifact_groups = ["compiler"]
[build_stages.libraries]
artifact_groups = ["math", "more"]
type = "per-arch"
[artifact_groups.compiler]
type = "generic"
[artifact_groups.runtime]
artifact_group_deps = ["compiler"]
[artifact_groups.math]
artifact_group_deps = ["runtime"]
source_sets = ["a"]
[artifact_groups.more]
[artifacts.llvm]
artifact_group = "compiler"
artifact_deps = ["sysdeps"]
[artifacts.sysdeps]
artifact_group = "compiler"
artifact_deps = ["llvm"]
[artifacts.hip]
artifact_group = "runtime"
artifact_deps = ["llvm"]
[artifacts.rand]
artifact_group = "math"
type = "target-specific"
new_field = true
[artifacts.blas]
artifact_group = "more"
artifact_deps = ["rand", "host-blas"]
[artifacts.host-blas]
artifact_group = "compiler"
)";

TEST(Topology, InAndOutOfAStage) {
  auto topology = Topology::parse({"x.toml", k_text});
  ASSERT_TRUE(topology) << render(topology.error());
  auto first = *topology->stage("first"), libraries = *topology->stage("libraries");
  EXPECT_EQ(libraries.type, "per-arch");
  EXPECT_THAT(topology->produced(first), ElementsAre("host-blas", "llvm", "sysdeps"));
  EXPECT_THAT(topology->inbound(first), IsEmpty()) << "a circle inside a stage is not its input";
  EXPECT_THAT(topology->produced(libraries), ElementsAre("blas", "rand"));
  EXPECT_THAT(topology->inbound(libraries), ElementsAre("hip", "host-blas", "llvm", "sysdeps"));
  EXPECT_EQ(topology->type_of("rand") + topology->type_of("hip"), "target-specifictarget-neutral");
  EXPECT_EQ(topology->artifacts().size(), 6u);
}

TEST(Topology, WhatIsNoneIsRefused) {
  auto error = [](std::string text) { return Topology::parse({"x.toml", text}).error(); };
  EXPECT_THAT(error("[").code, "A095");
  EXPECT_THAT(error("").message, HasSubstr("no build_stages"));
  EXPECT_THAT(error("[build_stages.a]\nartifact_groups = [\"b\"]").message, HasSubstr("stage a has the group b"));
  std::string stage = "[build_stages.a]\n";
  EXPECT_THAT(error(stage + "[artifacts.b]").message, HasSubstr("artifact_group"));
  EXPECT_THAT(error(stage + "[artifacts.b]\nartifact_group = \"c\"").message, HasSubstr("of the group c"));
  EXPECT_THAT(error(stage + "[artifact_groups.c]\nartifact_group_deps = [\"d\"]").message,
              HasSubstr("needs the group d"));
  std::string group = stage + "[artifact_groups.c]\n";
  EXPECT_THAT(error(group + "[artifacts.b]\nartifact_group = \"c\"\nartifact_deps = [\"e\"]").message,
              HasSubstr("artifact b needs e"));
  EXPECT_THAT(error(group + "[artifacts.b_c]\nartifact_group = \"c\"").message, HasSubstr("cannot be called b_c"));
  auto missing = Topology::parse({"x.toml", k_text})->stage("second");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, "A096");
  EXPECT_THAT(missing.error().hint, HasSubstr("first, libraries"));
}

} // namespace
} // namespace quarry::artifact
