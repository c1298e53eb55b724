#include "trial/machine.hpp"

#include "sys/file.hpp"
#include "sys/path.hpp"
#include <fmt/core.h>
#include <gtest/gtest.h>

namespace quarry::trial {
namespace {

/// A tree like that of a machine: KFD nodes and their device files.
class GpuTargets : public ::testing::Test {
protected:
  void SetUp() override { root = *sys::make_temporary_directory(::testing::TempDir(), "machine-"); }
  void TearDown() override { EXPECT_TRUE(sys::remove_tree(root)); }
  void put(const std::string& name, const std::string& text) {
    auto place = path::join(root, name);
    ASSERT_TRUE(sys::make_directories(path::dirname(place)));
    ASSERT_TRUE(sys::write_file(place, text));
  }
  void node(int number, int version, int render) {
    put(fmt::format("sys/class/kfd/kfd/topology/nodes/{}/properties", number),
        fmt::format("cpu_cores_count 0\nsimd_count 304\ngfx_target_version {}\ndrm_render_minor {}\n", version,
                    render));
  }
  std::string root;
};

TEST_F(GpuTargets, AreThoseWhoseDevicesCanBeOpened) {
  EXPECT_EQ(gpu_targets(root), "") << "no driver";
  node(0, 0, 0); // a CPU
  node(2, 90'402, 128);
  node(10, 90'010, 129);
  node(11, 110'000, 130);
  put("dev/dri/renderD128", "");
  put("dev/dri/renderD129", "");
  EXPECT_EQ(gpu_targets(root), "") << "a container that lost /dev/kfd";
  put("dev/kfd", "");
  EXPECT_EQ(gpu_targets(root), "gfx942 gfx90a") << "renderD130 is missing";
  put("dev/dri/renderD130", "");
  EXPECT_EQ(gpu_targets(root), "gfx942 gfx90a gfx1100");
}

TEST_F(GpuTargets, JunkInTheTopologyIsNotATarget) {
  put("dev/kfd", "");
  put("sys/class/kfd/kfd/topology/nodes/1/properties", "gfx_target_version\n");
  put("sys/class/kfd/kfd/topology/nodes/x/properties", "gfx_target_version 90402\n");
  EXPECT_EQ(gpu_targets(root), "");
}

} // namespace
} // namespace quarry::trial
